// The operations of `kernels/device.h` for the CPU device: what concerns one thread alone is inline, the rest is in the
// executor. Operations check what a GPU would fault at, and end the launch with one of KVK_CPU_*.
#ifndef KVK_CPU_DEVICE_H
#define KVK_CPU_DEVICE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "launch.h"
#include "operations.h"
#include "plants.h"
#include "thread.h"

#define KVK_SYMBOL(name) kvk_cpu_##name
#define KVK_KERNEL(...)
#define KVK_DEVICE inline
#define KVK_UNROLL
#define KVK_UNROLL_BY(times)
#define KVK_SHARED(T, name) T *const name = reinterpret_cast<T *>(::kvk::cpu::self->place->shared)
#define KVK_LAUNCH(kernel, blocks, threads, shared, run, params) \
  ::kvk::launch(kernel, blocks, threads, shared, run, params)

namespace kvk {

KVK_DEVICE unsigned thread() { return cpu::self->index; }
KVK_DEVICE unsigned block() { return cpu::self->place->block; }
KVK_DEVICE unsigned threads() { return cpu::self->place->threads; }
KVK_DEVICE unsigned blocks() { return cpu::self->place->blocks; }

KVK_DEVICE void barrier() { cpu::barrier(); }
KVK_DEVICE void barrier_warp() { cpu::barrier_warp(); }

namespace cpu {

template <class T>
KVK_DEVICE uint64_t to_bits(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "what a GPU shuffles");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
KVK_DEVICE T of_bits(uint64_t bits) {
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
KVK_DEVICE void check_alignment(const T *global) {
  static_assert(sizeof(T) <= 16, "what a GPU moves in one instruction");
  if (reinterpret_cast<uintptr_t>(global) % alignof(T) != 0) fault(KVK_CPU_MISALIGNED);
}

}  // namespace cpu

template <class T>
KVK_DEVICE T shuffle(T value, unsigned lane) {
  return cpu::of_bits<T>(cpu::shuffle(cpu::to_bits(value), lane));
}
template <class T>
KVK_DEVICE T shuffle_xor(T value, unsigned mask) {
  return cpu::of_bits<T>(cpu::shuffle_xor(cpu::to_bits(value), mask));
}
KVK_DEVICE uint32_t ballot(bool value) { return cpu::ballot(value); }

template <int Bytes>
KVK_DEVICE void copy_async(void *shared, const void *global, bool valid) {
  static_assert(Bytes == 16, "the only size that goes around L1");
  cpu::copy_async(shared, global, valid);
}
KVK_DEVICE void commit() { cpu::commit(); }
template <int Groups>
KVK_DEVICE void wait() {
  cpu::wait(Groups);
}

KVK_DEVICE void load_matrix(uint32_t (&r)[4], const void *row) { cpu::load_matrix(r, row, false); }
KVK_DEVICE void load_matrix_transposed(uint32_t (&r)[4], const void *row) { cpu::load_matrix(r, row, true); }

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
  cpu::multiply_f16(d, a, b0, b1);
}
template <>
KVK_DEVICE void multiply<bf16>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  cpu::multiply_bf16(d, a, b0, b1);
}

// 16 bytes: what one thread moves with one instruction.
struct alignas(16) lane {
  uint32_t word[4];
};

template <class T>
KVK_DEVICE T load(const T *global) {
  cpu::check_alignment(global);
  cpu::count(cpu::self->place->counters.loaded_bytes, sizeof(T));
  return *global;
}
KVK_DEVICE lane load_once(const lane *global) { return load(global); }
template <class T>
KVK_DEVICE void store(T *global, T value) {
  cpu::check_alignment(global);
  cpu::count(cpu::self->place->counters.stored_bytes, sizeof(T));
  *global = value;
}

KVK_DEVICE void atomic_or(uint32_t *global, uint32_t bits) {
  cpu::check_alignment(global);
  cpu::count(cpu::self->place->counters.stored_bytes, sizeof bits);
  __atomic_fetch_or(global, bits, __ATOMIC_RELAXED);
}
// Other launches may report to the same place from other OS threads.
KVK_DEVICE void atomic_min(uint64_t *global, uint64_t value) {
  cpu::check_alignment(global);
  cpu::count(cpu::self->place->counters.stored_bytes, sizeof value);
  uint64_t seen = __atomic_load_n(global, __ATOMIC_RELAXED);
  while (value < seen &&
         !__atomic_compare_exchange_n(global, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}
KVK_DEVICE void atomic_add(uint64_t *global, uint64_t value) {
  cpu::check_alignment(global);
  cpu::count(cpu::self->place->counters.stored_bytes, sizeof value);
  __atomic_fetch_add(global, value, __ATOMIC_RELAXED);
}

KVK_DEVICE float exp2(float x) { return __builtin_exp2f(x); }
KVK_DEVICE float reciprocal(float x) { return 1.0f / x; }
KVK_DEVICE float log2(float x) { return __builtin_log2f(x); }
KVK_DEVICE float tanh(float x) { return __builtin_tanhf(x); }

}  // namespace kvk

#endif
