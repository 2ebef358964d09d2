// Blocks to blocks: copy-on-write, compaction, and swaps of pieces that are too small for a copy engine.
#include "blocks.h"
#include "runs.cuh"

namespace kvk {
namespace {

// Parameters, and what the host works out once.
struct CopyWork {
  kvk_copy_params p;
  Runs runs;            // pieces of all pairs
  uint32_t token_lanes;
};

// All loads are on their way before the first store waits for one.
KVK_DEVICE void copy_lanes(lane *to, const lane *from, uint32_t first, uint32_t end, uint32_t step) {
  lane held[kRunEach];
  KVK_UNROLL
  for (uint32_t i = 0; i < kRunEach; ++i)
    if (first + i * step < end) held[i] = load_once(from + first + i * step);
  KVK_UNROLL
  for (uint32_t i = 0; i < kRunEach; ++i)
    if (first + i * step < end) store(to + first + i * step, held[i]);
}

KVK_KERNEL(kRunThreads) void copy_blocks(CopyWork work) {
  const kvk_copy_params &p = work.p;
  const kvk_shape &from = p.source_shape, &to = p.destination_shape;
  each_task(work.runs, [&](uint32_t run, uint32_t first) {
    const uint32_t number = run / from.pieces;
    const int64_t piece = run - number * from.pieces;
    const kvk_copy_pair pair = load(&p.pairs[number]);
    const bool whole = pair.tokens >= from.block_tokens || KVK_PLANT(whole_blocks);
    const uint32_t end = whole ? work.runs.lanes : pair.tokens * work.token_lanes;
    const unsigned char *const source = static_cast<const unsigned char *>(p.source);
    unsigned char *const destination = static_cast<unsigned char *>(p.destination);
    copy_lanes(reinterpret_cast<lane *>(block_at(destination, pair.destination, to.block_stride) + piece * to.piece_stride),
               reinterpret_cast<const lane *>(block_at(source, pair.source, from.block_stride) + piece * from.piece_stride),
               first, end, work.runs.group);
  });
}

}  // namespace
}  // namespace kvk

extern "C" uint32_t KVK_SYMBOL(copy_blocks)(const kvk_copy_params *params, void *run) {
  using namespace kvk;
  const kvk_shape &shape = params->source_shape;
  const uint64_t token_lanes = shape.token_bytes / KVK_LANE_BYTES;
  CopyWork work = {*params, {}, static_cast<uint32_t>(token_lanes)};
  const uint64_t pieces = static_cast<uint64_t>(params->pair_count) * shape.pieces;
  if (!share_out(work.runs, pieces, token_lanes * shape.block_tokens)) return KVK_UNSUPPORTED;
  if (work.runs.tasks == 0) return 0;  // an empty grid is an error on a GPU
  return KVK_LAUNCH(copy_blocks, run_blocks(work.runs), kRunThreads, 0, run, work);
}
