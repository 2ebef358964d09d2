// The operations of `device.h` for nvcc.
#ifndef KVK_DEVICE_GPU_H
#define KVK_DEVICE_GPU_H

#include <cuda_runtime.h>

#define KVK_SYMBOL(name) kvk_cuda_##name
#define KVK_KERNEL(...) __global__ __launch_bounds__(__VA_ARGS__)
#define KVK_DEVICE __device__ __forceinline__
#define KVK_UNROLL _Pragma("unroll")
#define KVK_UNROLL_BY(times) _Pragma(KVK_TEXT(unroll times))
#define KVK_TEXT(...) #__VA_ARGS__
#define KVK_PLANT(name) false
#define KVK_SHARED(T, name)                                       \
  extern __shared__ __align__(1024) unsigned char kvk_shared_[]; \
  T *const name = reinterpret_cast<T *>(kvk_shared_)

// `shared` above what every GPU grants must be asked for; asking again costs a hash look-up, and is no error.
#define KVK_LAUNCH(kernel, blocks, threads, shared, stream, params) \
  kvk::launch(kernel, blocks, threads, shared, stream, params)

namespace kvk {

constexpr unsigned kGrantedShared = 48 * 1024;

template <class Params>
uint32_t launch(void (*kernel)(Params), unsigned blocks, unsigned threads, unsigned shared, void *stream,
                const Params &params) {
  if (shared > kGrantedShared) {
    const cudaError_t asked =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
    if (asked != cudaSuccess) return static_cast<uint32_t>(asked);
  }
  kernel<<<blocks, threads, shared, static_cast<cudaStream_t>(stream)>>>(params);
  return static_cast<uint32_t>(cudaGetLastError());
}

KVK_DEVICE unsigned thread() { return threadIdx.x; }
KVK_DEVICE unsigned block() { return blockIdx.x; }
KVK_DEVICE unsigned threads() { return blockDim.x; }
KVK_DEVICE unsigned blocks() { return gridDim.x; }

KVK_DEVICE void barrier() { __syncthreads(); }
KVK_DEVICE void barrier_warp() { __syncwarp(); }

template <class T>
KVK_DEVICE T shuffle(T value, unsigned lane) {
  return __shfl_sync(~0u, value, static_cast<int>(lane));
}
template <class T>
KVK_DEVICE T shuffle_xor(T value, unsigned mask) {
  return __shfl_xor_sync(~0u, value, static_cast<int>(mask));
}
KVK_DEVICE uint32_t ballot(bool value) { return __ballot_sync(~0u, value); }

KVK_DEVICE uint32_t shared_address(const void *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

template <int Bytes>
KVK_DEVICE void copy_async(void *shared, const void *global, bool valid) {
  static_assert(Bytes == 16, "the only size that goes around L1");
  const int bytes = valid ? Bytes : 0;
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(global),
               "r"(bytes)
               : "memory");
}
KVK_DEVICE void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Groups>
KVK_DEVICE void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}

KVK_DEVICE void load_matrix(uint32_t (&r)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}
KVK_DEVICE void load_matrix_transposed(uint32_t (&r)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}

struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};

template <class T>
KVK_DEVICE void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);
template <>
KVK_DEVICE void multiply<f16>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <>
KVK_DEVICE void multiply<bf16>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 16 bytes: what one thread moves with one instruction.
struct alignas(16) lane {
  uint32_t word[4];
};

template <class T>
KVK_DEVICE T load(const T *global) {
  return *global;
}
template <class T>
KVK_DEVICE void store(T *global, T value) {
  *global = value;
}
KVK_DEVICE lane load_once(const lane *global) {
  lane v;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "l"(global));
  return v;
}

KVK_DEVICE void atomic_or(uint32_t *global, uint32_t bits) { atomicOr(global, bits); }
KVK_DEVICE void atomic_min(uint64_t *global, uint64_t value) {
  atomicMin(reinterpret_cast<unsigned long long *>(global), static_cast<unsigned long long>(value));
}
KVK_DEVICE void atomic_add(uint64_t *global, uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long *>(global), static_cast<unsigned long long>(value));
}

KVK_DEVICE float exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// Rounded to nearest for magnitudes from 2^-126 to 2^126: the short way of the compiler's own division.
KVK_DEVICE float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return fmaf(y, -fmaf(x, y, -1.0f), y);
}
KVK_DEVICE float log2(float x) { return __log2f(x); }
KVK_DEVICE float tanh(float x) { return tanhf(x); }

}  // namespace kvk

#endif
