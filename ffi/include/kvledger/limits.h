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

kvl_status kvl_set_safety(const kvl_pool *pool, uint32_t blocks, kvl_refusal *refusal);
kvl_status kvl_set_quota(const kvl_pool *pool, uint32_t group, uint32_t blocks, kvl_refusal *refusal);
kvl_status kvl_open_account(const kvl_pool *pool, uint32_t group, uint32_t total, uint32_t watermark,
                            kvl_account *account, kvl_refusal *refusal);
kvl_status kvl_set_account_total(const kvl_pool *pool, kvl_account account, uint32_t total, kvl_refusal *refusal);
kvl_status kvl_close_account(const kvl_pool *pool, kvl_account account, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
