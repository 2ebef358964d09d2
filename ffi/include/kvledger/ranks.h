/* Ranks: several processes, each with a pool of its own, that run one model together and must admit the same requests,
 * or they wait for each other in the next collective operation for ever. Part of kvledger.h.
 *
 *   coordinator: numbers a kvl_proposal          and sends it to all; how messages travel is the caller's
 *   each rank:   kvl_rank_vote                   a yes reserves the worst case in its own pool
 *   coordinator: kvl_decide                      all say yes, or nobody admits
 *   each rank:   kvl_rank_commit, kvl_rank_abort carries it out
 *
 * One number is agreed at a time. Messages may be lost, repeated and late; who lacks an answer sends again:
 *
 *   number                    kvl_rank_vote          kvl_rank_commit, kvl_rank_abort
 *   next, voted on            the same vote again    carried out
 *   the newest decided        KVL_STALE              the same decision: KVL_OK, the other one: KVL_STALE
 *   older                     KVL_STALE              KVL_STALE
 *   newer than next           KVL_BUSY               commit: KVL_STALE, abort: KVL_BUSY
 *
 * Votes, decisions and digests are plain data without pointers: they may be sent between machines of one byte order. */
#ifndef KVLEDGER_RANKS_H
#define KVLEDGER_RANKS_H

#include "answer.h"
#include "identity.h"
#include "pool.h"
#include "sequence.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kvl_proposal {
  uint64_t number;                /* one more than the last that was decided; the first is 1 */
  const kvl_admission *admission; /* equal on all ranks; without a shared account, which means nothing elsewhere */
  uint32_t cached_tokens_max;     /* most tokens whose blocks may come out of caches; 0: compute everything */
} kvl_proposal;

typedef struct kvl_vote {
  uint64_t number;        /* of the proposal; 0: no vote */
  uint32_t rank;
  uint32_t needed;        /* blocks, what is cached included */
  uint32_t cached_tokens; /* tokens whose blocks this rank has cached and keeps until the decision */
  uint32_t headroom;      /* of this rank, before it reserved anything */
  kvl_refusal refusal;    /* code KVL_OK: yes. Otherwise why not; never KVL_RETRY_AFTER */
  uint64_t after;         /* the rank's own epoch by which it will have what it lacks; 0: nobody knows */
} kvl_vote;

typedef struct kvl_decision {
  uint64_t number;
  uint32_t commit;        /* 1: all admit it; 0: none does */
  uint32_t cached_tokens; /* cached on every rank */
  uint32_t headroom;      /* the least of any rank: what they have together; UINT32_MAX without votes */
  uint32_t reserved;      /* 0: decisions are sent, and no byte of them is padding */
  kvl_refusal refusal;    /* why not: the one that will last longest. Code KVL_OK without a commit: a vote is missing */
} kvl_decision;

/* Decides proposal `number` of `ranks` ranks by their votes, in the order of the ranks. What stands at another's place,
 * is a vote on another number, or has a refusal that is none, is no vote, and without the yes of every rank nobody
 * admits. Ranks that need different numbers of blocks have different block sizes: the decision's refusal is KVL_INVALID
 * with KVL_ARGUMENT_BLOCK_TOKENS.
 * Results: none. Cost: O(count). */
kvl_status kvl_decide(uint64_t number, uint32_t ranks, const kvl_vote *votes, size_t count, kvl_decision *decision,
                      kvl_refusal *refusal);
/* N of a group of ranks of which one hands out ids for all: the least of `blocks`.
 * Results: KVL_ARGUMENT_COUNT without ranks. Cost: O(count). */
kvl_status kvl_blocks_in_common(const uint32_t *blocks, size_t count, uint32_t *common, kvl_refusal *refusal);

/* ---- One rank ------------------------------------------------------------------------------------------------ */

#define KVL_RANK_BYTES 4608

/* The state of one rank: at most one vote whose decision has not come. One thread drives it. Written by kvl_rank_new;
 * change it by calls only, and do not go on with a copy from before a call. */
typedef struct kvl_rank {
  uint64_t opaque[KVL_RANK_BYTES / 8];
} kvl_rank;

