/* kvledger: a lock-free KV-cache block pool and admission ledger. It decides which requests are admitted, which blocks
 * they get and when a block may be used again; it never allocates, never blocks and never prints.
 *
 * The life of a pool and of one request:
 *
 *   kvl_config_bytes -> kvl_init          memory of the caller becomes a pool
 *   kvl_open -> kvl_admit                 a handle, then a promise of blocks
 *   kvl_advance (prompt, then tokens)     blocks are taken from the promise: this never fails for lack of blocks
 *   kvl_submit ... kvl_complete           an epoch of device work; blocks come back when it is over
 *   kvl_end                               everything goes back
 *
 * With prefixes shared: kvl_admit_prefix in place of kvl_admit, and kvl_publish once a step that writes blocks is
 * submitted.
 *
 * Conventions:
 *
 *   Status    Every function returns one: KVL_OK, or the number of the refusal. A refused call has changed nothing.
 *   Outputs   come last but for `refusal`, and are written on success only; what is in them before is never read but the
 *             size of a struct that can grow.
 *   Sizes     A struct with `size` as its first field can grow, and says there what it is: KVL_SIZED(type) of
 *             kvledger/sized.h makes one, zeros besides. No other kvl_ struct ever changes.
 *   refusal   is written on refusal only: the status again, and its details. It may be NULL; no other pointer may
 *             (KVL_INVALID, KVL_ARGUMENT_POINTER), unless it is said.
 *   Arrays    are a pointer and a count of entries. With the count 0 the pointer may be NULL.
 *   Pointers  are looked at: misaligned ones, arrays beyond the address space and outputs over each other, or over the
 *             kvl_pool of the call, are answered KVL_INVALID, KVL_ARGUMENT_POINTER too (by the status alone if it is
 *             `refusal` that is wrong). What cannot be seen is yours: that the memory is there, for the call, and
 *             written by nobody else meanwhile.
 *   Memory    is the caller's; nothing has to be freed. Blocks are named by id, 1..N; id 0 is the null block.
 *   Threads   Every function may be called from any thread at any time, but: one sequence is driven by one thread at a
 *             time (a second one is answered KVL_BUSY), except for kvl_cancel. A kvl_budget is the caller's to guard,
 *             and a kvl_free_cursor, a kvl_event_cursor and a kvl_rank are one thread's. There are no locks that are
 *             waited for, no allocation and no state of the process: signal handlers and code before main may call, too.
 *   Handles   are values. One that is over, repeated or of another pool is answered KVL_STALE, with no effect.
 *   Reserved  Numbers are never used again for something else.
 *
 * What each operation does, in full, with every refusal that it answers, is in the documentation of kvledger-core: the
 * functions here have the names of its methods (`release` is kvl_release_blocks). */
#ifndef KVLEDGER_H
#define KVLEDGER_H

#include "kvledger/answer.h" /* what every function answers */
#include "kvledger/sized.h"  /* structs that can grow */

/* In the order in which a user meets them. */
#include "kvledger/pool.h"      /* from bytes to a pool */
#include "kvledger/sequence.h"  /* a request: admission, growth, the end */
#include "kvledger/rows.h"      /* what kernels read */
#include "kvledger/epochs.h"    /* submitted work */
#include "kvledger/limits.h"    /* safety margin, quotas, shared accounts */
#include "kvledger/observe.h"   /* counts, snapshots, validation */
#include "kvledger/recording.h" /* the flight recorder */

#include "kvledger/identity.h"  /* names of prefixes */
#include "kvledger/sharing.h"   /* prefixes, the cache, forks, admission to several pools */
#include "kvledger/transfers.h" /* copies by others, offload */
#include "kvledger/events.h"    /* what is cached, for routers */
#include "kvledger/ranks.h"     /* processes that admit the same requests */

#include "kvledger/plan.h"        /* arithmetic before anything exists */
#include "kvledger/split.h"       /* the attention of a batch, cut into equal pieces */
#include "kvledger/free_blocks.h" /* the free list by itself */

#endif
