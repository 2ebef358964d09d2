/* The free list by itself, for who keeps count elsewhere: no promises, no tables, no epochs. Part of kvledger.h. */
#ifndef KVLEDGER_FREE_BLOCKS_H
#define KVLEDGER_FREE_BLOCKS_H

#include "answer.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVL_FREE_BLOCKS_BYTES 512

/* A view of a list for this process: written by kvl_free_blocks_init, then only read. It may be copied, and used from
 * any thread. */
typedef struct kvl_free_blocks {
  uint64_t opaque[KVL_FREE_BLOCKS_BYTES / 8];
} kvl_free_blocks;

/* Where one user of a list looked last: zeroed, or written by kvl_free_cursor_at. It goes with any list. */
typedef struct kvl_free_cursor {
  uint64_t opaque;
} kvl_free_cursor;

/* Where a batch would like to be: one of these, or the id of the block that it continues. Advice. */
#define KVL_HINT_ANY 0u
#define KVL_HINT_OPENS UINT32_MAX /* it begins something that will grow */

/* Bytes of memory for a list of `blocks` blocks, a multiple of KVL_MEMORY_ALIGN: about 0.141 a block.
 * Results: none. Cost: O(1). */
kvl_status kvl_free_blocks_bytes(uint32_t blocks, size_t *bytes, kvl_refusal *refusal);
/* Makes a list of `memory`, aligned to KVL_MEMORY_ALIGN: blocks 1 .. `blocks` are free. It is overwritten, and the
 * list's alone from then on.
 * Results: KVL_ARGUMENT_BLOCKS if not in 1 .. 2^31 - 2, _MEMORY (not aligned, or less than kvl_free_blocks_bytes).
 * Cost: O(blocks). */
kvl_status kvl_free_blocks_init(void *memory, size_t memory_bytes, uint32_t blocks, kvl_free_blocks *list,
                                kvl_refusal *refusal);
/* A cursor that looks at block `id` first: threads that begin far apart do not meet. Results: none. Cost: O(1). */
kvl_status kvl_free_cursor_at(uint32_t id, kvl_free_cursor *cursor, kvl_refusal *refusal);
/* Takes `count` blocks, all or nothing: `found` is 1, or 0 if so many were not found. Then none was taken, and `ids`
 * says nothing. Blocks that another thread was taking or giving at that moment may have been missed.
 * Results: none. Cost: two atomic operations for each 64 neighbours that blocks are found in, and at most a pass over
 * all. */
kvl_status kvl_free_blocks_take(const kvl_free_blocks *list, kvl_free_cursor *cursor, uint32_t hint, uint32_t *ids,
                                size_t count, uint32_t *found, kvl_refusal *refusal);
/* Gives blocks back. `given_twice` is how many of the ids were free already, named twice, or no blocks of the list: 0
 * unless the caller is wrong. The others were given back.
 * Results: none. Cost: O(count), one atomic operation for each 64 neighbours in `ids`. */
kvl_status kvl_free_blocks_give(const kvl_free_blocks *list, kvl_free_cursor *cursor, const uint32_t *ids,
                                size_t count, uint32_t *given_twice, kvl_refusal *refusal);
/* How many are free: exact while nobody else uses the list. Results: none. Cost: O(N / 64). */
kvl_status kvl_free_blocks_count(const kvl_free_blocks *list, uint64_t *count, kvl_refusal *refusal);
/* 1 if block `id` is free at this moment, else 0, as for an id that is none. Results: none. Cost: O(1). */
kvl_status kvl_free_blocks_is_free(const kvl_free_blocks *list, uint32_t id, uint32_t *is_free, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
