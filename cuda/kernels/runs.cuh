// Runs of bytes that are worked on by groups of threads: a few long ones fill a GPU, and so do many short ones.
#ifndef KVK_RUNS_CUH
#define KVK_RUNS_CUH

#include "device.h"
#include "types.h"

namespace kvk {

constexpr unsigned kRunThreads = 256;
// Lanes that a thread has in flight at once: 8 thread blocks of these hide the latency of any memory.
constexpr unsigned kRunEach = 4;

static_assert(sizeof(lane) == KVK_LANE_BYTES, "runs are counted in lanes");

// How so many runs of so many lanes are shared out: each is cut into tasks, and a task is one group's.
struct Runs {
  uint32_t lanes;  // of a run
  uint32_t group;  // threads, a power of two
  uint32_t cuts;   // tasks of a run
  uint32_t tasks;  // of all of them
};

// A group is no larger than a run, and as large as a thread block if that still gives each thread its lanes. False:
// there are too many to be counted in 31 bits, which is what threads can walk without 64-bit divisions.
inline bool share_out(Runs &runs, uint64_t count, uint64_t lanes) {
  constexpr uint64_t kMost = INT32_MAX;
  constexpr uint32_t kWarp = 32;
  if (lanes > kMost || count > kMost) return false;
  uint32_t group = 1;
  while (group < kWarp && group < lanes) group *= 2;
  while (group < kRunThreads && group * kRunEach < lanes) group *= 2;
  const uint64_t task = group * kRunEach;
  const uint64_t cuts = (lanes + task - 1) / task;
  if (count * cuts > kMost) return false;
  runs = {static_cast<uint32_t>(lanes), group, static_cast<uint32_t>(cuts), static_cast<uint32_t>(count * cuts)};
  return true;
}

// Enough to fill any GPU; they walk the rest.
inline uint32_t run_blocks(const Runs &runs) {
  constexpr uint32_t kBlocksMax = 8192;
  const uint32_t groups = kRunThreads / runs.group;
  const uint32_t wanted = (runs.tasks - 1) / groups + 1;
  return wanted < kBlocksMax ? wanted : kBlocksMax;
}

// Calls `work(run, first)` for each task of this thread's group: its lanes are `first`, and each `group` further, as many
// as kRunEach and as there are in the run.
template <class Work>
KVK_DEVICE void each_task(const Runs &runs, const Work &work) {
  const uint32_t index = block() * kRunThreads + thread();
  const uint32_t member = index & (runs.group - 1);
  const uint32_t step = blocks() * kRunThreads / runs.group;
  for (uint32_t task = index / runs.group; task < runs.tasks; task += step) {
    const uint32_t run = task / runs.cuts;
    work(run, (task - run * runs.cuts) * runs.group * kRunEach + member);
  }
}

// Where a block begins in a pool.
template <class Byte>
KVK_DEVICE Byte *block_at(Byte *pool, uint32_t block, int64_t stride) {
  int64_t offset = static_cast<int64_t>(block) * stride;
  if (KVK_PLANT(offset_32_bits)) offset &= INT32_MAX;
  return pool + offset;
}

}  // namespace kvk

#endif
