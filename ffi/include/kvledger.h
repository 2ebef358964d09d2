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
 *             time (a second one is answered KVL_BUSY), except for kvl_cancel. A kvl_budget is the caller's to guard.
 *   Handles   are values. One that is over, repeated or of another pool is answered KVL_STALE, with no effect.
 *   Reserved  Numbers are never used again for something else.
 *
 * What each operation does, in full, with every refusal that it answers, is in the documentation of kvledger-core: the
 * functions here have the names of its methods. */
#ifndef KVLEDGER_H
#define KVLEDGER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Answers ------------------------------------------------------------------------------------------------- */

typedef uint32_t kvl_status;

enum {
  KVL_OK = 0,
  KVL_WOULD_BLOCK = 1,  /* not now: ask again when kvl_release_number has changed */
  KVL_RETRY_AFTER = 2,  /* not now, but once the frontier has reached `after` */
  KVL_NEVER_FITS = 3,   /* not in this pool, as it is set now */
  KVL_OVER_PROMISE = 4, /* beyond what was promised */
  KVL_CANCELLED = 5,    /* end the sequence */
  KVL_STALE = 6,        /* handle, epoch or stream over, repeated or foreign */
  KVL_INVALID = 7,      /* an argument is wrong: `argument` says which */
  KVL_FULL = 8,         /* no free slot */
  KVL_BUSY = 9,         /* another thread drives it, or it is in flight: later */
  KVL_CORRUPT = 10      /* memory was changed under the pool: `place` says where */
};

enum { KVL_SCOPE_POOL = 0, KVL_SCOPE_GROUP = 1 };

enum { KVL_PLACE_TABLE = 1, KVL_PLACE_BLOCK = 2, KVL_PLACE_FREE_LIST = 3 };

enum {
  KVL_ARGUMENT_MEMORY = 1,
  KVL_ARGUMENT_TABLE = 2,
  KVL_ARGUMENT_BLOCKS = 3,
  KVL_ARGUMENT_SAFETY = 4,
  KVL_ARGUMENT_BLOCK_TOKENS = 5,
  KVL_ARGUMENT_SEQUENCES = 6,
  KVL_ARGUMENT_TABLE_WIDTH = 7,
  KVL_ARGUMENT_ACCOUNTS = 8,
  KVL_ARGUMENT_GROUPS = 9,
  KVL_ARGUMENT_STREAMS = 10,
  KVL_ARGUMENT_EPOCHS = 11,
  KVL_ARGUMENT_ROWS = 12,
  KVL_ARGUMENT_GROUP = 13,
  KVL_ARGUMENT_STREAM = 14,
  KVL_ARGUMENT_TOKENS = 15,
  KVL_ARGUMENT_COUNT = 16,
  KVL_ARGUMENT_SEQUENCE = 17,
  KVL_ARGUMENT_ACCOUNT = 18,
  KVL_ARGUMENT_OUTPUT = 19,
  KVL_ARGUMENT_HEADER = 20,
  KVL_ARGUMENT_POINTER = 21,
  KVL_ARGUMENT_GEOMETRY = 22,
  KVL_ARGUMENT_OVERFLOW = 23,
  KVL_ARGUMENT_LENGTH = 24,
  KVL_ARGUMENT_BUDGET = 25,
  KVL_ARGUMENT_EPOCH = 26
};

/* Fields that an answer does not have are 0. */
typedef struct kvl_refusal {
  kvl_status code;
  uint32_t argument;    /* KVL_INVALID */
  uint32_t scope;       /* KVL_WOULD_BLOCK: the resource that refused */
  uint32_t place;       /* KVL_CORRUPT */
  uint32_t short_by;    /* KVL_WOULD_BLOCK, KVL_OVER_PROMISE: blocks missing */
  uint32_t reclaimable; /* KVL_RETRY_AFTER: blocks that will have come back */
  uint32_t needed;      /* KVL_NEVER_FITS: blocks at the request's peak */
  uint32_t ceiling;     /* KVL_NEVER_FITS: the most that could be given */
  uint64_t after;       /* KVL_RETRY_AFTER: an epoch that is not over yet */
} kvl_refusal;

/* ---- A pool -------------------------------------------------------------------------------------------------- */

