// Launches: a grid of thread blocks, one after the other, on the OS thread that calls.
#ifndef KVK_CPU_LAUNCH_H
#define KVK_CPU_LAUNCH_H

#include <stdint.h>

namespace kvk {
namespace cpu {

struct Grid {
  uint32_t blocks;
  uint32_t threads;
  uint32_t shared_bytes;
};

// Calls `run(kernel)` as each thread of the grid. `kvk_run` is what kvk_cpu_* are given, or null. Returns 0 or KVK_CPU_*.
uint32_t run_grid(const Grid &grid, void (*run)(const void *kernel), const void *kernel, void *kvk_run);

}  // namespace cpu

template <class Params>
uint32_t launch(void (*kernel)(Params), uint32_t blocks, uint32_t threads, uint32_t shared, void *run,
                const Params &params) {
  struct Call {
    void (*kernel)(Params);
    const Params &params;
  };
  const Call call{kernel, params};
  const auto each = [](const void *bound) {
    const Call &of = *static_cast<const Call *>(bound);
    of.kernel(of.params);
  };
  return cpu::run_grid(cpu::Grid{blocks, threads, shared}, each, &call, run);
}

}  // namespace kvk

#endif
