// Asynchronous copies: what is copied is there after the wait that covers it, and not before.
#include <string.h>

#include "check.h"

namespace {

constexpr uint32_t kThreads = 64, kGroups = 3;
constexpr uint32_t kPoison = 0xFFFFFFFF;

struct Params {
  kvk::lane *from;  // [groups][threads], changed by the kernel
  kvk::lane *seen;  // [steps][groups][threads]
};

KVK_DEVICE void look(const Params &p, const kvk::lane *shared, uint32_t step) {
  for (uint32_t group = 0; group < kGroups; group++) {
    const uint32_t i = group * kThreads + kvk::thread();
    p.seen[step * kGroups * kThreads + i] = shared[i];
  }
}

KVK_KERNEL(kThreads) void groups(Params p) {
  KVK_SHARED(kvk::lane, shared);
  for (uint32_t group = 0; group < kGroups; group++) {
    const uint32_t i = group * kThreads + kvk::thread();
    shared[i] = kvk::lane{};
    kvk::copy_async<16>(&shared[i], &p.from[i], kvk::thread() % 3 != 0);
    if (group != kGroups - 1) kvk::commit();
  }
  look(p, shared, 0);
  kvk::wait<2>();
  look(p, shared, 1);
  kvk::wait<1>();
  look(p, shared, 2);
  kvk::wait<0>();
  look(p, shared, 3);
  kvk::commit();
  p.from[2 * kThreads + kvk::thread()].word[0] += 1000;  // is read by the wait
  kvk::wait<0>();
  look(p, shared, 4);
}

// How many groups have landed at each look.
constexpr uint32_t kLanded[] = {0, 0, 1, 2, 3};
constexpr uint32_t kSteps = sizeof kLanded / sizeof *kLanded;

kvk::lane from[kGroups * kThreads], seen[kSteps * kGroups * kThreads];

void groups_land_in_order(const Schedule &schedule) {
  for (uint32_t i = 0; i < kGroups * kThreads; i++) {
    for (uint32_t word = 0; word < 4; word++) from[i].word[word] = i * 4 + word;
  }
  kvk_counters counters{};
  kvk_run run = run_of(schedule, &counters);
  CHECK_EQUAL(KVK_LAUNCH(groups, 1, kThreads, sizeof from, &run, (Params{from, seen})), 0);
  for (uint32_t step = 0; step < kSteps; step++) {
    for (uint32_t i = 0; i < kGroups * kThreads; i++) {
      const bool valid = i % kThreads % 3 != 0;
      for (uint32_t word = 0; word < 4; word++) {
        uint32_t wanted = kPoison;
        if (i / kThreads < kLanded[step]) wanted = valid ? i * 4 + word + (i >= 2 * kThreads && word == 0 ? 1000 : 0) : 0;
        CHECK_EQUAL(seen[step * kGroups * kThreads + i].word[word], wanted);
      }
    }
  }
  CHECK_EQUAL(counters.loaded_bytes, 16 * kGroups * (kThreads - 22));
}

struct Many {
  const kvk::lane *from;
  uint32_t *wrong;
};
// More in flight than a thread ever has, over several blocks: the list grows, and is empty for the next one.
KVK_KERNEL(kThreads) void many(Many p) {
  KVK_SHARED(kvk::lane, shared);
  constexpr uint32_t kEach = 200;
  kvk::lane *const own = shared + kvk::thread() * kEach;
  for (uint32_t i = 0; i < kEach; i++) kvk::copy_async<16>(own + i, p.from + (kvk::thread() + i) % kThreads, true);
  kvk::commit();
  kvk::wait<0>();
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < kEach; i++) wrong += own[i].word[1] != (kvk::thread() + i) % kThreads * 4 + 1;
  if (wrong != 0) kvk::atomic_or(p.wrong, wrong);
}

// Shared memory of every block begins as NaN.
KVK_KERNEL(kThreads) void poisoned(Many p) {
  KVK_SHARED(uint32_t, shared);
  for (uint32_t i = kvk::thread(); i < 1024; i += kThreads) {
    if (shared[i] != kPoison) kvk::atomic_or(p.wrong, 1);
    shared[i] = i;
  }
  if (reinterpret_cast<uintptr_t>(shared) % 1024 != 0) kvk::atomic_or(p.wrong, 2);
}

}  // namespace

int main() {
  for (const Schedule &schedule : kSchedules) {
    groups_land_in_order(schedule);
    for (uint32_t i = 0; i < kThreads; i++) from[i].word[1] = i * 4 + 1;
    uint32_t wrong = 0;
    kvk_run run = run_of(schedule);
    CHECK_EQUAL(KVK_LAUNCH(many, 5, kThreads, kThreads * 200 * 16, &run, (Many{from, &wrong})), 0);
    CHECK_EQUAL(wrong, 0);
    CHECK_EQUAL(KVK_LAUNCH(poisoned, 3, kThreads, 4096, &run, (Many{from, &wrong})), 0);
    CHECK_EQUAL(wrong, 0);
  }
  return checked();
}
