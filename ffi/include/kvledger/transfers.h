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

/* Both holds: KVL_INVALID, KVL_ARGUMENT_TRANSFERS for an `access` that is neither; KVL_FULL if as many transfers run as
 * the pool has room for; KVL_BUSY if a block has 15 holds, or a transfer writes it; KVL_WOULD_BLOCK, KVL_RETRY_AFTER,
 * KVL_NEVER_FITS for what it costs. Then nothing is held. Lock-free. Cost: O(count). */

/* Grips `count` entries of a sequence's row, from `first` on. Free, but one for each block that comes back to its
 * holder (of a window). Besides: KVL_INVALID with KVL_ARGUMENT_COUNT for 0, _BLOCK beyond the row or out of the window,
 * _SEQUENCE if it is not admitted; KVL_STALE; KVL_CANCELLED; KVL_BUSY while another thread drives it. Threads: its
 * driver. */
kvl_status kvl_hold(const kvl_pool *pool, kvl_sequence sequence, uint32_t first, uint32_t count, uint32_t access,
                    kvl_transfer *transfer, kvl_refusal *refusal);
/* Grips blocks by their ids, cached ones say. One named twice counts once. An idle one costs one. Besides: KVL_INVALID
 * with KVL_ARGUMENT_COUNT for none, _BLOCK for an id whose contents nobody else may know: free, or held and never
 * shared. Threads: any. */
kvl_status kvl_hold_blocks(const kvl_pool *pool, const uint32_t *blocks, size_t count, uint32_t access,
                           kvl_transfer *transfer, kvl_refusal *refusal);

/* All of these: KVL_STALE for a transfer that was ended before, or is another pool's; KVL_BUSY while another thread
 * quarantines it. Of two calls that end one transfer exactly one does. Threads: any. Lock-free. Cost: O(blocks), and
 * O(N / 4096). */

/* What was to be copied is copied. `blocks` is how many were gripped. */
kvl_status kvl_complete_transfer(const kvl_pool *pool, kvl_transfer transfer, uint32_t *blocks, kvl_refusal *refusal);
/* The other side can no longer touch the blocks, and what it was to write is not there: names of blocks that the
 * transfer wrote die. `blocks` is how many were gripped. */
kvl_status kvl_revoke(const kvl_pool *pool, kvl_transfer transfer, uint32_t *blocks, kvl_refusal *refusal);
/* Nobody knows when it will end, or whether it has: its blocks without a holder count as quarantined until it is
 * completed or revoked after all. Twice is KVL_OK. */
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
 * `admission` says (its tokens and promise are not looked at) and gets as many blocks, pairs[i] says from where to
 * where to copy, and a transfer grips the blocks here. `pairs_max` is at least the blocks held. The handle stays,
 * opened. All or nothing: as kvl_admit and kvl_materialize of `host`, kvl_hold and kvl_preempt of this pool;
 * KVL_INVALID with KVL_ARGUMENT_OUTPUT if there are too few pairs, KVL_ARGUMENT_COUNT if no block is held. A refusal leaves
 * `pairs` as they were, unless one of the two was cancelled meanwhile. Threads: the driver of both. Lock-free. Cost: O(blocks). */
kvl_status kvl_offload(const kvl_pool *pool, kvl_sequence sequence, const kvl_pool *host, kvl_sequence copy,
                       const kvl_admission *admission, kvl_block_pair *pairs, size_t pairs_max,
                       kvl_offloaded *offloaded, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
