/* Epochs: units of submitted work, and what comes back when they are over. Part of kvledger.h. */
#ifndef KVLEDGER_EPOCHS_H
#define KVLEDGER_EPOCHS_H

#include "pool.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens an epoch: before rows are read for the work that will be launched under it on `stream`, and before blocks are
 * published that it writes. Wait-free.
 * Results: KVL_ARGUMENT_STREAM if there is none of this number; KVL_FULL when the stream has as many outstanding as the
 * pool was made for; KVL_BUSY when another thread submits to the same stream. Cost: O(1). */
kvl_status kvl_submit(const kvl_pool *pool, uint32_t stream, uint64_t *epoch, kvl_refusal *refusal);
/* The work of `epoch` on `stream` is over, and all older work of that stream with it: blocks that waited for it are
 * freed. `failed` not 0: it did not do what it was for, and names that were published under it die. `frontier` is the
 * newest epoch such that no stream has it or an older one outstanding.
 * Results: KVL_ARGUMENT_STREAM; KVL_STALE if the epoch is unknown there, or over already. Cost: O(outstanding epochs +
 * streams + retiring blocks), and O(N) if it failed in a pool with a cache. */
kvl_status kvl_complete(const kvl_pool *pool, uint32_t stream, uint64_t epoch, uint32_t failed, uint64_t *frontier,
                        kvl_refusal *refusal);
/* The device behind `stream` is lost: all that was submitted there is over, as failed. `frontier` as of kvl_complete.
 * Results: KVL_ARGUMENT_STREAM. Cost: as kvl_complete, and with a cache O(N) for each outstanding epoch. */
kvl_status kvl_abandon(const kvl_pool *pool, uint32_t stream, uint64_t *frontier, kvl_refusal *refusal);
/* The frontier. Results: none. Cost: O(streams). */
kvl_status kvl_frontier(const kvl_pool *pool, uint64_t *frontier, kvl_refusal *refusal);
/* The newest epoch that was handed out; 0 before the first. Results: none. Cost: O(1). */
kvl_status kvl_newest_epoch(const kvl_pool *pool, uint64_t *newest, kvl_refusal *refusal);
/* Frees up to `blocks_max` retiring blocks whose work is over; `freed` is how many. kvl_complete does this itself, and
 * so does a call that needs blocks.
 * Results: none. Cost: O(retiring blocks). */
kvl_status kvl_reclaim(const kvl_pool *pool, uint32_t blocks_max, uint32_t *freed, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
