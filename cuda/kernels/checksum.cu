// Sums of blocks, to tell whether a block is still what it was: after a swap, a move, or an answer that looks wrong.
//
// With k(i) = (i + 1) * 0x9E3779B97F4A7C15 modulo 2^64, the term of the word w at place i of a block is
//   w + (the lower half of w ^ k(i)) * (the upper half of w ^ k(i))
// and the sum of a block is that of its terms, modulo 2^64. A product of halves is one instruction: a sum that costs more
// arithmetic would be slower than memory. Terms are added in any order, so that every device has the same sum.
#include "blocks.h"
#include "runs.cuh"

namespace kvk {
namespace {

constexpr unsigned kSumThreads = 256;
constexpr unsigned kSumWarps = kSumThreads / 32;
// Lanes of a block that one thread block sums: 64 KiB. Larger blocks are cut, and the parts added.
constexpr uint32_t kSumLanes = kSumThreads * 16;

struct ChecksumWork {
  kvk_checksum_params p;
  uint32_t lanes;  // of a block
  uint32_t cuts;   // of a block
  uint32_t parts;  // of all blocks
};

KVK_DEVICE uint64_t term(uint32_t low, uint32_t high, uint64_t place) {
  const uint64_t word = static_cast<uint64_t>(high) << 32 | low;
  const uint64_t mixed = word ^ (place + 1) * 0x9E3779B97F4A7C15u;
  return word + static_cast<uint64_t>(static_cast<uint32_t>(mixed)) * static_cast<uint32_t>(mixed >> 32);
}

KVK_DEVICE uint64_t sum_of_lane(const lane &two, uint64_t lane_place) {
  return term(two.word[0], two.word[1], lane_place * 2) + term(two.word[2], two.word[3], lane_place * 2 + 1);
}

// This thread's lanes of first..end.
KVK_DEVICE uint64_t sum_of_lanes(const lane *from, uint32_t first, uint32_t end) {
  uint64_t sum = 0;
  for (uint32_t at = first + thread(); at < end; at += kSumThreads * kRunEach) {
    lane held[kRunEach] = {};
    KVK_UNROLL
    for (uint32_t i = 0; i < kRunEach; ++i)
      if (at + i * kSumThreads < end) held[i] = load_once(from + at + i * kSumThreads);
    KVK_UNROLL
    for (uint32_t i = 0; i < kRunEach; ++i)
      if (at + i * kSumThreads < end) sum += sum_of_lane(held[i], at + i * kSumThreads);
  }
  return sum;
}

// Over the thread block; for its first thread.
KVK_DEVICE uint64_t sum_of_threads(uint64_t sum, uint64_t *shared) {
  KVK_UNROLL
  for (unsigned mask = 16; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask);
  barrier();  // the sums of the part before have been read
  if (thread() % 32 == 0) shared[thread() / 32] = sum;
  if (!KVK_PLANT(barrier_before_sum)) barrier();
  uint64_t all = 0;
  KVK_UNROLL
  for (unsigned warp = 0; warp < kSumWarps; ++warp) all += shared[warp];
  return all;
}

KVK_KERNEL(kSumThreads) void clear_sums(ChecksumWork work) {
  for (uint32_t i = block() * kSumThreads + thread(); i < work.p.block_count; i += blocks() * kSumThreads)
    store(&work.p.sums[i], uint64_t{0});
}

KVK_KERNEL(kSumThreads) void checksum(ChecksumWork work) {
  KVK_SHARED(uint64_t, shared);
  const kvk_checksum_params &p = work.p;
  for (uint32_t part = block(); part < work.parts; part += blocks()) {
    const uint32_t number = part / work.cuts;
    const uint32_t first = (part - number * work.cuts) * kSumLanes;
    const uint32_t end = work.lanes - first < kSumLanes ? work.lanes : first + kSumLanes;
    const unsigned char *const pool = static_cast<const unsigned char *>(p.pool);
    const unsigned char *const from = block_at(pool, load(&p.blocks[number]), static_cast<int64_t>(p.block_bytes));
    const uint64_t sum = sum_of_threads(sum_of_lanes(reinterpret_cast<const lane *>(from), first, end), shared);
    if (thread() != 0) continue;
    if (work.cuts == 1) store(&p.sums[number], sum);
    else atomic_add(&p.sums[number], sum);
  }
}

// Enough to fill any GPU.
uint32_t sum_blocks(uint32_t wanted) {
  constexpr uint32_t kBlocksMax = 8192;
  return wanted < kBlocksMax ? wanted : kBlocksMax;
}

}  // namespace
}  // namespace kvk

extern "C" uint32_t KVK_SYMBOL(checksum)(const kvk_checksum_params *params, void *run) {
  using namespace kvk;
  const uint64_t lanes = params->block_bytes / KVK_LANE_BYTES;
  if (lanes > INT32_MAX) return KVK_UNSUPPORTED;
  const uint64_t cuts = lanes == 0 ? 1 : (lanes - 1) / kSumLanes + 1;
  const uint64_t parts = params->block_count * cuts;
  if (parts > INT32_MAX) return KVK_UNSUPPORTED;
  if (parts == 0) return 0;
  const ChecksumWork work = {*params, static_cast<uint32_t>(lanes), static_cast<uint32_t>(cuts),
                             static_cast<uint32_t>(parts)};
  if (cuts > 1) {
    const uint32_t blocks = sum_blocks((params->block_count - 1) / kSumThreads + 1);
    const uint32_t error = KVK_LAUNCH(clear_sums, blocks, kSumThreads, 0, run, work);
    if (error != 0) return error;
  }
  return KVK_LAUNCH(checksum, sum_blocks(work.parts), kSumThreads, kSumWarps * sizeof(uint64_t), run, work);
}
