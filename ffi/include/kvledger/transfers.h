/* Transfers: copies by somebody who is not a stream of the pool, a peer, a storage engine, a host thread. A transfer
 * grips its blocks, whatever becomes of the sequences that held them, until it is completed or revoked. Part of
 * kvledger.h. */
#ifndef KVLEDGER_TRANSFERS_H
#define KVLEDGER_TRANSFERS_H

#include "answer.h"
#include "pool.h"
#include "sequence.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A zeroed handle is stale. */
typedef struct kvl_transfer {
  uint32_t slot;
  uint32_t pool;
  uint64_t generation;
} kvl_transfer;

enum {
  KVL_ACCESS_READ = 0, /* others may read too */
  KVL_ACCESS_WRITE = 1 /* nobody is given the blocks as a hit before it is over */
};

/* Grips `count` entries of a sequence's row, from `first` on; holes among them are passed over. Free, but one for each
 * block that comes back to its holder (of a window).
 * Results: KVL_ARGUMENT_COUNT for 0, _BLOCK beyond the row or out of the window; DRIVEN (admitted), GRIP.
 * Cost: O(count). */
kvl_status kvl_hold(const kvl_pool *pool, kvl_sequence sequence, uint32_t first, uint32_t count, uint32_t access,
                    kvl_transfer *transfer, kvl_refusal *refusal);
/* Grips blocks by their ids, cached ones say. One named twice counts once. An idle one costs one.
 * Results: KVL_ARGUMENT_COUNT for none, _BLOCK for an id whose contents nobody else may know: free, or held and never
 * shared; GRIP. Cost: O(count). */
kvl_status kvl_hold_blocks(const kvl_pool *pool, const uint32_t *blocks, size_t count, uint32_t access,
                           kvl_transfer *transfer, kvl_refusal *refusal);

/* Of two calls that end one transfer exactly one does. */

/* What was to be copied is copied. `blocks` is how many were gripped. Results: ENDED. Cost: O(blocks + N / 4096). */
kvl_status kvl_complete_transfer(const kvl_pool *pool, kvl_transfer transfer, uint32_t *blocks, kvl_refusal *refusal);
/* The other side can no longer touch the blocks, and what it was to write is not there: names of blocks that the
 * transfer wrote die. `blocks` is how many were gripped.
 * Results: ENDED. Cost: O(blocks + N / 4096). */
kvl_status kvl_revoke(const kvl_pool *pool, kvl_transfer transfer, uint32_t *blocks, kvl_refusal *refusal);
/* Nobody knows when it will end, or whether it has: its blocks without a holder count as quarantined until it is
 * completed or revoked after all. Twice is KVL_OK.
 * Results: ENDED. Cost: O(blocks + N / 4096). */
kvl_status kvl_quarantine(const kvl_pool *pool, kvl_transfer transfer, kvl_refusal *refusal);

/* ---- Offload ------------------------------------------------------------------------------------------------- *
 *
 *   kvl_offload, copy, kvl_complete_transfer       the blocks are in the other pool, and free here
 *
 * Back: kvl_admit and kvl_materialize here, kvl_hold there while it is read, copy, kvl_complete_transfer, and kvl_end
 * there. */

typedef struct kvl_block_pair {
  uint32_t source;      /* block of this pool to read */
  uint32_t destination; /* block of the other pool to write */
} kvl_block_pair;

typedef struct kvl_offloaded {
  kvl_transfer transfer; /* to complete when the copy is over */
  uint32_t blocks;       /* to copy: so many pairs were written */
  kvl_released released; /* what came back here: the blocks are retiring until then */
} kvl_offloaded;

/* Preempts `sequence` and keeps what was computed: `copy`, an opened sequence of `host`, is admitted there as
 * `admission` says (its tokens, its window and how many blocks it promises are not looked at) and gets as many blocks,
 * pairs[i] says from where to where to copy, and a transfer grips the blocks here. `pairs_max` is at least the blocks
 * held. The handle stays, opened. All or nothing, but for TABLE: then the sequence was preempted, and the copy was not
 * kept.
 * Results: KVL_ARGUMENT_OUTPUT if there are too few pairs, _COUNT if no block is held; DRIVEN, of `sequence` (admitted)
 * and `copy` (opened); of the host REQUEST and TAKEN; of this pool GRIP and TABLE (KVL_ARGUMENT_BLOCK,
 * if that is seen before anything was done). Cost: O(entries). */
kvl_status kvl_offload(const kvl_pool *pool, kvl_sequence sequence, const kvl_pool *host, kvl_sequence copy,
                       const kvl_admission *admission, kvl_block_pair *pairs, size_t pairs_max,
                       kvl_offloaded *offloaded, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
