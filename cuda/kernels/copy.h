// Copies whole blocks inside one pool: what a copy order of the ledger asks for. Plain data; mirrored by
// `cuda/src/raw.rs`, which asserts the same sizes and offsets.
#ifndef KVK_COPY_H
#define KVK_COPY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The unit of a copy: what one thread moves with one load and one store.
#define KVK_LANE_BYTES 16

// Block ids of the ledger: 1..=N.
typedef struct kvk_copy_pair {
  uint32_t source;
  uint32_t destination;
} kvk_copy_pair;

typedef struct kvk_copy_params {
  void *pool;                  // device: first byte of block 0, aligned to KVK_LANE_BYTES
  const kvk_copy_pair *pairs;  // device: [pair_count]
  uint64_t block_lanes;        // bytes from one block to the next, in lanes; the whole of it is copied
  uint32_t pair_count;
  uint32_t reserved;           // 0
} kvk_copy_params;

// Enqueues the copies in `stream` (a cudaStream_t; the CPU device has none and is done when it returns). Checks
// nothing: every id must be inside the pool, and no destination may be the source or destination of another pair,
// because pairs are copied in no particular order. Returns 0, or the error number of the device.
uint32_t kvk_cpu_copy_blocks(const kvk_copy_params *params, void *stream);
uint32_t kvk_cuda_copy_blocks(const kvk_copy_params *params, void *stream);

#ifdef __cplusplus
}
static_assert(sizeof(kvk_copy_pair) == 8, "mirrored by raw.rs");
static_assert(sizeof(kvk_copy_params) == 32, "mirrored by raw.rs");
static_assert(offsetof(kvk_copy_params, block_lanes) == 16, "mirrored by raw.rs");
#endif

#endif
