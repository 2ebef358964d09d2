/* A sequence: the life of a request. Part of kvledger.h. */
#ifndef KVLEDGER_SEQUENCE_H
#define KVLEDGER_SEQUENCE_H

#include "limits.h"
#include "pool.h"
#include "sized.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A zeroed handle is stale. */
typedef struct kvl_sequence {
  uint32_t slot;
  uint32_t pool;
  uint64_t generation;
} kvl_sequence;

enum { KVL_PROMISE_FULL = 0, KVL_PROMISE_BLOCKS = 1 };

/* How far back a token looks. Blocks out of the window come back to the sequence's promise while it runs. */
typedef struct kvl_window {
  uint32_t tokens;          /* that a token attends to, itself included; 0: all of them */
  uint32_t steps_in_flight; /* most steps of the sequence in flight when the next one is prepared */
  uint32_t chunk_tokens;    /* most tokens that one step adds, speculation included; at least 1 with a window */
} kvl_window;

/* Sets of streams, one bit each: all of them, or one (empty if there is no such stream); joined by |. */
#define KVL_STREAMS_ALL UINT64_MAX
#ifdef __cplusplus
#define KVL_STREAMS_NUMBER(stream) static_cast<uint64_t>(stream)
#else
#define KVL_STREAMS_NUMBER(stream) ((uint64_t)(stream))
#endif
#define KVL_STREAMS_ONE(stream)                                                                              \
  (KVL_STREAMS_NUMBER(stream) < 64 ? UINT64_C(1) << (KVL_STREAMS_NUMBER(stream) & 63) : UINT64_C(0))

typedef struct kvl_admission {
  size_t size;                 /* KVL_SIZED */
  uint32_t prompt_tokens;      /* there already, at least 1 */
  uint32_t output_tokens_max;  /* a hard maximum */
  uint32_t speculative_tokens; /* most tokens beyond these that are proposed at once and may be taken back */
  kvl_window window;           /* zeros: every token attends to all before it */
  uint32_t promise;            /* KVL_PROMISE_FULL, or KVL_PROMISE_BLOCKS: promise_blocks in all */
  uint32_t promise_blocks;     /* 0 with KVL_PROMISE_FULL */
  uint32_t group;              /* trust group: the same in all admissions of one sequence */
  uint32_t watermark;          /* blocks that must stay uncommitted besides S */
  uint64_t streams;            /* whose work will touch the blocks: KVL_STREAMS_ALL is always right */
  kvl_account account;         /* to draw from, or zeros */
} kvl_admission;

typedef struct kvl_admitted {
  uint32_t promised;      /* blocks; 0 with a shared account, which has promised them */
  uint32_t hits;          /* blocks of the prefix that were found: the first ones of the row */
  uint32_t cached_tokens; /* not to be computed again, at most prompt - 1: the sequence has so many tokens now */
  uint64_t after;         /* the newest epoch under which a hit is still being written; 0: all can be read at once */
} kvl_admitted;

typedef struct kvl_advanced {
  uint32_t taken;   /* blocks taken by this call: the last ones of the row */
  uint32_t entries; /* of the row in use: blocks, and null blocks for those that left the window */
  uint32_t copies;  /* 1: before this step writes, a shared tail is to be copied: kvl_copy_order says what */
} kvl_advanced;

typedef struct kvl_step {
  kvl_sequence sequence;
  uint32_t tokens;
} kvl_step;

typedef struct kvl_batch {
  uint32_t advanced;    /* rows that advanced */
  uint32_t refused;     /* rows that were refused */
  uint32_t changed;     /* entries of `changed` that were written */
  uint32_t taken;       /* blocks taken by all rows */
  uint32_t copies;      /* rows that have a copy to make; each is in `changed` */
  uint64_t retry_after; /* by this epoch every row that was answered KVL_RETRY_AFTER may try again; 0 if none was */
} kvl_batch;

typedef struct kvl_released {
  uint32_t promised; /* promises that went back at once: of its account, and on blocks that others grip too */
  uint32_t free;     /* blocks that left A: free now, or idle */
  uint32_t retiring; /* blocks that submitted work may still touch, or a transfer grips */
  uint64_t after;    /* they have left A by this epoch, but for those gripped; 0: no work is waited for */
} kvl_released;

/* A request whose whole output is promised: nothing speculative, full attention, group 0, all streams, no watermark, an
 * account of its own. Nothing is checked yet.
 * Results: none. Cost: O(1). */
kvl_status kvl_admission_full(uint32_t prompt_tokens, uint32_t output_tokens_max, kvl_admission *admission,
                              kvl_refusal *refusal);

