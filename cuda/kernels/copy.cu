// The copy kernel and its launch. Compiled once for each device (`device.h`).
#include "copy.h"
#include "device.h"

namespace {

struct alignas(KVK_LANE_BYTES) Lane {
  uint64_t low, high;
};
static_assert(sizeof(Lane) == KVK_LANE_BYTES, "a lane is one load");

// 8 warps hide the latency of a load that nothing depends on but its store.
constexpr unsigned kThreads = 256;
// Thread blocks that share one pair: enough for a 2 MiB block to keep a large device busy, few enough that a small
// block does not start ones with nothing to do.
constexpr uint64_t kSlicesMax = 64;
// Pairs beyond this are walked by the same thread blocks.
constexpr uint32_t kRowsMax = 4096;

// x walks pairs, y walks slices of one pair.
__global__ void copy_blocks(kvk_copy_params p) {
  Lane *const pool = static_cast<Lane *>(p.pool);
  const uint64_t first = static_cast<uint64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
  const uint64_t stride = static_cast<uint64_t>(gridDim.y) * blockDim.x;
  for (uint32_t i = blockIdx.x; i < p.pair_count; i += gridDim.x) {
    const kvk_copy_pair pair = p.pairs[i];
    const Lane *const source = pool + pair.source * p.block_lanes;
    Lane *const destination = pool + pair.destination * p.block_lanes;
    for (uint64_t lane = first; lane < p.block_lanes; lane += stride) destination[lane] = source[lane];
  }
}

unsigned slices(uint64_t lanes) {
  const uint64_t wanted = lanes / kThreads + (lanes % kThreads != 0);
  return static_cast<unsigned>(wanted < kSlicesMax ? wanted : kSlicesMax);
}

}  // namespace

extern "C" uint32_t KVK_SYMBOL(copy_blocks)(const kvk_copy_params *params, void *stream) {
  if (params->pair_count == 0 || params->block_lanes == 0) return 0;  // an empty grid is an error on a GPU
  const dim3 grid(params->pair_count < kRowsMax ? params->pair_count : kRowsMax, slices(params->block_lanes));
  return KVK_LAUNCH(copy_blocks, grid, dim3(kThreads), stream, *params);
}
