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

/* Sets S, in blocks. Raising it is an admission of the difference.
 * Results: KVL_ARGUMENT_SAFETY if it is not below N; raising it, ROOM (KVL_NEVER_FITS only if another call raises it
 * meanwhile). Cost: O(1). */
kvl_status kvl_set_safety(const kvl_pool *pool, uint32_t blocks, kvl_refusal *refusal);
/* Sets the most blocks that A + R of a group may be. Below what it uses, it admits nothing until its use has fallen.
 * Results: KVL_ARGUMENT_GROUP. Cost: O(1). */
kvl_status kvl_set_quota(const kvl_pool *pool, uint32_t group, uint32_t blocks, kvl_refusal *refusal);
/* Opens an account of `total` blocks for sequences of `group` to draw on: an admission, above `watermark`.
 * Results: KVL_ARGUMENT_GROUP; KVL_FULL when as many are open as the pool was made for; ROOM (no row's width).
 * Cost: O(1) while slots are left. */
kvl_status kvl_open_account(const kvl_pool *pool, uint32_t group, uint32_t total, uint32_t watermark,
                            kvl_account *account, kvl_refusal *refusal);
/* Sets the total of an account, in blocks: its balance, and what its sequences took and has not left A. Raising it is
 * an admission of the difference, lowering it gives the difference to everybody.
 * Results: KVL_STALE; KVL_BUSY while another thread changes it; raising it, ROOM (no row's width); lowering it by more
 * than the balance, KVL_OVER_PROMISE. Cost: O(1). */
kvl_status kvl_set_account_total(const kvl_pool *pool, kvl_account account, uint32_t total, kvl_refusal *refusal);
/* Closes an account: its balance is everybody's again.
 * Results: KVL_STALE; KVL_BUSY while sequences draw on it, or another thread changes it. Cost: O(1). */
kvl_status kvl_close_account(const kvl_pool *pool, kvl_account account, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