/* ---- From open to end ---------------------------------------------------------------------------------------- */

/* A handle, so that everything from here on can be cancelled. It has neither promise nor blocks yet.
 * Results: KVL_FULL when as many are open as the pool was made for. Cost: O(1) while slots are left. */
kvl_status kvl_open(const kvl_pool *pool, kvl_sequence *sequence, kvl_refusal *refusal);
/* Promises an opened sequence the blocks that it may come to need: one decision, A + R + S + promise + watermark <= N.
 * Nothing is taken yet; from now on taking them cannot fail.
 * Results: DRIVEN (opened), REQUEST. Cost: O(1), and O(table_width) with two rows a sequence. */
kvl_status kvl_admit(const kvl_pool *pool, kvl_sequence sequence, const kvl_admission *admission,
                     kvl_admitted *admitted, kvl_refusal *refusal);
/* Closes the sequence's account at once, at any moment, also while another thread drives it: what was left of its
 * promise is everybody's when this returns; its blocks go by kvl_end. Twice is KVL_OK.
 * Results: KVL_STALE after the end. Cost: O(1). */
kvl_status kvl_cancel(const kvl_pool *pool, kvl_sequence sequence, kvl_refusal *refusal);
/* What is left of its promise goes back at once, its blocks when no submitted work can touch them any more; the handle
 * is over. In any state, and after kvl_cancel.
 * Results: KVL_STALE; KVL_BUSY while another thread drives it; TABLE. Cost: O(blocks held). */
kvl_status kvl_end(const kvl_pool *pool, kvl_sequence sequence, kvl_released *released, kvl_refusal *refusal);
/* The same, but the handle stays, opened, to be admitted again with what it had generated in the prompt.
 * Results: DRIVEN (admitted), TABLE. Cost: O(blocks held). */
kvl_status kvl_preempt(const kvl_pool *pool, kvl_sequence sequence, kvl_released *released, kvl_refusal *refusal);
/* Lets other streams touch its blocks too: before work with them is submitted there. Streams that the pool does not
 * have are left out.
 * Results: KVL_ARGUMENT_STREAM if none is left; DRIVEN (admitted). Cost: O(1). */
kvl_status kvl_use_streams(const kvl_pool *pool, kvl_sequence sequence, uint64_t streams, kvl_refusal *refusal);

/* Adds `tokens`: the prompt, whole or in chunks, then what is generated. The blocks that this needs are taken from the
 * promise and appended to the row. Wait-free while no block is needed.
 * Results: DRIVEN (admitted), STEP, TAKEN. Cost: O(1) + O(blocks taken). */
kvl_status kvl_advance(const kvl_pool *pool, kvl_sequence sequence, uint32_t tokens, kvl_advanced *advanced,
                       kvl_refusal *refusal);
/* The same, but blocks beyond the promise are admitted in the same call, above `watermark`.
 * Results: DRIVEN (admitted), STEP; TAKEN, with ROOM in place of KVL_OVER_PROMISE; KVL_ARGUMENT_ACCOUNT if it draws on
 * a shared account. Cost: O(1) + O(blocks taken). */
kvl_status kvl_advance_growing(const kvl_pool *pool, kvl_sequence sequence, uint32_t tokens, uint32_t watermark,
                               kvl_advanced *advanced, kvl_refusal *refusal);
/* kvl_advance for many sequences. A row that is refused does not keep the next from advancing. `answers` and `changed`
 * have `count` entries: the status of each row, and the slots of the `batch->changed` rows that changed.
 * Results: none; of each row, in `answers`, DRIVEN (admitted), STEP, TAKEN. Cost: O(count) + O(blocks taken). */
kvl_status kvl_advance_many(const kvl_pool *pool, const kvl_step *steps, size_t count, uint32_t *answers,
                            uint32_t *changed, kvl_batch *batch, kvl_refusal *refusal);
/* Makes sure that `blocks` entries of the row are in use, without adding tokens: what is missing is taken from the
 * promise, and holes where blocks left count as entries.
 * Results: KVL_ARGUMENT_COUNT for 0; DRIVEN (admitted), TAKEN. Cost: O(1) + O(blocks taken). */
kvl_status kvl_materialize(const kvl_pool *pool, kvl_sequence sequence, uint32_t blocks, kvl_advanced *advanced,
                           kvl_refusal *refusal);
/* Promises `blocks` more, as an admission, above `watermark`.
 * Results: KVL_ARGUMENT_COUNT for 0, _ACCOUNT if it draws on a shared one; DRIVEN (admitted), ROOM. Cost: O(1). */