/* Rank `rank_number`, from 0, with its own pool, in a group that has decided everything up to `number`: 0 at the start.
 * Results: none. Cost: O(1). */
kvl_status kvl_rank_new(const kvl_pool *pool, uint32_t rank_number, uint64_t number, kvl_rank *rank,
                        kvl_refusal *refusal);
/* The newest number that was decided. Results: none. Cost: O(1). */
kvl_status kvl_rank_number(const kvl_rank *rank, uint64_t *number, kvl_refusal *refusal);
/* The vote whose decision has not come: what to send again, and to ask about; zeros if there is none.
 * Results: none. Cost: O(1). */
kvl_status kvl_rank_outstanding(const kvl_rank *rank, kvl_vote *vote, kvl_refusal *refusal);
/* Votes on a proposal. With a yes `sequence`, which is opened, is admitted for the worst case, that nothing is cached
 * on some other rank; nobody may use it before the commit. The names are those of the prompt's full blocks. A request
 * that cannot be admitted is a no, whatever the reason, and waits for its decision too.
 * Results: KVL_STALE, KVL_BUSY as in the table; KVL_ARGUMENT_SEQUENCE if the number was voted on with another proposal
 * or sequence, _PROMISE for one of neither kind. Then nothing happened. Cost: as kvl_admit_prefix. */
kvl_status kvl_rank_vote(kvl_rank *rank, kvl_sequence sequence, const kvl_proposal *proposal,
                         const kvl_identity *identities, size_t count, kvl_vote *vote, kvl_refusal *refusal);
/* All said yes: the sequence is admitted, with `cached_tokens` tokens that need not be computed, the decision's. If it
 * was cancelled or ended since the vote, that is decided all the same.
 * Results: KVL_STALE as in the table, and if the vote was no; KVL_ARGUMENT_TOKENS for more tokens than the vote said,
 * or for a number that no rank can have found. If something was found: KVL_BUSY while another thread drives the
 * sequence, KVL_ARGUMENT_SEQUENCE if it was preempted since the vote, and KVL_CORRUPT, KVL_PLACE_TABLE as kvl_trim.
 * Nothing is decided then: say it again. Cost: O(entries that were found). */
kvl_status kvl_rank_commit(kvl_rank *rank, uint64_t number, uint32_t cached_tokens, kvl_refusal *refusal);
/* Not all said yes: what the vote reserved goes back, and the sequence is opened again. Also for a proposal that never
 * came here.
 * Results: KVL_STALE, KVL_BUSY as in the table, KVL_BUSY also while another thread drives the sequence: nothing
 * happened; TABLE: it is decided. Cost: O(blocks that were reserved). */
kvl_status kvl_rank_abort(kvl_rank *rank, uint64_t number, kvl_refusal *refusal);

/* ---- Drift --------------------------------------------------------------------------------------------------- */

/* What decisions have made of a pool: the same on all ranks. */
typedef struct kvl_digest {
  uint64_t number;   /* the newest that was decided */
  uint64_t held;     /* blocks in the rows of all sequences, a shared one in each */
  uint64_t promised; /* R */
  uint64_t safety;   /* S */
} kvl_digest;

/* The first in which two digests differ. */
enum {
  KVL_DIFFERENCE_NUMBER = 1, /* one has carried out more decisions: nothing else can be compared yet */
  KVL_DIFFERENCE_HELD = 2,   /* one has advanced, ended or preempted what the other has not */
  KVL_DIFFERENCE_PROMISED = 3,
  KVL_DIFFERENCE_SAFETY = 4
};

/* What decisions have made of this rank's pool, without what an outstanding vote has reserved. Right while nobody else
 * uses the pool.
 * Results: none. Cost: as kvl_snapshot. */
kvl_status kvl_rank_digest(const kvl_rank *rank, kvl_digest *digest, kvl_refusal *refusal);
/* KVL_DIFFERENCE_, or 0 if they are equal. Results: none. Cost: O(1). */
kvl_status kvl_digest_difference(const kvl_digest *one, const kvl_digest *other, uint32_t *difference,
                                 kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
