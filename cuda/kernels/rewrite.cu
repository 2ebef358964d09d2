// Ids in block tables become where those blocks are now: what follows the moves of a compaction.
#include "blocks.h"
#include "report.cuh"

namespace kvk {
namespace {

constexpr unsigned kRewriteThreads = 256;

KVK_DEVICE void rewrite_entry(const kvk_rewrite_params &p, uint32_t row, uint32_t column) {
  uint32_t *const entry = p.entries + row * p.row_stride + column;
  const uint32_t id = load(entry);
  if (id > p.blocks) {
    report(p.status, KVK_FAULT_BLOCK, row, column);
    return;
  }
  const uint32_t now = load(&p.moved[id]);
  if (now != id) store(entry, now);
}

KVK_KERNEL(kRewriteThreads) void rewrite(kvk_rewrite_params p) {
  const uint32_t entries = p.rows * p.columns;
  for (uint32_t i = block() * kRewriteThreads + thread(); i < entries; i += blocks() * kRewriteThreads) {
    const uint32_t row = i / p.columns;
    rewrite_entry(p, row, i - row * p.columns);
  }
}

}  // namespace
}  // namespace kvk

extern "C" uint32_t KVK_SYMBOL(rewrite)(const kvk_rewrite_params *params, void *run) {
  using namespace kvk;
  constexpr uint64_t kBlocksMax = 4096;
  const uint64_t entries = static_cast<uint64_t>(params->rows) * params->columns;
  if (entries > INT32_MAX) return KVK_UNSUPPORTED;
  if (entries == 0) return 0;
  const uint64_t wanted = (entries - 1) / kRewriteThreads + 1;
  const uint32_t blocks = static_cast<uint32_t>(wanted < kBlocksMax ? wanted : kBlocksMax);
  return KVK_LAUNCH(rewrite, blocks, kRewriteThreads, 0, run, *params);
}
