// Kernels that break the limits of `cuda/gates.py`, which CI compiles to prove that it would see them. Never linked.
#include "../kernels/kvk.h"
#include "../kernels/device.h"

namespace kvk {
namespace {

__noinline__ __device__ uint32_t elsewhere(uint32_t word) { return word * word + 1; }

// A local array with an index that is not known: it is in local memory. Words one by one: no access of 16 bytes.
KVK_KERNEL(256) void copy_blocks(kvk_copy_params p) {
  uint32_t local[64];
  const uint32_t *from = static_cast<const uint32_t *>(p.source);
  for (unsigned i = 0; i < 64; ++i) local[from[i] % 64] = from[thread() + i];
  static_cast<uint32_t *>(p.destination)[thread()] = local[from[thread()] % 64];
}

// A call.
KVK_KERNEL(256) void fill(kvk_fill_params p) {
  static_cast<lane *>(p.pool)[thread()] = lane{{elsewhere(p.pattern), 0, 0, elsewhere(p.block_count)}};
}

// A kernel that nobody has said anything about.
KVK_KERNEL(256) void sort(kvk_fill_params p) { static_cast<uint32_t *>(p.pool)[thread()] = p.pattern; }

}  // namespace
}  // namespace kvk

uint32_t launch_all(const kvk_copy_params &copy, const kvk_fill_params &fill_params) {
  return KVK_LAUNCH(kvk::copy_blocks, 1, 256, 0, nullptr, copy) + KVK_LAUNCH(kvk::fill, 1, 256, 0, nullptr, fill_params) +
         KVK_LAUNCH(kvk::sort, 1, 256, 0, nullptr, fill_params);
}
