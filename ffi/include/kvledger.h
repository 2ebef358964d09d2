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
 * Conventions:
 *
 *   Status    Every function returns one: KVL_OK, or the number of the refusal. A refused call has changed nothing.
 *   Outputs   come last but for `refusal`, and are written on success only.
 *   refusal   is written on refusal only: the status again, and its details. It may be NULL; no other pointer may
 *             (KVL_INVALID, KVL_ARGUMENT_POINTER).
 *   Pointers  are aligned for their type, valid for the call, and do not overlap.
 *   Memory    is the caller's; nothing has to be freed. Blocks are named by id, 1..N; id 0 is the null block.
 *   Threads   Every function may be called from any thread at any time, but: one sequence is driven by one thread at a
 *             time (a second one is answered KVL_BUSY), except for kvl_cancel. A kvl_budget is the caller's to guard,
 *             and a kvl_free_cursor one thread's.
 *   Handles   are values. One that is over, repeated or of another pool is answered KVL_STALE, with no effect.
 *   Reserved  Numbers are never used again for something else.
 *
 * The answers are in kvledger/answer.h, the arithmetic of planning in kvledger/plan.h, and the free list by itself in
 * kvledger/free_blocks.h: this header includes them.
 *
 * What each operation does, in full, with every refusal that it answers, is in the documentation of kvledger-core: the
 * functions here have the names of its methods. */
#ifndef KVLEDGER_H
#define KVLEDGER_H

#include "kvledger/answer.h"
#include "kvledger/free_blocks.h"
#include "kvledger/identity.h"
#include "kvledger/plan.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A pool -------------------------------------------------------------------------------------------------- */

typedef struct kvl_pool_config {
  uint32_t number;       /* in every handle: one of another pool is stale */
  uint32_t blocks;       /* N, 1 .. 2^31 - 2; device memory has one more, the null block */
  uint32_t safety;       /* S, below N */
  uint32_t block_tokens; /* B */
  uint32_t sequences;    /* open at once, 1 .. 2^20 */
  uint32_t table_width;  /* blocks that one sequence may hold, 1 .. N */
  uint32_t rows;         /* 1, or 2 used in turn when a device reads rows in place */
  uint32_t accounts;     /* shared accounts open at once, 0 .. 2^20 */
  uint32_t groups;       /* trust groups, 1 .. 2^20 */
  uint32_t streams;      /* 1 .. 64 */
  uint32_t epochs;       /* outstanding a stream, 1 .. 65536 */
} kvl_pool_config;

/* Bytes that a pool's memory is aligned to. */
#define KVL_MEMORY_ALIGN 64
#define KVL_POOL_BYTES 2048

/* A view of a pool for this process: written by kvl_init or kvl_attach, then only read. It may be copied, and used from
 * any thread. The pool itself is in the caller's memory and has no addresses inside. */
typedef struct kvl_pool {
  uint64_t opaque[KVL_POOL_BYTES / 8];
} kvl_pool;

/* No safety margin, one row a sequence, no shared accounts, one group, one stream of 64 epochs. */
kvl_status kvl_config_new(uint32_t blocks, uint32_t block_tokens, uint32_t sequences, uint32_t table_width,
                          kvl_pool_config *config, kvl_refusal *refusal);
kvl_status kvl_config_check(const kvl_pool_config *config, kvl_refusal *refusal);
kvl_status kvl_config_bytes(const kvl_pool_config *config, size_t *bytes, kvl_refusal *refusal);
kvl_status kvl_config_table_entries(const kvl_pool_config *config, size_t *entries, kvl_refusal *refusal);

/* `memory` is aligned to KVL_MEMORY_ALIGN. Both are overwritten, and the pool's alone from then on. */
kvl_status kvl_init(void *memory, size_t memory_bytes, uint32_t *table, size_t table_entries,
                    const kvl_pool_config *config, kvl_pool *pool, kvl_refusal *refusal);
/* A view of a pool that was initialized in memory shared with this process, mapped at any address. */
kvl_status kvl_attach(void *memory, size_t memory_bytes, uint32_t *table, size_t table_entries, kvl_pool *pool,
                      kvl_refusal *refusal);
kvl_status kvl_config(const kvl_pool *pool, kvl_pool_config *config, kvl_refusal *refusal);

/* ---- A sequence ---------------------------------------------------------------------------------------------- */

