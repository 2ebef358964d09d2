// The orders in which blocks, warps and threads run, barriers in each of them, and what is counted.
#include <string.h>

#include "check.h"

namespace {

constexpr uint32_t kBlocks = 5, kThreads = 128, kAll = kBlocks * kThreads;

struct Log {
  uint32_t *next;
  uint32_t *order;  // [all]
};

KVK_KERNEL(kThreads) void log_once(Log p) { p.order[(*p.next)++] = kvk::block() * kThreads + kvk::thread(); }

struct Trace {
  uint32_t order[kAll];
};

Trace trace_of(uint32_t order, uint64_t seed) {
  Trace trace;
  uint32_t next = 0;
  kvk_run run{};
  run.order = order;
  run.seed = seed;
  CHECK_EQUAL(KVK_LAUNCH(log_once, kBlocks, kThreads, 0, &run, (Log{&next, trace.order})), 0);
  CHECK_EQUAL(next, kAll);
  bool seen[kAll] = {};
  for (const uint32_t thread : trace.order) {
    CHECK(thread < kAll && !seen[thread]);
    seen[thread] = true;
  }
  return trace;
}

bool same(const Trace &a, const Trace &b) { return memcmp(&a, &b, sizeof a) == 0; }

void orders() {
  const Trace ascending = trace_of(0, 1), descending = trace_of(1, 2);
  for (uint32_t i = 0; i < kAll; i++) {
    CHECK_EQUAL(ascending.order[i], i);
    CHECK_EQUAL(descending.order[i], kAll - 1 - i);
  }
  const Trace random = trace_of(2, 3);
  CHECK(same(random, trace_of(2, 3)));
  CHECK(same(random, trace_of(7, 3)));
  CHECK(!same(random, trace_of(2, 4)));
  CHECK(!same(random, ascending));
  // Blocks run one after the other, in whichever order; and not always the same one is first.
  uint32_t first_blocks = 0, first_threads = 0;
  for (uint64_t seed = 0; seed < 32; seed++) {
    const Trace trace = trace_of(2, seed);
    for (uint32_t i = 0; i < kAll; i++) CHECK_EQUAL(trace.order[i] / kThreads, trace.order[i / kThreads * kThreads] / kThreads);
    first_blocks |= 1u << trace.order[0] / kThreads;
    first_threads |= 1u << trace.order[0] % 32;
  }
  CHECK_EQUAL(first_blocks, (1u << kBlocks) - 1);
  CHECK(__builtin_popcount(first_threads) > 8);
}

struct Turns {
  uint32_t *sums;  // [all]
};
constexpr uint32_t kTurns = 7;

// All have added before anybody reads, and read before anybody adds again.
KVK_KERNEL(kThreads) void turns(Turns p) {
  KVK_SHARED(uint32_t, shared);
  uint32_t sum = 0;
  for (uint32_t turn = 0; turn < kTurns; turn++) {
    shared[kvk::thread()] = turn * 1000 + kvk::thread();
    kvk::barrier();
    for (uint32_t i = 0; i < kThreads; i++) sum += shared[i];
    kvk::barrier();
  }
  kvk::store(&p.sums[kvk::block() * kThreads + kvk::thread()], sum);
}
KVK_KERNEL(kThreads) void turns_of_warps(Turns p) {
  KVK_SHARED(uint32_t, shared);
  uint32_t sum = 0;
  const uint32_t first = kvk::thread() / 32 * 32;
  for (uint32_t turn = 0; turn < kTurns; turn++) {
    shared[kvk::thread()] = turn * 1000 + kvk::thread() % 32;
    kvk::barrier_warp();
    for (uint32_t i = 0; i < 32; i++) sum += shared[first + i];
    kvk::barrier_warp();
  }
  kvk::store(&p.sums[kvk::block() * kThreads + kvk::thread()], sum);
}
// Without the second barrier the first warp to come is a turn ahead.
KVK_KERNEL(kThreads) void turns_too_early(Turns p) {
  KVK_SHARED(uint32_t, shared);
  uint32_t sum = 0;
  for (uint32_t turn = 0; turn < kTurns; turn++) {
    shared[kvk::thread()] = turn * 1000 + kvk::thread();
    kvk::barrier();
    for (uint32_t i = 0; i < kThreads; i++) sum += shared[i];
  }
  kvk::store(&p.sums[kvk::block() * kThreads + kvk::thread()], sum);
}

uint32_t sum_of(uint32_t threads) {
  uint32_t sum = 0;
  for (uint32_t turn = 0; turn < kTurns; turn++) {
    for (uint32_t i = 0; i < threads; i++) sum += turn * 1000 + i;
  }
  return sum;
}

void barriers(const Schedule &schedule) {
  uint32_t sums[kAll];
  kvk_counters counters{};
  kvk_run run = run_of(schedule, &counters);
  CHECK_EQUAL(KVK_LAUNCH(turns, kBlocks, kThreads, kThreads * 4, &run, Turns{sums}), 0);
  for (const uint32_t sum : sums) CHECK_EQUAL(sum, sum_of(kThreads));
  CHECK_EQUAL(counters.launches, 1);
  CHECK_EQUAL(counters.blocks, kBlocks);
  CHECK_EQUAL(counters.threads, kAll);
  CHECK_EQUAL(counters.barriers, kAll * kTurns * 2);
  CHECK_EQUAL(counters.collectives, 0);
  CHECK_EQUAL(counters.stored_bytes, kAll * 4);
  CHECK_EQUAL(counters.loaded_bytes, 0);
  CHECK_EQUAL(counters.shared_bytes, kThreads * 4);
  // All but one of a block wait at each barrier; and each thread starts.
  CHECK_EQUAL(counters.switches, kBlocks * ((kThreads - 1) * kTurns * 2 + kThreads));

  CHECK_EQUAL(KVK_LAUNCH(turns_of_warps, kBlocks, kThreads, 2048, &run, Turns{sums}), 0);
  for (const uint32_t sum : sums) CHECK_EQUAL(sum, sum_of(32));
  CHECK_EQUAL(counters.launches, 2);
  CHECK_EQUAL(counters.collectives, kAll * kTurns * 2);
  CHECK_EQUAL(counters.shared_bytes, 2048);

  CHECK_EQUAL(KVK_LAUNCH(turns_too_early, kBlocks, kThreads, kThreads * 4, &run, Turns{sums}), 0);
  uint32_t wrong = 0;
  for (const uint32_t sum : sums) wrong += sum != sum_of(kThreads);
  CHECK(wrong != 0);
}

struct Bytes {
  kvk::lane *lanes;
  uint64_t *words;
};
KVK_KERNEL(32) void bytes(Bytes p) {
  const kvk::lane lane = kvk::load_once(&p.lanes[kvk::thread()]);
  kvk::store(&p.lanes[kvk::thread()], lane);
  kvk::store(&p.words[kvk::thread()], kvk::load(&p.words[kvk::thread()]) + lane.word[0]);
}

void traffic() {
  static kvk::lane lanes[32];
  static uint64_t words[32];
  kvk_counters counters{};
  kvk_run run = run_of(kSchedules[0], &counters);
  CHECK_EQUAL(KVK_LAUNCH(bytes, 1, 32, 0, &run, (Bytes{lanes, words})), 0);
  CHECK_EQUAL(counters.loaded_bytes, 32 * (16 + 8));
  CHECK_EQUAL(counters.stored_bytes, 32 * (16 + 8));
  CHECK_EQUAL(KVK_LAUNCH(bytes, 1, 32, 0, nullptr, (Bytes{lanes, words})), 0);
}

struct Marks {
  uint32_t *faults;
  uint64_t *first;
};
KVK_KERNEL(kThreads) void marks(Marks p) {
  kvk::atomic_or(p.faults, 1u << kvk::thread() % 32);
  kvk::atomic_min(p.first, uint64_t{1000} - kvk::block() * kThreads - kvk::thread());
}

void atomics(const Schedule &schedule) {
  uint32_t faults = 0;
  uint64_t first = ~uint64_t{0};
  kvk_run run = run_of(schedule);
  CHECK_EQUAL(KVK_LAUNCH(marks, kBlocks, kThreads, 0, &run, (Marks{&faults, &first})), 0);
  CHECK_EQUAL(faults, ~0u);
  CHECK_EQUAL(first, 1001 - kAll);
}

}  // namespace

int main() {
  orders();
  traffic();
  for (const Schedule &schedule : kSchedules) {
    barriers(schedule);
    atomics(schedule);
  }
  return checked();
}
