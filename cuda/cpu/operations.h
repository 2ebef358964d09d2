// The operations of `device.h` that the executor does out of line, because threads meet in them or because they write
// what belongs to the executor.
#ifndef KVK_CPU_OPERATIONS_H
#define KVK_CPU_OPERATIONS_H

#include <stdint.h>

namespace kvk {
namespace cpu {

void barrier();

// Of a warp: warp.cc. Bits are those of a value of at most 8 bytes.
void barrier_warp();
uint64_t shuffle(uint64_t bits, unsigned lane);
uint64_t shuffle_xor(uint64_t bits, unsigned mask);
uint32_t ballot(bool value);
void load_matrix(uint32_t *r, const void *row, bool transposed);

// multiply.cc
void multiply_f16(float *d, const uint32_t *a, uint32_t b0, uint32_t b1);
void multiply_bf16(float *d, const uint32_t *a, uint32_t b0, uint32_t b1);

// async.cc: copies of 16 bytes.
void copy_async(void *shared, const void *global, bool valid);
void commit();
void wait(uint32_t groups);

}  // namespace cpu
}  // namespace kvk

#endif
