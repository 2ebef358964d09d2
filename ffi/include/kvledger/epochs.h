/* Epochs: units of submitted work, and what comes back when they are over. Part of kvledger.h. */
#ifndef KVLEDGER_EPOCHS_H
#define KVLEDGER_EPOCHS_H

#include "pool.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

kvl_status kvl_submit(const kvl_pool *pool, uint32_t stream, uint64_t *epoch, kvl_refusal *refusal);
kvl_status kvl_complete(const kvl_pool *pool, uint32_t stream, uint64_t epoch, uint32_t failed, uint64_t *frontier,
                        kvl_refusal *refusal);
kvl_status kvl_abandon(const kvl_pool *pool, uint32_t stream, uint64_t *frontier, kvl_refusal *refusal);
kvl_status kvl_frontier(const kvl_pool *pool, uint64_t *frontier, kvl_refusal *refusal);
kvl_status kvl_newest_epoch(const kvl_pool *pool, uint64_t *newest, kvl_refusal *refusal);
kvl_status kvl_reclaim(const kvl_pool *pool, uint32_t blocks_max, uint32_t *freed, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