/* A zeroed handle is stale. */
typedef struct kvl_sequence {
  uint32_t slot;
  uint32_t pool;
  uint64_t generation;
} kvl_sequence;

/* Zeroed: no shared account. */
typedef struct kvl_account {
  uint32_t slot;
  uint32_t pool;
  uint64_t generation;
} kvl_account;

enum { KVL_PROMISE_FULL = 0, KVL_PROMISE_BLOCKS = 1 };

/* Sets of streams, one bit each: all of them, or one (empty if there is no such stream); joined by |. */
#define KVL_STREAMS_ALL UINT64_MAX
#define KVL_STREAMS_ONE(stream) ((uint32_t)(stream) < 64 ? UINT64_C(1) << ((uint32_t)(stream) & 63) : UINT64_C(0))

typedef struct kvl_admission {
  uint32_t prompt_tokens;     /* there already, at least 1 */
  uint32_t output_tokens_max; /* a hard maximum */
  uint32_t promise;           /* KVL_PROMISE_FULL, or KVL_PROMISE_BLOCKS: promise_blocks in all */
  uint32_t promise_blocks;    /* 0 with KVL_PROMISE_FULL */
  uint32_t group;             /* trust group */
  uint32_t watermark;         /* blocks that must stay uncommitted besides S */
  uint64_t streams;           /* whose work will touch the blocks: KVL_STREAMS_ALL is always right */
  kvl_account account;        /* to draw from, or zeros */
} kvl_admission;

typedef struct kvl_admitted {
  uint32_t promised;
} kvl_admitted;

typedef struct kvl_advanced {
  uint32_t taken; /* blocks taken by this call: the last ones of the row */
  uint32_t held;  /* blocks held now */
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
  uint64_t retry_after; /* by this epoch every row that was answered KVL_RETRY_AFTER may try again; 0 if none was */
} kvl_batch;

typedef struct kvl_released {
  uint32_t promised; /* promised blocks that went back at once */
  uint32_t free;     /* blocks that are free now */
  uint32_t retiring; /* blocks that submitted work may still touch */
  uint64_t after;    /* free by this epoch; 0 if none is retiring */
} kvl_released;

/* The whole output is promised; group 0, all streams, no watermark, an account of its own. */
kvl_status kvl_admission_full(uint32_t prompt_tokens, uint32_t output_tokens_max, kvl_admission *admission,
                              kvl_refusal *refusal);

kvl_status kvl_open(const kvl_pool *pool, kvl_sequence *sequence, kvl_refusal *refusal);
kvl_status kvl_admit(const kvl_pool *pool, kvl_sequence sequence, const kvl_admission *admission,
                     kvl_admitted *admitted, kvl_refusal *refusal);
kvl_status kvl_cancel(const kvl_pool *pool, kvl_sequence sequence, kvl_refusal *refusal);
kvl_status kvl_end(const kvl_pool *pool, kvl_sequence sequence, kvl_released *released, kvl_refusal *refusal);
kvl_status kvl_preempt(const kvl_pool *pool, kvl_sequence sequence, kvl_released *released, kvl_refusal *refusal);
kvl_status kvl_use_streams(const kvl_pool *pool, kvl_sequence sequence, uint64_t streams, kvl_refusal *refusal);

kvl_status kvl_advance(const kvl_pool *pool, kvl_sequence sequence, uint32_t tokens, kvl_advanced *advanced,
                       kvl_refusal *refusal);
kvl_status kvl_advance_growing(const kvl_pool *pool, kvl_sequence sequence, uint32_t tokens, uint32_t watermark,
                               kvl_advanced *advanced, kvl_refusal *refusal);
/* `answers` and `changed` have `count` entries: the status of each row, and the slots whose row changed. */
kvl_status kvl_advance_many(const kvl_pool *pool, const kvl_step *steps, size_t count, uint32_t *answers,
                            uint32_t *changed, kvl_batch *batch, kvl_refusal *refusal);
kvl_status kvl_materialize(const kvl_pool *pool, kvl_sequence sequence, uint32_t blocks, kvl_advanced *advanced,
                           kvl_refusal *refusal);
kvl_status kvl_extend(const kvl_pool *pool, kvl_sequence sequence, uint32_t blocks, uint32_t watermark,
                      kvl_refusal *refusal);
kvl_status kvl_shrink(const kvl_pool *pool, kvl_sequence sequence, uint32_t blocks, uint32_t *returned,
                      kvl_refusal *refusal);
