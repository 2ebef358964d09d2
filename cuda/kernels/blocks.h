// Kernels over whole blocks: copy (copy-on-write, swap, compaction), fill, checksum, and the rewrite of tables.
#ifndef KVK_BLOCKS_H
#define KVK_BLOCKS_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where the bytes of a block's tokens are: `pieces` runs, each of B tokens of `token_bytes`, `piece_stride` apart. A
// pool of blocks that are contiguous over layers, keys before values, tokens before heads, has 2 * layers pieces; one
// with heads before tokens has 2 * layers * heads. All in bytes, multiples of KVK_LANE_BYTES.
typedef struct kvk_shape {
  int64_t block_stride;
  int64_t piece_stride;
  uint64_t token_bytes;
  uint32_t pieces;
  uint32_t block_tokens;
} kvk_shape;

typedef struct kvk_copy_pair {
  uint32_t source;       // block ids, each of its own pool
  uint32_t destination;
  uint32_t tokens;       // the first so many of the block
  uint32_t reserved;
} kvk_copy_pair;

typedef struct kvk_copy_params {
  kvk_shape source_shape;
  kvk_shape destination_shape;  // the same but for the strides
  const void *source;           // the null block; device memory or pinned
  void *destination;
  const kvk_copy_pair *pairs;   // [pair_count]
  uint32_t pair_count;
  uint32_t reserved;
} kvk_copy_params;

// Pairs run in no order: no destination may be the source or destination of another pair of the launch. Each of these
// launches answers KVK_UNSUPPORTED if it would be more than 2^31 pieces of work: terabytes, or 2^31 blocks or entries.
#ifndef KVK_STRUCTURES_ONLY
uint32_t kvk_cpu_copy_blocks(const kvk_copy_params *params, void *run);
uint32_t kvk_cuda_copy_blocks(const kvk_copy_params *params, void *stream);
#endif

typedef struct kvk_fill_params {
  void *pool;              // the null block
  const uint32_t *blocks;  // [block_count], ids; 0 may be one of them
  uint64_t block_bytes;    // from one block to the next; all of it is written
  uint32_t block_count;
  uint32_t pattern;        // repeated: 0, or 0xFFFFFFFF, which is NaN in every float type
} kvk_fill_params;

#ifndef KVK_STRUCTURES_ONLY
uint32_t kvk_cpu_fill(const kvk_fill_params *params, void *run);
uint32_t kvk_cuda_fill(const kvk_fill_params *params, void *stream);
#endif

typedef struct kvk_checksum_params {
  const void *pool;
  const uint32_t *blocks;  // [block_count], ids
  uint64_t *sums;          // [block_count]; written, not added to
  uint64_t block_bytes;
  uint32_t block_count;
  uint32_t reserved;
} kvk_checksum_params;

// The sum, modulo 2^64, of a term for each 64-bit word of a block, which depends on the word and on its place:
// checksum.cu says how. It tells moved, lost and changed words, and not who did it: it is no signature.
#ifndef KVK_STRUCTURES_ONLY
uint32_t kvk_cpu_checksum(const kvk_checksum_params *params, void *run);
uint32_t kvk_cuda_checksum(const kvk_checksum_params *params, void *stream);
#endif

typedef struct kvk_rewrite_params {
  uint32_t *entries;      // [rows][columns], rows `row_stride` apart
  const uint32_t *moved;  // [blocks + 1]: where each block is now; itself if it did not move
  kvk_status *status;     // an id above `blocks` is left, and reported: row, column
  int64_t row_stride;     // entries
  uint32_t rows;
  uint32_t columns;
  uint32_t blocks;
  uint32_t reserved;
} kvk_rewrite_params;

#ifndef KVK_STRUCTURES_ONLY
uint32_t kvk_cpu_rewrite(const kvk_rewrite_params *params, void *run);
uint32_t kvk_cuda_rewrite(const kvk_rewrite_params *params, void *stream);
#endif

#ifdef __cplusplus
}
static_assert(sizeof(kvk_shape) == 32 && sizeof(kvk_copy_pair) == 16 && sizeof(kvk_copy_params) == 96, "no padding");
static_assert(sizeof(kvk_fill_params) == 32 && sizeof(kvk_checksum_params) == 40, "no padding");
static_assert(sizeof(kvk_rewrite_params) == 48, "no padding");
#endif

#endif
