// Every error is a value with the place of its cause, in every order, and leaves a device that works.
#include "check.h"

namespace {

struct Params {
  uint32_t *words;  // one for each thread of the grid
  uint32_t block;   // that does it wrong
  uint32_t thread;
};

// The one thread that does it wrong, before and after others have run.
KVK_DEVICE bool culprit(const Params &p) { return kvk::block() == p.block && kvk::thread() == p.thread; }

KVK_KERNEL(128) void fine(Params p) {
  kvk::barrier();
  const uint32_t sum = kvk::shuffle_xor(kvk::thread(), 1) + kvk::thread();
  kvk::store(&p.words[kvk::block() * kvk::threads() + kvk::thread()], sum);
  kvk::barrier();
}
KVK_KERNEL(128) void skips_a_barrier(Params p) {
  if (!culprit(p)) kvk::barrier();
}
KVK_KERNEL(128) void skips_a_warp(Params p) {
  if (!culprit(p)) kvk::barrier_warp();
}
KVK_KERNEL(128) void barrier_and_warp_crossed(Params p) {
  if (culprit(p)) {
    kvk::barrier_warp();
    kvk::barrier();
  } else {
    kvk::barrier();
    kvk::barrier_warp();
  }
}
KVK_KERNEL(128) void another_operation(Params p) {
  if (culprit(p)) {
    kvk::ballot(true);
  } else {
    kvk::shuffle(1u, 0);
  }
}
KVK_KERNEL(128) void leaves_copies(Params p) {
  KVK_SHARED(kvk::lane, shared);
  kvk::copy_async<16>(&shared[kvk::thread()], nullptr, false);
  kvk::commit();
  if (!culprit(p)) kvk::wait<0>();
}
KVK_KERNEL(128) void leaves_copies_open(Params p) {
  KVK_SHARED(kvk::lane, shared);
  kvk::copy_async<16>(&shared[kvk::thread()], nullptr, false);
  if (!culprit(p)) kvk::commit();
  kvk::wait<0>();
}
KVK_KERNEL(128) void loads_between(Params p) {
  const unsigned char *bytes = reinterpret_cast<const unsigned char *>(p.words);
  kvk::load(reinterpret_cast<const uint32_t *>(bytes + culprit(p)));
}
KVK_KERNEL(128) void stores_between(Params p) {
  unsigned char *bytes = reinterpret_cast<unsigned char *>(p.words);
  if (culprit(p)) kvk::store(reinterpret_cast<kvk::lane *>(bytes + 8), kvk::lane{});
}
KVK_KERNEL(128) void adds_between(Params p) {
  if (culprit(p)) kvk::atomic_min(reinterpret_cast<uint64_t *>(p.words + 1), uint64_t{1});
}
KVK_KERNEL(128) void copies_to_between(Params p) {
  KVK_SHARED(unsigned char, shared);
  kvk::copy_async<16>(shared + 16 * kvk::thread() + 4 * culprit(p), nullptr, false);
  kvk::commit();
  kvk::wait<0>();
}
KVK_KERNEL(128) void copies_from_between(Params p) {
  KVK_SHARED(kvk::lane, shared);
  kvk::copy_async<16>(&shared[kvk::thread()], p.words + culprit(p), true);
  kvk::commit();
  kvk::wait<0>();
}
KVK_KERNEL(128) void row_between(Params p) {
  KVK_SHARED(unsigned char, shared);
  uint32_t r[4];
  kvk::load_matrix(r, shared + 2 * culprit(p));
}
KVK_KERNEL(128) void copies_behind(Params p) {
  KVK_SHARED(kvk::lane, shared);
  kvk::copy_async<16>(&shared[culprit(p) ? 128 : kvk::thread()], nullptr, false);
  kvk::commit();
  kvk::wait<0>();
}
KVK_KERNEL(128) void row_behind(Params p) {
  KVK_SHARED(kvk::lane, shared);
  uint32_t r[4];
  kvk::load_matrix_transposed(r, culprit(p) ? shared + 128 : shared);
}

struct Case {
  const char *name;
  void (*kernel)(Params);
  uint32_t error;
  bool blames;  // the thread that does it wrong; of a deadlock, the first that waits
};
const Case kCases[] = {
    {"a barrier that one thread skips", skips_a_barrier, KVK_CPU_DEADLOCK, false},
    {"a barrier of a warp that one lane skips", skips_a_warp, KVK_CPU_DEADLOCK, false},
    {"barriers in two orders", barrier_and_warp_crossed, KVK_CPU_DEADLOCK, false},
    {"another operation in one lane", another_operation, KVK_CPU_DIVERGED, false},
    {"copies that are not waited for", leaves_copies, KVK_CPU_IN_FLIGHT, true},
    {"copies in no group", leaves_copies_open, KVK_CPU_IN_FLIGHT, true},
    {"a load between words", loads_between, KVK_CPU_MISALIGNED, true},
    {"a store between lanes", stores_between, KVK_CPU_MISALIGNED, true},
    {"an atomic between words", adds_between, KVK_CPU_MISALIGNED, true},
    {"a copy to between lanes", copies_to_between, KVK_CPU_MISALIGNED, true},
    {"a copy from between lanes", copies_from_between, KVK_CPU_MISALIGNED, true},
    {"a row between lanes", row_between, KVK_CPU_MISALIGNED, true},
    {"a copy behind shared memory", copies_behind, KVK_CPU_OUTSIDE, true},
    {"a row behind shared memory", row_behind, KVK_CPU_OUTSIDE, true},
};

constexpr uint32_t kBlocks = 3, kThreads = 128;
constexpr uint32_t kShared = kThreads * 16;
constexpr uint32_t kCulprits[] = {0, 45, 127};
alignas(16) uint32_t words[kBlocks * kThreads];

void works(const Schedule &schedule) {
  for (uint32_t &word : words) word = 0;
  kvk_run run = run_of(schedule);
  const Params p{words, 0, 0};
  CHECK_EQUAL(KVK_LAUNCH(fine, kBlocks, kThreads, kShared, &run, p), 0);
  for (uint32_t i = 0; i < kBlocks * kThreads; i++) CHECK_EQUAL(words[i], 2 * (i % kThreads & ~1u) + 1);
}

void every_error(const Schedule &schedule) {
  for (const Case &the : kCases) {
    for (uint32_t thread : kCulprits) {
      kvk_run run = run_of(schedule);
      const Params p{words, 1, thread};
      const uint32_t error = KVK_LAUNCH(the.kernel, kBlocks, kThreads, kShared, &run, p);
      if (error != the.error) printf("%s, %s: ", the.name, schedule.name);
      CHECK_EQUAL(error, the.error);
      CHECK_EQUAL(run.block, 1);
      if (the.blames) CHECK_EQUAL(run.thread, thread);
      CHECK(kvk_cpu_error(error) != nullptr);
      // Nobody waits in a thread that has passed by.
      if (the.error == KVK_CPU_DEADLOCK) CHECK(run.thread < kThreads && (run.thread != thread || the.kernel == barrier_and_warp_crossed));
    }
    works(schedule);
  }
}

void shapes() {
  const Params p{words, 0, 0};
  const struct {
    uint32_t blocks, threads, shared, error;
  } shapes[] = {{0, 128, 0, KVK_CPU_SHAPE},  {1, 0, 0, KVK_CPU_SHAPE},     {1, 33, 0, KVK_CPU_SHAPE},
                {1, 1056, 0, KVK_CPU_SHAPE}, {1, 32, 227 * 1024 + 1, KVK_CPU_SHAPE}, {1, 32, 227 * 1024, 0},
                {1, 1024, 0, 0}};
  static uint32_t room[1024];
  Params q = p;
  q.words = room;
  for (const auto &shape : shapes) {
    CHECK_EQUAL(KVK_LAUNCH(fine, shape.blocks, shape.threads, shape.shared, nullptr, q), shape.error);
  }
}

}  // namespace

int main() {
  for (const Schedule &schedule : kSchedules) {
    works(schedule);
    every_error(schedule);
  }
  shapes();
  CHECK(kvk_cpu_error(0) == nullptr);
  CHECK(kvk_cpu_error(KVK_CPU_MEMORY) != nullptr);
  return checked();
}
