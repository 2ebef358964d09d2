// What the parameters of all kernels are made of. Plain data, the same for C, C++ and Rust; `cuda/src/raw.rs` is made
// from these headers. Pointers are device pointers; strides count elements, are 64-bit, and may be of any layout.
#ifndef KVK_TYPES_H
#define KVK_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Types of numbers. A cache is of any; queries, new keys and values, and outputs are of the first two.
#define KVK_F16 1u   // IEEE binary16
#define KVK_BF16 2u  // the upper half of binary32
#define KVK_E4M3 3u  // 8 bits: no infinities, largest 448
#define KVK_E5M2 4u  // 8 bits: largest finite 57,344
#define KVK_INT8 5u  // two's complement; -128 is not written

// The unit that copies move, and what pointers and strides of rows must be aligned to: bytes.
#define KVK_LANE_BYTES 16

// What a kernel saw that its caller must know. All zero before the first launch that reports into it, but for
// `first`, which is all ones. Kernels only add to it; it is read when the stream is done.
typedef struct kvk_status {
  uint64_t first;   // the lowest (row << 32 | index) that was wrong; all ones: nothing was
  uint32_t faults;  // KVK_FAULT_*, or-ed
  uint32_t reserved;
} kvk_status;

#define KVK_FAULT_BLOCK 1u    // an id outside of 1..=blocks was needed; row: sequence, index: the key's place
#define KVK_FAULT_TABLE 2u    // a key's place lies beyond the columns of the table; row: sequence, index: place
#define KVK_FAULT_SLOT 4u     // a slot outside of the cache; row: 0, index: the new token
#define KVK_FAULT_CLAMPED 8u  // a query did not fit into binary16, which 8-bit caches are read with

// Keys and values of one layer. The element (block, token, head, i) is at
// `base + block * block_stride + token * token_stride + head * head_stride + i`, and keys and values share strides: so
// NHD and HND, a pool by layers and a pool by blocks are all the same to a kernel.
typedef struct kvk_cache {
  void *keys;                  // the null block's first element
  void *values;
  int64_t block_stride;        // elements
  int64_t token_stride;
  int64_t head_stride;
  // Values with scales of their own are multiplied as binary16: scaled, they must lie within +-65,504.
  float *key_scales;           // NULL: `key_scale` for all; else one number a (block, token, head), multiplied in
  float *value_scales;         // NULL exactly when `key_scales` is
  int64_t scale_block_stride;  // floats
  int64_t scale_token_stride;
  int64_t scale_head_stride;
  float key_scale;             // finite, above 0; 1 for F16 and BF16
  float value_scale;
  uint32_t blocks;             // N: ids 1..=N are usable; memory holds N + 1 blocks
  uint32_t block_tokens;       // B, at least 1
  uint32_t heads;              // key-value heads
  uint32_t head_dim;           // elements of a head; a multiple of 16
  uint32_t type;               // KVK_F16..KVK_INT8
  uint32_t reserved;
} kvk_cache;

// Block tables: what the ledger's table, or an export of it, is in device memory. Sequence s of a batch reads row
// `rows[s]`; its key number i is in block `entries[row * row_stride + i / B]`.
typedef struct kvk_table {
  const uint32_t *entries;
  const uint32_t *rows;  // [sequences], or NULL: sequence s reads row s
  int64_t row_stride;    // entries
  uint32_t columns;      // entries of a row that may be read
  uint32_t reserved;
} kvk_table;

// Answer of a launch that has no kernel for these parameters: nothing was enqueued.
#define KVK_UNSUPPORTED 0x4B560001u

#ifdef __cplusplus
}
static_assert(sizeof(kvk_status) == 16 && sizeof(kvk_cache) == 112 && sizeof(kvk_table) == 32, "no hidden padding");
#endif

#endif