kvl_status kvl_draw_safety(const kvl_pool *pool, kvl_sequence sequence, uint32_t blocks, kvl_refusal *refusal);

/* ---- Rows: what kernels read --------------------------------------------------------------------------------- */

typedef struct kvl_row_view {
  uint32_t row;     /* its entries begin at row * table_width */
  uint32_t blocks;  /* entries that are blocks */
  uint32_t tokens;  /* tokens in these blocks */
  uint64_t version; /* changes whenever the row did */
} kvl_row_view;

kvl_status kvl_row(const kvl_pool *pool, kvl_sequence sequence, kvl_row_view *row, kvl_refusal *refusal);
kvl_status kvl_launch_row(const kvl_pool *pool, kvl_sequence sequence, uint64_t epoch, kvl_row_view *row,
                          kvl_refusal *refusal);
kvl_status kvl_export_row(const kvl_pool *pool, kvl_sequence sequence, uint32_t *blocks, size_t blocks_max,
                          uint32_t *count, kvl_refusal *refusal);
/* `indptr` has sequence_count + 1 entries, `last_block_tokens` sequence_count; `count` is the indices used. */
kvl_status kvl_export_csr(const kvl_pool *pool, const kvl_sequence *sequences, size_t sequence_count, uint32_t *indptr,
                          uint32_t *indices, size_t indices_max, uint32_t *last_block_tokens, uint32_t *count,
                          kvl_refusal *refusal);

/* ---- Epochs -------------------------------------------------------------------------------------------------- */

kvl_status kvl_submit(const kvl_pool *pool, uint32_t stream, uint64_t *epoch, kvl_refusal *refusal);
kvl_status kvl_complete(const kvl_pool *pool, uint32_t stream, uint64_t epoch, uint32_t failed, uint64_t *frontier,
                        kvl_refusal *refusal);
kvl_status kvl_abandon(const kvl_pool *pool, uint32_t stream, uint64_t *frontier, kvl_refusal *refusal);
kvl_status kvl_frontier(const kvl_pool *pool, uint64_t *frontier, kvl_refusal *refusal);
kvl_status kvl_newest_epoch(const kvl_pool *pool, uint64_t *newest, kvl_refusal *refusal);
kvl_status kvl_reclaim(const kvl_pool *pool, uint32_t blocks_max, uint32_t *freed, kvl_refusal *refusal);

/* ---- Limits and shared accounts ------------------------------------------------------------------------------ */

kvl_status kvl_set_safety(const kvl_pool *pool, uint32_t blocks, kvl_refusal *refusal);
kvl_status kvl_set_quota(const kvl_pool *pool, uint32_t group, uint32_t blocks, kvl_refusal *refusal);
kvl_status kvl_open_account(const kvl_pool *pool, uint32_t group, uint32_t total, uint32_t watermark,
                            kvl_account *account, kvl_refusal *refusal);
kvl_status kvl_set_account_total(const kvl_pool *pool, kvl_account account, uint32_t total, kvl_refusal *refusal);
kvl_status kvl_close_account(const kvl_pool *pool, kvl_account account, kvl_refusal *refusal);

/* ---- What the pool says about itself ------------------------------------------------------------------------- */

/* One atomic load, always consistent. */
typedef struct kvl_pool_counts {
  uint32_t blocks;              /* N */
  uint32_t committed;           /* A */
  uint32_t promised_and_safety; /* R + S */
  uint32_t headroom;            /* N - A - R - S */
} kvl_pool_counts;

typedef struct kvl_pool_snapshot {
  uint32_t blocks;      /* N */
  uint32_t committed;   /* A = held + retiring + quarantined when exact */
  uint32_t held;        /* by sequences */
  uint32_t retiring;    /* no holder, submitted work may still touch them */
  uint32_t quarantined; /* out of circulation */
  uint32_t idle;        /* E */
  uint32_t free;        /* F = N - A - E */
  uint32_t promised;    /* R */
  uint32_t safety;      /* S */
  uint32_t sequences;   /* not ended */
  uint32_t cancelled;   /* of these, cancelled */
  uint64_t tokens;
  uint64_t padding_tokens; /* slots of held blocks without a token */
  uint64_t newest_epoch;
  uint64_t frontier;
  uint64_t failed_epochs;
  uint64_t release_number;
  uint32_t exact; /* 1; or 0: torn, each number was right at some moment of the call */
} kvl_pool_snapshot;

