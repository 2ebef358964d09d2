/* Limits that may be changed at run time, and accounts that several sequences draw on. Part of kvledger.h. */
#ifndef KVLEDGER_LIMITS_H
#define KVLEDGER_LIMITS_H

#include "pool.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed: no shared account. */
typedef struct kvl_account {
  uint32_t slot;
  uint32_t pool;
  uint64_t generation;
} kvl_account;

/* Sets S. Raising it is an admission of the difference. KVL_INVALID, KVL_ARGUMENT_SAFETY if it is not below N;
 * KVL_WOULD_BLOCK, KVL_RETRY_AFTER. Threads: any. Lock-free. */
kvl_status kvl_set_safety(const kvl_pool *pool, uint32_t blocks, kvl_refusal *refusal);
/* Sets the most that A + R of a group may be. Below what it uses, it admits nothing until its use has fallen.
 * KVL_INVALID, KVL_ARGUMENT_GROUP. Threads: any. Lock-free. Cost: O(1). */
kvl_status kvl_set_quota(const kvl_pool *pool, uint32_t group, uint32_t blocks, kvl_refusal *refusal);
/* Opens an account of `total` blocks for sequences of `group` to draw on: an admission. KVL_INVALID,
 * KVL_ARGUMENT_GROUP; KVL_FULL when as many are open as the pool was made for; KVL_NEVER_FITS, KVL_WOULD_BLOCK,
 * KVL_RETRY_AFTER. Threads: any. Lock-free. Cost: as kvl_admit. */
kvl_status kvl_open_account(const kvl_pool *pool, uint32_t group, uint32_t total, uint32_t watermark,
                            kvl_account *account, kvl_refusal *refusal);
/* Sets the total of an account: its balance, and the blocks that its sequences took and that have not left A. Raising
 * it is an admission of the difference, lowering it gives the difference to everybody. KVL_STALE; KVL_BUSY while
 * another thread changes it; KVL_NEVER_FITS, KVL_WOULD_BLOCK, KVL_RETRY_AFTER; KVL_OVER_PROMISE when lowering by more
 * than the balance. Threads: any. */
kvl_status kvl_set_account_total(const kvl_pool *pool, kvl_account account, uint32_t total, kvl_refusal *refusal);
/* Closes an account: its balance is everybody's again. KVL_STALE; KVL_BUSY while sequences draw on it, or another
 * thread changes it. Threads: any. Lock-free. */
kvl_status kvl_close_account(const kvl_pool *pool, kvl_account account, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
