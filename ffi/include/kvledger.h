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
 *   Status    Every function returns one: KVL_OK, or the number of the refusal. A refused call has changed nothing, but
 *             for what "Refused, and yet" lists below.
 *   Outputs   come last but for `refusal`, and are written on success only; what is in them before is never read but
 *             the size of a struct that can grow. What has a state of its own (memory, a budget, a cursor, a rank)
 *             stands where its noun does, and is changed in place.
 *   Sizes     A struct with `size` as its first field can grow, and says there what it is: KVL_SIZED(type) of
 *             kvledger/sized.h makes one, zeros besides. No other kvl_ struct changes.
 *   refusal   is written on refusal only: the status again, and its details. It may be NULL; no other pointer may
 *             (KVL_ARGUMENT_POINTER), unless it is said.
 *   Arrays    are a pointer and a count of entries. With the count 0 the pointer may be NULL.
 *   Pointers  are looked at: misaligned ones, arrays beyond the address space, outputs over each other or over the
 *             kvl_pool, kvl_free_blocks or kvl_rank of the call, and arrays written over what the call reads are
 *             KVL_ARGUMENT_POINTER too (by the status alone if it is `refusal` that is misaligned, or over one of
 *             these). What cannot be seen is yours: that the memory is there, for the call, and written by nobody else
 *             meanwhile.
 *   Memory    is the caller's; nothing has to be freed. Blocks are named by id, 1..N; id 0 is the null block.
 *   Threads   Every function may be called from any thread at any time, but: a call drives the sequences that it is
 *             given, but for kvl_cancel and kvl_sequence_snapshot, and one sequence is driven by one thread at a time
 *             (a second one is answered KVL_BUSY). A kvl_budget is the caller's to guard, and a kvl_free_cursor, a
 *             kvl_event_cursor and a kvl_rank are one thread's. All calls are lock-free: there are no locks that are
 *             waited for, no allocation and no state of the process, so signal handlers and code before main may call,
 *             too.
 *   Handles   are values. One that is over, repeated or of a pool of another number is KVL_STALE, with no effect. Pools
 *             of one program get different numbers (kvl_pool_config): a pool takes a handle of another one with its own
 *             number for one of its own.
 *   Versions  Which programs and libraries go together: kvledger/version.h.
 *
 * Of each function is said what it does, and then:
 *
 *   Results   are all that it answers besides KVL_OK, KVL_ARGUMENT_POINTER and, with structs that can grow,
 *             KVL_ARGUMENT_SIZE: "none" is none but these. A KVL_ARGUMENT_ stands for KVL_INVALID with it, and _NAME
 *             for one more with the same prefix. Words in capitals are these sets:
 *
 *     DRIVEN    Of a call that drives a sequence. KVL_STALE: its handle is over. KVL_CANCELLED: it was cancelled, and
 *               kvl_end is all that is left. KVL_BUSY: another thread drives it. KVL_ARGUMENT_SEQUENCE: it is not what
 *               it must be, as stands behind the word; "opened" is neither admitted nor pinned.
 *     ROOM      KVL_NEVER_FITS: more than N - S - watermark, the group's quota or the row's width. KVL_RETRY_AFTER, or
 *               KVL_WOULD_BLOCK: A + R + S + watermark has no room now, or the group's A + R has none in its quota.
 *     REQUEST   Of an admission. KVL_ARGUMENT_TOKENS: no prompt, or 2^32 tokens and more in all. _WINDOW: tokens and no
 *               chunk. _PROMISE: of neither kind, promise_blocks with KVL_PROMISE_FULL, or below the prompt's blocks.
 *               _GROUP: none of this number, or not that of the sequence's admission before. _STREAM: none that there
 *               is. _ACCOUNT: of another group. KVL_STALE: the account. KVL_FULL: 2^20 - 1 sequences draw on it. ROWS;
 *               ROOM, and on a shared account only KVL_NEVER_FITS of that, by its total and the width.
 *     HITS      Of names that are looked for. KVL_ARGUMENT_TOKENS: tokens that are not block_tokens for each.
 *               KVL_OVER_PROMISE, KVL_RETRY_AFTER: a shared account, which pays for hits, has too little.
 *     STEP      Of added tokens. KVL_ARGUMENT_TOKENS: 0, or 2^32 and more in all. KVL_BUSY: unaccepted tokens; or a
 *               shared tail is to be copied, and the copy before was not submitted, 15 holds are on the block, or ROWS.
 *     TAKEN     Of blocks out of a promise, its own or the shared account's. KVL_OVER_PROMISE: beyond it.
 *               KVL_RETRY_AFTER: blocks on their way back to it will do. KVL_NEVER_FITS: beyond the row's width.
 *               KVL_CORRUPT, KVL_PLACE_FREE_LIST: fewer are free than are counted.
 *     ROWS      KVL_BUSY: with two rows a sequence, both are read in place by work that is not over (kvl_launch_row).
 *     TABLE     KVL_CORRUPT, KVL_PLACE_TABLE: the row named what the sequence cannot hold. All else has been done.
 *     GRIP      Of a transfer that begins. KVL_ARGUMENT_ACCESS: neither of the two. KVL_FULL: as many run as
 *               the pool has room for. KVL_BUSY: a block has 15 holds, or a transfer writes it. KVL_WOULD_BLOCK,
 *               KVL_RETRY_AFTER: for what it costs. Then nothing is held.
 *     ENDED     KVL_STALE: the transfer was ended before. KVL_BUSY: another thread quarantines it.
 *     CONFIG    KVL_ARGUMENT_BLOCKS, _SAFETY, _BLOCK_TOKENS, _SEQUENCES, _TABLE_WIDTH, _ROWS, _ACCOUNTS, _GROUPS,
 *               _STREAMS, _EPOCHS, _CACHE, _TOKEN_CHECK, _TRANSFERS, _EVENTS: the first field that is out of its range.
 *     SHAPE     Of a kvl_split. KVL_ARGUMENT_HEADS: 0, above 65,536, or query heads that are no multiple. _TILE: rows,
 *               keys, or an overhead above 1,024. _THREAD_BLOCKS: not in 1 .. 65,536. _WINDOW: below -1. _CHUNK: no
 *               multiple of tile_keys, or above 2^30. _SEQUENCES, _TOKENS, _LENGTH: a maximum of 0. _OVERFLOW: more
 *               rows, or more of a plan, than 32 bits count.
 *     BATCH     Of a kvl_split_batch. KVL_ARGUMENT_SEQUENCES, _TOKENS, _LENGTH: above the maximum. _QUERIES: query
 *               starts that descend, or fewer positions than query tokens.
 *
 *   Threads   where more is to be known than above.
 *   Cost      in what it grows with; streams, at most 64, are not counted. A call that lacks room looks at all retiring
 *             blocks besides.
 *
 * Refused, and yet something has changed:
 *
 *   - Whoever lacks room has freed blocks whose work is over, as kvl_reclaim does.
 *   - TABLE: all is done (kvl_end, kvl_preempt, kvl_unpin, kvl_withdraw_admission, kvl_accept, kvl_release_blocks,
 *     kvl_release_tokens, kvl_trim, kvl_offload, kvl_rank_abort).
 *   - kvl_advance, kvl_advance_growing, kvl_speculate and rows of kvl_advance_many have let blocks go that had left the
 *     window; and what they took before KVL_CORRUPT, or before the KVL_BUSY of a tail that others came to share
 *     meanwhile, stays in the row, without its tokens. So does what kvl_materialize took before KVL_CORRUPT.
 *   - kvl_export_csr and kvl_admit_together have written to their arrays, which then mean nothing; so has kvl_offload,
 *     with TABLE or if one of the two was cancelled meanwhile.
 *   - What was gripped or promised and has gone back (of kvl_hold, kvl_hold_blocks, kvl_offload, and the calls of the
 *     next line) has changed kvl_release_number: who waits for that may be called by his own refusal.
 *   - An admission that was decided and undone (of kvl_admit_prefix whose hits were lost, kvl_admit_together, kvl_fork,
 *     kvl_offload) leaves its group to the sequence: the next one must be in the same.
 *   - kvl_complete of an epoch that failed, KVL_STALE because another call completed it meanwhile: its names have died.
 *     The same of kvl_publish for an epoch that fails meanwhile: idle copies of these names may be gone.
 *   - kvl_rank_commit may have trimmed: it is to be said again.
 *
 * Names of functions are those of kvledger-core's methods (`release` is kvl_release_blocks). */
#ifndef KVLEDGER_H
#define KVLEDGER_H

#include "kvledger/answer.h"  /* what every function answers */
#include "kvledger/sized.h"   /* structs that can grow */
#include "kvledger/version.h" /* what goes together */

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
