/* What a pool says about itself. Part of kvledger.h. */
#ifndef KVLEDGER_OBSERVE_H
#define KVLEDGER_OBSERVE_H

#include "limits.h"
#include "pool.h"
#include "sequence.h"
#include "sized.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One atomic load, always consistent. */
typedef struct kvl_pool_counts {
  uint32_t blocks;              /* N */
  uint32_t committed;           /* A */
  uint32_t promised_and_safety; /* R + S */
  uint32_t headroom;            /* N - A - R - S */
} kvl_pool_counts;

typedef struct kvl_pool_snapshot {
  size_t size;          /* KVL_SIZED */
  uint32_t blocks;      /* N */
  uint32_t committed;   /* A = held + retiring + quarantined when exact */
  uint32_t held;        /* by sequences */
  uint32_t retiring;    /* no holder, submitted work or a transfer may still touch them */
  uint32_t quarantined; /* no holder, and nobody knows when they can be used again */
  uint32_t idle;        /* E: cached, no holder, may be evicted at once */
  uint32_t free;        /* F = N - A - E: free ones, and idle ones whose name has died */
  uint32_t promised;    /* R */
  uint32_t safety;      /* S */
  uint32_t sequences;   /* not ended */
  uint32_t cancelled;   /* of these, cancelled */
  uint32_t exact;       /* 1; or 0: torn, each number was right at some moment of the call */
  uint64_t tokens;
  uint64_t padding_tokens; /* slots of held blocks without a token */
  uint64_t entries;        /* blocks in the rows of all sequences, a shared one in each: `held` if nothing was shared */
  uint64_t newest_epoch;
  uint64_t frontier;
  uint64_t failed_epochs;
  uint64_t release_number;
} kvl_pool_snapshot;

typedef struct kvl_sequence_state {
  size_t size; /* KVL_SIZED */
  uint32_t tokens;
  uint32_t held;     /* its blocks */
  uint32_t entries;  /* of its row in use: its blocks, and those that left its window or were released */
  uint32_t promised; /* the balance of its own account */
  uint32_t group;
  uint32_t row;
  uint64_t row_version;
  uint32_t admitted; /* 1; 0: opened, or pinned, which has blocks and no promise */
  uint32_t cancelled;
} kvl_sequence_state;

typedef struct kvl_group_state {
  size_t size;   /* KVL_SIZED */
  uint32_t used; /* A + R of the group */
  uint32_t quota;
  uint32_t committed; /* A: its blocks, each once */
  uint32_t promised;  /* R: of its sequences, accounts and shared blocks */
  uint32_t idle;      /* E: its cached blocks */
  uint32_t reserved; /* 0 */
} kvl_group_state;

typedef struct kvl_account_state {
  size_t size; /* KVL_SIZED */
  uint32_t total;
  uint32_t balance;
  uint32_t sequences;
  uint32_t reserved; /* 0 */
} kvl_account_state;

#define KVL_FAULT_TEXT_BYTES 64

typedef struct kvl_fault {
  uint32_t invariant; /* 0: all counts agree */
  char what[KVL_FAULT_TEXT_BYTES];
  uint64_t expected;
  uint64_t found;
} kvl_fault;

/* A, R + S and what is left, by one atomic load: always consistent. Wait-free. Results: none. Cost: O(1). */
kvl_status kvl_counts(const kvl_pool *pool, kvl_pool_counts *counts, kvl_refusal *refusal);
/* Changes whenever blocks or promises came back: who was answered KVL_WOULD_BLOCK asks again when it differs from what
 * it was before he asked. Wait-free.
 * Results: none. Cost: O(1). */
kvl_status kvl_release_number(const kvl_pool *pool, uint64_t *number, kvl_refusal *refusal);
/* Everything, read until nothing changed meanwhile, two to five times.
 * Results: none. Cost: O(sequences), and O(N) once blocks were shared, windowed or held by a transfer. */
kvl_status kvl_snapshot(const kvl_pool *pool, kvl_pool_snapshot *snapshot, kvl_refusal *refusal);
/* 1 if A + R + S <= N and, if it is exact, the parts of A add up; else 0. What was read is checked, not the pool.
 * Results: none. Cost: O(1). */
kvl_status kvl_snapshot_holds(const kvl_pool_snapshot *snapshot, uint32_t *holds, kvl_refusal *refusal);
/* What one sequence has; torn if its driver is at work. Results: KVL_STALE. Cost: O(1). */
kvl_status kvl_sequence_snapshot(const kvl_pool *pool, kvl_sequence sequence, kvl_sequence_state *snapshot,
                                 kvl_refusal *refusal);
/* What one trust group holds, is promised and has cached. `used` and `quota` are one load; the parts are torn if calls
 * are in progress.
 * Results: KVL_ARGUMENT_GROUP. Cost: O(sequences + accounts), and O(N) once blocks were shared, windowed or held by a
 * transfer. */
kvl_status kvl_group_snapshot(const kvl_pool *pool, uint32_t group, kvl_group_state *snapshot,
                              kvl_refusal *refusal);
/* What one shared account has. Results: KVL_STALE. Cost: O(1). */
kvl_status kvl_account_snapshot(const kvl_pool *pool, kvl_account account, kvl_account_state *snapshot,
                                kvl_refusal *refusal);
/* Compares every count with every other. A fault is a finding: the status is KVL_OK, and fault->invariant is not 0.
 * Results: none. Threads: at rest, while no other call is in progress; else it may find what is no fault. Cost: O(N +
 * entries of all rows + accounts * sequences), slow on purpose. */
kvl_status kvl_validate(const kvl_pool *pool, kvl_fault *fault, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