typedef struct kvl_sequence_state {
  uint32_t tokens;
  uint32_t held;
  uint32_t promised;
  uint32_t group;
  uint32_t row;
  uint64_t row_version;
  uint32_t admitted;
  uint32_t cancelled;
} kvl_sequence_state;

typedef struct kvl_group_state {
  uint32_t used; /* A + R of the group */
  uint32_t quota;
} kvl_group_state;

typedef struct kvl_account_state {
  uint32_t total;
  uint32_t balance;
  uint32_t sequences;
} kvl_account_state;

#define KVL_FAULT_TEXT_BYTES 64

typedef struct kvl_fault {
  uint32_t invariant; /* 0: all counts agree */
  char what[KVL_FAULT_TEXT_BYTES];
  uint64_t expected;
  uint64_t found;
} kvl_fault;

kvl_status kvl_counts(const kvl_pool *pool, kvl_pool_counts *counts, kvl_refusal *refusal);
kvl_status kvl_release_number(const kvl_pool *pool, uint64_t *number, kvl_refusal *refusal);
kvl_status kvl_snapshot(const kvl_pool *pool, kvl_pool_snapshot *snapshot, kvl_refusal *refusal);
/* 1 if A + R + S <= N and, if it is exact, the parts of A add up; else 0. What was read is checked, not the pool. */
kvl_status kvl_snapshot_holds(const kvl_pool_snapshot *snapshot, uint32_t *holds, kvl_refusal *refusal);
kvl_status kvl_sequence_snapshot(const kvl_pool *pool, kvl_sequence sequence, kvl_sequence_state *snapshot,
                                 kvl_refusal *refusal);
kvl_status kvl_group_snapshot(const kvl_pool *pool, uint32_t group, kvl_group_state *snapshot,
                              kvl_refusal *refusal);
kvl_status kvl_account_snapshot(const kvl_pool *pool, kvl_account account, kvl_account_state *snapshot,
                                kvl_refusal *refusal);
/* Compares every count with every other, at rest: while no other call is in progress. Slow on purpose. A fault is a
 * finding: the status is KVL_OK, and fault->invariant is not 0. */
kvl_status kvl_validate(const kvl_pool *pool, kvl_fault *fault, kvl_refusal *refusal);

/* ---- The flight recorder: what a handle was asked and what it answered ---------------------------------------- *
 *
 *   kvl_pool recording;                           one for each thread, with a ring of its own
 *   kvl_recording(&pool, ring, sizeof ring, &recording, NULL);
 *   ...                                           calls through `recording` that may change something are recorded
 *   fwrite(ring, sizeof ring, 1, file);           the ring is the dump: from a signal handler or a core file, too
 *
 * `kvledger rerun FILE` lists a dump, and makes its calls again on a fresh pool to compare answers and block ids. */

typedef struct kvl_ring_state {
  uint64_t written;    /* words that were ever written */
  uint64_t capacity;   /* words that it holds: what was written before the last so many is gone */
  uint64_t lost;       /* calls not recorded: another thread had the ring, or the batch was too long for it */
  uint64_t dump_words; /* words of kvl_dump */
} kvl_ring_state;

/* The same pool through a handle that records in `ring`, which is aligned to KVL_MEMORY_ALIGN, at least 15 lines of
 * 64 bytes, and the handle's alone from then on. A call costs two locked instructions more and a store for each word of
 * its record: 2 to 12 words; for a batch half a word a row, or three if a row was refused (a batch of more rows than a
 * third of the ring's words is not recorded). A call that finds the ring in use by another thread is made all the same,
 * and counted as lost. KVL_INVALID: KVL_ARGUMENT_MEMORY if the ring is too small or not aligned, KVL_ARGUMENT_POINTER if
 * it is NULL. Threads: any. Cost: O(ring + sequences + groups). */
kvl_status kvl_recording(const kvl_pool *pool, void *ring, size_t ring_bytes, kvl_pool *recording,
                         kvl_refusal *refusal);
/* What the ring of this handle has in it; zeros without one. */
kvl_status kvl_ring(const kvl_pool *pool, kvl_ring_state *state, kvl_refusal *refusal);
/* Copies the ring of this handle, as it is in memory: `count` words. KVL_BUSY while another thread is in a call with this
 * handle; KVL_INVALID, KVL_ARGUMENT_OUTPUT if `words_max` is below `dump_words` or the handle has no ring. */
kvl_status kvl_dump(const kvl_pool *pool, uint64_t *words, size_t words_max, size_t *count, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