typedef struct kvl_pool_config {
  uint32_t number;       /* in every handle; the order in which several pools are admitted to */
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

#define KVL_STREAMS_ALL UINT64_MAX

typedef struct kvl_admission {
  uint32_t prompt_tokens;     /* there already, at least 1 */
  uint32_t output_tokens_max; /* a hard maximum */
  uint32_t promise;           /* KVL_PROMISE_FULL, or KVL_PROMISE_BLOCKS: promise_blocks in all */
  uint32_t promise_blocks;    /* 0 with KVL_PROMISE_FULL */
  uint32_t group;             /* trust group */
  uint32_t watermark;         /* blocks that must stay uncommitted besides S */
  uint64_t streams;           /* whose work will touch the blocks, one bit each, or KVL_STREAMS_ALL */
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
  uint32_t advanced; /* rows that advanced */
  uint32_t refused;  /* rows that were refused */
  uint32_t changed;  /* entries of `changed` that were written */
  uint32_t taken;    /* blocks taken by all rows */
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
  uint32_t exact; /* 0: torn, each number was right at some moment of the call */
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
kvl_status kvl_sequence_snapshot(const kvl_pool *pool, kvl_sequence sequence, kvl_sequence_state *snapshot,
                                 kvl_refusal *refusal);
kvl_status kvl_group_snapshot(const kvl_pool *pool, uint32_t group, kvl_group_state *snapshot,
                              kvl_refusal *refusal);
kvl_status kvl_account_snapshot(const kvl_pool *pool, kvl_account account, kvl_account_state *snapshot,
                                kvl_refusal *refusal);
/* Compares every count with every other, at rest: while no other call is in progress. Slow on purpose. A fault is a
 * finding: the status is KVL_OK, and fault->invariant is not 0. */
kvl_status kvl_validate(const kvl_pool *pool, kvl_fault *fault, kvl_refusal *refusal);

/* ---- Planning: arithmetic before anything exists ------------------------------------------------------------- */

enum {
  KVL_ELEMENT_F32 = 0,
  KVL_ELEMENT_F16 = 1,
  KVL_ELEMENT_BF16 = 2,
  KVL_ELEMENT_E4M3 = 3,
  KVL_ELEMENT_E5M2 = 4,
  KVL_ELEMENT_INT8 = 5,
  KVL_ELEMENT_INT4 = 6
};

/* What one scale of a quantized cache is shared by; keys and values never share one. */
enum {
  KVL_GRAIN_NONE = 0,
  KVL_GRAIN_TOKEN = 1,
  KVL_GRAIN_TOKEN_HEAD = 2,
  KVL_GRAIN_ELEMENT_GROUP = 3,
  KVL_GRAIN_BLOCK = 4,
  KVL_GRAIN_BLOCK_HEAD = 5,
  KVL_GRAIN_BLOCK_CHANNEL = 6
};

typedef struct kvl_geometry {
  uint32_t layers;
  uint32_t kv_heads;
  uint32_t key_dim;
  uint32_t value_dim; /* 0: key and value are one joint latent of key_dim elements */
  uint32_t block_tokens;
  uint32_t block_align_bytes; /* a power of two */
  uint32_t element;           /* KVL_ELEMENT_ */
  uint32_t scale_grain;       /* KVL_GRAIN_ */
  uint32_t scale_bytes;       /* of one scale, its zero point included */
  uint32_t scale_group;       /* elements, with KVL_GRAIN_ELEMENT_GROUP, else 0 */
} kvl_geometry;

kvl_status kvl_element_bits(uint32_t element, uint32_t *bits, kvl_refusal *refusal);
/* Keys and values of one size, no scales, blocks aligned to 16 bytes. */
kvl_status kvl_geometry_new(uint32_t layers, uint32_t kv_heads, uint32_t head_dim, uint32_t block_tokens,
                            uint32_t element, kvl_geometry *geometry, kvl_refusal *refusal);
kvl_status kvl_geometry_check(const kvl_geometry *geometry, kvl_refusal *refusal);
kvl_status kvl_geometry_token_bytes(const kvl_geometry *geometry, uint64_t *bytes, kvl_refusal *refusal);
kvl_status kvl_geometry_block_bytes(const kvl_geometry *geometry, uint64_t *bytes, kvl_refusal *refusal);
kvl_status kvl_geometry_pool_blocks(const kvl_geometry *geometry, uint64_t bytes, uint32_t *blocks,
                                    kvl_refusal *refusal);
/* With the null block: one block more than `blocks`. */
kvl_status kvl_geometry_pool_bytes(const kvl_geometry *geometry, uint32_t blocks, uint64_t *bytes,
                                   kvl_refusal *refusal);
kvl_status kvl_geometry_request_blocks(const kvl_geometry *geometry, uint32_t prompt_tokens,
                                       uint32_t output_tokens_max, uint64_t *blocks, kvl_refusal *refusal);

/* A share with both of its numbers, not reduced. */
typedef struct kvl_ratio {
  uint64_t numerator;
  uint64_t denominator;
} kvl_ratio;

kvl_status kvl_ratio_to_f64(const kvl_ratio *ratio, double *value, kvl_refusal *refusal);

kvl_status kvl_blocks_for(uint64_t tokens, uint32_t block_tokens, uint64_t *blocks, kvl_refusal *refusal);
kvl_status kvl_growth_blocks(uint64_t tokens, uint64_t more_tokens, uint32_t block_tokens, uint64_t *blocks,
                             kvl_refusal *refusal);
kvl_status kvl_paged_slots(const uint32_t *lengths, size_t count, uint32_t block_tokens, uint64_t *slots,
                           kvl_refusal *refusal);
/* Of the allocated slots, those without a token. */
kvl_status kvl_slack(const uint32_t *lengths, size_t count, uint32_t block_tokens, kvl_ratio *share,
                     kvl_refusal *refusal);
/* `requests` of one trust group that share the whole blocks of a prefix. */
kvl_status kvl_group_blocks(uint64_t requests, uint64_t prefix_tokens, uint64_t tokens_max, uint32_t block_tokens,
                            uint64_t *blocks, kvl_refusal *refusal);
kvl_status kvl_group_requests(uint64_t blocks, uint64_t prefix_tokens, uint64_t tokens_max, uint32_t block_tokens,
                              uint64_t *requests, kvl_refusal *refusal);

kvl_status kvl_reserved_slots(uint64_t sequences, uint32_t tokens_max, uint64_t *slots, kvl_refusal *refusal);
kvl_status kvl_used_slots(const uint32_t *lengths, size_t count, uint32_t tokens_max, uint64_t *slots,
                          kvl_refusal *refusal);
/* Of the reserved slots, those without a token. */
kvl_status kvl_waste_fraction(const uint32_t *lengths, size_t count, uint32_t tokens_max, kvl_ratio *share,
                              kvl_refusal *refusal);
kvl_status kvl_extra_reservations(uint64_t pool_slots, uint32_t tokens_max, uint64_t running, uint64_t *reservations,
                                  kvl_refusal *refusal);

/* At most 2^20 trials, independent of one another: requests often are not, and then the truth can be anything. */
kvl_status kvl_binomial_pmf(uint32_t trials, double probability, uint32_t successes, double *mass,
                            kvl_refusal *refusal);
kvl_status kvl_binomial_tail(uint32_t trials, double probability, uint32_t successes, double *tail,
                             kvl_refusal *refusal);
kvl_status kvl_binomial_mean(uint32_t trials, double probability, double *mean, kvl_refusal *refusal);
kvl_status kvl_binomial_variance(uint32_t trials, double probability, double *variance, kvl_refusal *refusal);

/* ---- Device budget ------------------------------------------------------------------------------------------- */

#define KVL_REGIONS 7

enum {
  KVL_REGION_WEIGHTS = 0,
  KVL_REGION_KV_POOL = 1,
  KVL_REGION_WORKSPACE = 2,
  KVL_REGION_GRAPH_CAPTURE = 3,
  KVL_REGION_COMMUNICATION = 4,
  KVL_REGION_RESTORATION = 5,
  KVL_REGION_OUTSIDE = 6
};

typedef struct kvl_usage {
  uint64_t bound;
  uint64_t current;
  uint64_t peak;
} kvl_usage;

/* Written by kvl_budget_new; change it by calls only. */
typedef struct kvl_budget {
  uint64_t device_bytes;
  kvl_usage regions[KVL_REGIONS];
} kvl_budget;

kvl_status kvl_budget_new(uint64_t device_bytes, kvl_budget *budget, kvl_refusal *refusal);
kvl_status kvl_budget_device_bytes(const kvl_budget *budget, uint64_t *bytes, kvl_refusal *refusal);
kvl_status kvl_budget_set_bound(kvl_budget *budget, uint32_t region, uint64_t bytes, kvl_refusal *refusal);
kvl_status kvl_budget_spare_bytes(const kvl_budget *budget, uint64_t *bytes, kvl_refusal *refusal);
kvl_status kvl_budget_take(kvl_budget *budget, uint32_t region, uint64_t bytes, kvl_refusal *refusal);
kvl_status kvl_budget_give_back(kvl_budget *budget, uint32_t region, uint64_t bytes, kvl_refusal *refusal);
/* Records what was measured, and answers by how much it is above the bound. */
kvl_status kvl_budget_observe(kvl_budget *budget, uint32_t region, uint64_t bytes, uint64_t *excess,
                              kvl_refusal *refusal);
kvl_status kvl_budget_usage(const kvl_budget *budget, uint32_t region, kvl_usage *usage, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
