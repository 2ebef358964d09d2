// Kernels with and without what orders their memory, one by name: under ThreadSanitizer those of the second half must
// be reports, and the others none.
#include <string.h>

#include "check.h"

namespace {

struct Params {
  uint32_t *words;
};

constexpr uint32_t kBlocks = 2, kThreads = 128;

// Every thread reads what its neighbour has written.
template <void (*order)()>
KVK_KERNEL(kThreads) void pass_on(Params p) {
  KVK_SHARED(uint32_t, shared);
  shared[kvk::thread()] = kvk::thread();
  order();
  const uint32_t read = shared[(kvk::thread() + 1) % kvk::threads()];
  kvk::barrier();
  shared[kvk::thread()] = read;
  kvk::store(&p.words[kvk::block() * kvk::threads() + kvk::thread()], read);
}
template <void (*order)()>
KVK_KERNEL(kThreads) void pass_on_in_warp(Params p) {
  KVK_SHARED(uint32_t, shared);
  shared[kvk::thread()] = kvk::thread();
  order();
  kvk::store(&p.words[kvk::block() * kvk::threads() + kvk::thread()], shared[kvk::thread() ^ 1]);
}
void nothing() {}
void shuffles() { kvk::shuffle(0u, 0); }

// Three turns of writing and reading: the barrier after the reads is as much needed as the one before.
template <void (*order)()>
KVK_KERNEL(kThreads) void turns(Params p) {
  KVK_SHARED(uint32_t, shared);
  uint32_t sum = 0;
  for (uint32_t turn = 0; turn < 3; turn++) {
    shared[kvk::thread()] = turn;
    kvk::barrier();
    sum += shared[(kvk::thread() + 40) % kvk::threads()];
    order();
  }
  kvk::store(&p.words[kvk::block() * kvk::threads() + kvk::thread()], sum);
}

template <void (*order)()>
KVK_KERNEL(kThreads) void turns_of_warps(Params p) {
  KVK_SHARED(uint32_t, shared);
  uint32_t sum = 0;
  for (uint32_t turn = 0; turn < 3; turn++) {
    shared[kvk::thread()] = turn;
    kvk::barrier_warp();
    sum += shared[kvk::thread() ^ 5];
    order();
  }
  kvk::store(&p.words[kvk::block() * kvk::threads() + kvk::thread()], sum);
}

template <void (*order)()>
KVK_KERNEL(kThreads) void copied(Params p) {
  KVK_SHARED(kvk::lane, shared);
  kvk::copy_async<16>(&shared[kvk::thread()], nullptr, false);
  kvk::commit();
  kvk::wait<0>();
  order();
  kvk::store(&p.words[kvk::block() * kvk::threads() + kvk::thread()], shared[(kvk::thread() + 1) % kvk::threads()].word[0]);
}
// The reads of matrices are over before what is read is copied to anew.
template <void (*order)()>
KVK_KERNEL(kThreads) void copied_over(Params p) {
  KVK_SHARED(kvk::lane, shared);
  shared[kvk::thread()] = kvk::lane{};
  kvk::barrier();
  uint32_t r[4];
  kvk::load_matrix(r, &shared[(kvk::thread() + 32) % kvk::threads()]);
  order();
  kvk::copy_async<16>(&shared[kvk::thread()], nullptr, false);
  kvk::commit();
  kvk::wait<0>();
  kvk::store(&p.words[kvk::block() * kvk::threads() + kvk::thread()], r[0]);
}
// A copy is written to when it is issued, and again when it lands: what is between two barriers is only the one.
template <void (*order)()>
KVK_KERNEL(kThreads) void issued(Params p) {
  KVK_SHARED(kvk::lane, shared);
  shared[kvk::thread()] = kvk::lane{};
  kvk::barrier();
  const uint32_t read = shared[(kvk::thread() + 32) % kvk::threads()].word[0];
  order();
  kvk::copy_async<16>(&shared[kvk::thread()], nullptr, false);
  kvk::commit();
  kvk::barrier();
  kvk::wait<0>();
  kvk::store(&p.words[kvk::block() * kvk::threads() + kvk::thread()], read);
}
template <void (*order)()>
KVK_KERNEL(kThreads) void landed(Params p) {
  KVK_SHARED(kvk::lane, shared);
  kvk::copy_async<16>(&shared[kvk::thread()], nullptr, false);
  kvk::commit();
  kvk::barrier();
  const uint32_t read = shared[(kvk::thread() + 32) % kvk::threads()].word[0];
  order();
  kvk::wait<0>();
  kvk::store(&p.words[kvk::block() * kvk::threads() + kvk::thread()], read);
}
KVK_KERNEL(kThreads) void own_words(Params p) {
  kvk::lane *const lanes = reinterpret_cast<kvk::lane *>(p.words);
  const uint32_t i = kvk::block() * kvk::threads() / 4 + kvk::thread() / 4;
  if (kvk::thread() % 4 == 0) kvk::store(&lanes[i], kvk::load(&lanes[i]));
  kvk::atomic_or(&p.words[kBlocks * kThreads], 1);
  kvk::atomic_min(reinterpret_cast<uint64_t *>(&p.words[kBlocks * kThreads + 2]), uint64_t{1});
}
KVK_KERNEL(kThreads) void word_of_all_blocks(Params p) {
  if (kvk::thread() == 0) kvk::store(&p.words[0], kvk::block());
}
KVK_KERNEL(kThreads) void lane_of_all_blocks(Params p) {
  if (kvk::thread() == 0) kvk::store(reinterpret_cast<kvk::lane *>(p.words), kvk::lane{});
}
KVK_KERNEL(kThreads) void next_block(Params p) {
  uint32_t *const own = &p.words[kvk::block() * kvk::threads() + kvk::thread()];
  kvk::store(own, kvk::load(&p.words[(kvk::block() + 1) % kvk::blocks() * kvk::threads() + kvk::thread()]));
}

const struct {
  const char *name;
  void (*kernel)(Params);
} kKernels[] = {
    {"ordered-block", pass_on<kvk::barrier>},
    {"ordered-warp", pass_on_in_warp<kvk::barrier_warp>},
    {"ordered-turns", turns<kvk::barrier>},
    {"ordered-warp-turns", turns_of_warps<kvk::barrier_warp>},
    {"ordered-copies", copied<kvk::barrier>},
    {"ordered-copies-over", copied_over<kvk::barrier>},
    {"ordered-issue", issued<kvk::barrier>},
    {"ordered-landing", landed<kvk::barrier>},
    {"ordered-own-words", own_words},
    {"race-block", pass_on<nothing>},
    {"race-block-with-warp", pass_on<kvk::barrier_warp>},
    {"race-warp", pass_on_in_warp<nothing>},
    {"race-warp-with-shuffle", pass_on_in_warp<shuffles>},
    {"race-turns", turns<nothing>},
    {"race-turns-with-warp", turns<kvk::barrier_warp>},
    {"race-warp-turns", turns_of_warps<nothing>},
    {"race-warp-turns-with-shuffle", turns_of_warps<shuffles>},
    {"race-copies", copied<nothing>},
    {"race-copies-over", copied_over<nothing>},
    {"race-issue", issued<nothing>},
    {"race-landing", landed<nothing>},
    {"race-blocks-word", word_of_all_blocks},
    {"race-blocks-lane", lane_of_all_blocks},
    {"race-next-block", next_block},
};

alignas(16) uint32_t words[kBlocks * kThreads + 4];

}  // namespace

// Without arguments: the names. Else the kernel of that name, twice, and around it what the host does with its memory.
int main(int argc, char **argv) {
  for (const auto &the : kKernels) {
    if (argc < 2) printf("%s\n", the.name);
    if (argc < 2 || strcmp(argv[1], the.name) != 0) continue;
    kvk_run run = run_of(kSchedules[argc < 3 ? 0 : static_cast<unsigned>(argv[2][0] - '0') % 5]);
    for (unsigned launch = 0; launch < 2; launch++) {
      memset(words, 0, sizeof words);
      CHECK_EQUAL(KVK_LAUNCH(the.kernel, kBlocks, kThreads, kThreads * 16, &run, Params{words}), 0);
      uint64_t sum = 0;
      for (const uint32_t word : words) sum += word;
      CHECK(sum < ~uint64_t{0});
    }
    return checked();
  }
  return argc < 2 ? 0 : 2;
}
