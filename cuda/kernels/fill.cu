// Blocks become one pattern: zeros before somebody reads what was never written, NaN where nobody may read.
#include "blocks.h"
#include "runs.cuh"

namespace kvk {
namespace {

struct FillWork {
  kvk_fill_params p;
  Runs runs;  // blocks
};

KVK_KERNEL(kRunThreads) void fill(FillWork work) {
  const kvk_fill_params &p = work.p;
  const lane pattern = {{p.pattern, p.pattern, p.pattern, p.pattern}};
  each_task(work.runs, [&](uint32_t run, uint32_t first) {
    unsigned char *const pool = static_cast<unsigned char *>(p.pool);
    lane *const to = reinterpret_cast<lane *>(
        block_at(pool, load(&p.blocks[run]), static_cast<int64_t>(p.block_bytes)));
    KVK_UNROLL
    for (uint32_t i = 0; i < kRunEach; ++i) {
      const uint32_t at = first + i * work.runs.group;
      if (at < work.runs.lanes) store(to + at, pattern);
    }
  });
}

}  // namespace
}  // namespace kvk

extern "C" uint32_t KVK_SYMBOL(fill)(const kvk_fill_params *params, void *run) {
  using namespace kvk;
  FillWork work = {*params, {}};
  if (!share_out(work.runs, params->block_count, params->block_bytes / KVK_LANE_BYTES)) return KVK_UNSUPPORTED;
  if (work.runs.tasks == 0) return 0;
  return KVK_LAUNCH(fill, run_blocks(work.runs), kRunThreads, 0, run, work);
}

#ifdef __CUDACC__
// Asked of one kernel: all are compiled for the same targets.
extern "C" uint32_t kvk_cuda_fits(void) {
  cudaFuncAttributes attributes;
  return static_cast<uint32_t>(cudaFuncGetAttributes(&attributes, kvk::fill));
}
#endif