kvl_status kvl_extend(const kvl_pool *pool, kvl_sequence sequence, uint32_t blocks, uint32_t watermark,
                      kvl_refusal *refusal);
/* Gives back up to `blocks` of what is promised and not taken; `returned` is how many it was.
 * Results: KVL_ARGUMENT_COUNT for 0, _ACCOUNT if it draws on a shared one; DRIVEN (admitted). Cost: O(1). */
kvl_status kvl_shrink(const kvl_pool *pool, kvl_sequence sequence, uint32_t blocks, uint32_t *returned,
                      kvl_refusal *refusal);
/* Moves `blocks` from the safety margin to the promise: A + R + S stays, and the group's quota is needed all the same.
 * Results: KVL_ARGUMENT_COUNT for 0, _ACCOUNT if it draws on a shared one; DRIVEN (admitted); ROOM, of which
 * KVL_WOULD_BLOCK of the pool says that S is smaller, KVL_RETRY_AFTER is the quota's, and KVL_NEVER_FITS does not count
 * S. Cost: O(1). */
kvl_status kvl_draw_safety(const kvl_pool *pool, kvl_sequence sequence, uint32_t blocks, kvl_refusal *refusal);

/* ---- Tokens and blocks that are given back while a sequence runs ---------------------------------------------- */

/* Adds `tokens` proposed tokens: one step computes them all, and kvl_accept says which of them stay. Blocks are taken
 * as by kvl_advance, from a promise that covers them (`speculative_tokens`). Until they are accepted kvl_advance and
 * this are KVL_BUSY.
 * Results: DRIVEN (admitted), STEP, TAKEN. Cost: O(1) + O(blocks taken). */
kvl_status kvl_speculate(const kvl_pool *pool, kvl_sequence sequence, uint32_t tokens, kvl_advanced *advanced,
                         kvl_refusal *refusal);
/* The first `tokens` of the proposed tokens stay, the others never were. Blocks that only those needed stay attached
 * for the next step; with `give_back` not 0 they come back to the sequence's promise, at once or when work in flight is
 * over: A + R never rises.
 * Results: DRIVEN (admitted); KVL_ARGUMENT_SEQUENCE too if nothing was proposed, _TOKENS for more than was; if blocks
 * are given back, ROWS and TABLE. Cost: O(1) + O(blocks given back). */
kvl_status kvl_accept(const kvl_pool *pool, kvl_sequence sequence, uint32_t tokens, uint32_t give_back,
                      kvl_released *released, kvl_refusal *refusal);

/* Gives up `count` blocks by their ids: each loses this sequence as its holder, once, and its entry of the row is the
 * null block from now on. Full blocks of accepted tokens only. The promise stays as it is.
 * Results: DRIVEN (admitted); KVL_ARGUMENT_BLOCK for an id that is none of these, or is named more often than it is
 * there; KVL_BUSY if a copy that was not submitted is to write one of them; ROWS, TABLE. Cost: O(count * (count +
 * entries)). */
kvl_status kvl_release_blocks(const kvl_pool *pool, kvl_sequence sequence, const uint32_t *blocks, size_t count,
                              kvl_released *released, kvl_refusal *refusal);
/* The same for the blocks of the tokens `from` .. `to`, `to` not included, counted from the sequence's first: both are
 * multiples of block_tokens. What has left the window already is passed over.
 * Results: DRIVEN (admitted); KVL_ARGUMENT_BLOCK for a block covered in part, an empty range, or one that ends
 * behind the last full block; KVL_BUSY if a copy that was not submitted is to write one of them; ROWS, TABLE.
 * Cost: O(blocks). */
kvl_status kvl_release_tokens(const kvl_pool *pool, kvl_sequence sequence, uint32_t from, uint32_t to,
                              kvl_released *released, kvl_refusal *refusal);
/* Forgets what comes after the first `tokens` tokens, whole blocks of them: because another pool or rank has fewer
 * cached, or to go on from an earlier point. Blocks behind them lose this sequence as their holder; what is to follow
 * has to be promised (kvl_extend).
 * Results: DRIVEN (admitted); KVL_ARGUMENT_TOKENS for more than it has, or fewer that are no multiple of block_tokens
 * or less than what has left its window; KVL_BUSY for unaccepted tokens or a copy that was not submitted; ROWS, TABLE.
 * Cost: O(entries). */
kvl_status kvl_trim(const kvl_pool *pool, kvl_sequence sequence, uint32_t tokens, kvl_released *released,
                    kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
