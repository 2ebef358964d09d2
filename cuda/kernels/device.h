// What kernels may use of their device, so that one source serves two: a GPU under nvcc, and the CPU under any C++17
// compiler. On the CPU a launch runs its threads one after the other, in order. So it shows wrong indices and wrong
// arguments, not races, and a kernel that needs a barrier cannot use it yet.
#ifndef KVK_DEVICE_H
#define KVK_DEVICE_H

#include <stdint.h>

#if defined(__CUDACC__)

#include <cuda_runtime.h>

// The name that a function has for this device.
#define KVK_SYMBOL(name) kvk_cuda_##name

// Runs `kernel` on `grid` blocks of `threads` threads in `stream`; 0, or the error number of the device.
#define KVK_LAUNCH(kernel, grid, threads, stream, params)                          \
  (kernel<<<(grid), (threads), 0, static_cast<cudaStream_t>(stream)>>>(params),    \
   static_cast<uint32_t>(cudaGetLastError()))

#else

#define KVK_SYMBOL(name) kvk_cpu_##name
#define __global__ static

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

static thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

// The stream is not used: a launch is over when it returns.
template <class Params>
static uint32_t kvk_run(void (*kernel)(Params), dim3 grid, dim3 threads, void *, const Params &params) {
  gridDim = grid;
  blockDim = threads;
  for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
        for (threadIdx.z = 0; threadIdx.z < threads.z; ++threadIdx.z)
          for (threadIdx.y = 0; threadIdx.y < threads.y; ++threadIdx.y)
            for (threadIdx.x = 0; threadIdx.x < threads.x; ++threadIdx.x) kernel(params);
  return 0;
}

#define KVK_LAUNCH(kernel, grid, threads, stream, params) kvk_run(kernel, grid, threads, stream, params)

#endif
#endif
