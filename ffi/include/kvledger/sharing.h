/* Blocks that several requests share: by the names of their prefixes, or because one goes on from another. Part of
 * kvledger.h.
 *
 *   kvl_identity_key_chain -> kvl_prefix_of    the names of the full blocks of a prompt
 *   kvl_admit_prefix                           what is found of them is held; computing begins at `cached_tokens`
 *   kvl_advance, kvl_submit, kvl_publish       the blocks that this step writes can be found from now on
 *   kvl_end                                    blocks with names stay, idle, until somebody needs the room
 *
 * A block is found by requests of the trust group that published it only. The pool needs a `cache`; without one nothing
 * is found, and nothing published. */
#ifndef KVLEDGER_SHARING_H
#define KVLEDGER_SHARING_H

#include "answer.h"
#include "identity.h"
#include "pool.h"
#include "sequence.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The beginning of a prompt, by the names of its full blocks. The arrays are read during a call, and not kept. */
typedef struct kvl_prefix {
  size_t size;                    /* KVL_SIZED */
  const kvl_identity *identities; /* from the first block on; for kvl_publish, from the first that is published */
  size_t count;                   /* of the names */
  const uint32_t *tokens;         /* of these blocks, to be compared in a pool with `token_check`; NULL: they are not */
  size_t token_count;             /* 0, or block_tokens for each name */
  uint32_t unfinished;            /* not 0: blocks still being written are hits too, and `after` says until when */
  uint32_t blocks_max;            /* most blocks to take */
} kvl_prefix;

/* Any number of finished blocks, by name alone. The array is not looked at yet. Results: none. Cost: O(1). */
kvl_status kvl_prefix_of(const kvl_identity *identities, size_t count, kvl_prefix *prefix, kvl_refusal *refusal);

/* ---- Finding and publishing ---------------------------------------------------------------------------------- */

typedef struct kvl_found {
  uint32_t blocks; /* from the first on, without a gap */
  uint32_t priced; /* of these, blocks that cost one each: idle ones, and those that come back to a holder */
  uint64_t after;  /* the newest epoch under which one is still being written; 0: all can be read at once */
} kvl_found;

typedef struct kvl_published {
  uint32_t stored; /* blocks that have a name and had none before */
  uint32_t known;  /* of these, second copies: another held block is found under the name until it is let go */
} kvl_published;

/* kvl_admit, with the names of the prompt's full blocks: what is found of them is taken in the same decision and is the
 * beginning of the row; the rest is promised. A block that somebody holds costs nothing, an idle one costs one, and so
 * does one that comes back to its holder. Up to prompt / block_tokens blocks; with a window, the longest prefix of
 * which the blocks in the window are found. Go on computing at token `admitted->cached_tokens`, once `admitted->after`
 * is over.
 * Results: DRIVEN (opened), REQUEST, HITS. Then nothing was evicted or taken, and KVL_RETRY_AFTER does not count blocks
 * of this prefix. Cost: O(count), and O(table_width) with two rows a sequence; when room is lacking, O(count) for each
 * retiring block. */
kvl_status kvl_admit_prefix(const kvl_pool *pool, kvl_sequence sequence, const kvl_admission *admission,
                            const kvl_prefix *prefix, kvl_admitted *admitted, kvl_refusal *refusal);
/* How much of a prefix is there for `group`, with a window of `window_tokens` (0: full attention). No effect, and good
 * for nothing later: the next call may evict it.
 * Results: KVL_ARGUMENT_GROUP; _TOKENS for tokens that are not block_tokens for each name. Cost: O(count). */
kvl_status kvl_lookup(const kvl_pool *pool, uint32_t group, const kvl_prefix *prefix, uint32_t window_tokens,
                      kvl_found *found, kvl_refusal *refusal);

/* Gives names to full blocks of a sequence, from entry `first` of its row on. They are written under `epoch`, of a
 * kvl_submit before this call: until it is over, a hit waits for it or is none, as the asker wants; if it fails, the
 * names die. With `keep` not 0 a block stays, idle, when its last holder leaves; with 0 its name dies then.
 * A name that another block has already: if that one is idle or retiring, this one takes its place; if it is held, it
 * is the one that is found, and both stay with their holders. found[i] is the block found under name i from now on;
 * `found_max` is at least `count`, or 0 if nobody wants to know. Rows never change by it. After a reset, a sequence
 * that was admitted before it publishes nothing: KVL_OK, with nothing stored.
 * Results: KVL_ARGUMENT_CACHE if the pool has none; _TOKENS for tokens that are not block_tokens for each name;
 * _OUTPUT; _EPOCH for one that was not submitted; DRIVEN (admitted); KVL_ARGUMENT_BLOCK (not full, not accepted yet,
 * released, or out of the window), _IDENTITY (a block has another name already); KVL_BUSY for a shared tail that may be
 * written; KVL_STALE too for an epoch that failed, or is over too long ago to know. Then nothing is published.
 * Cost: O(count). */
kvl_status kvl_publish(const kvl_pool *pool, kvl_sequence sequence, uint32_t first, const kvl_prefix *prefix,
                       uint64_t epoch, uint32_t keep, uint32_t *found, size_t found_max, kvl_published *published,
                       kvl_refusal *refusal);
/* Takes back the names of `count` blocks from entry `first` on: the step that was to write them is not launched.
 * `withdrawn` names died. Who has found one meanwhile keeps it, and the caller has to tell him.
 * Results: DRIVEN (admitted); KVL_ARGUMENT_BLOCK beyond the row or out of the window. Cost: O(count). */
kvl_status kvl_withdraw(const kvl_pool *pool, kvl_sequence sequence, uint32_t first, uint32_t count,
                        uint32_t *withdrawn, kvl_refusal *refusal);

/* ---- Keeping and forgetting what is cached ------------------------------------------------------------------- */

/* Holds what is found of a prefix, so that it is not evicted: an opened sequence becomes its holder, and has it in its
 * row. `streams` are those whose work will read it. Priced as hits of kvl_admit_prefix; nothing is promised.
 * Results: KVL_ARGUMENT_GROUP (none of this number, or not that of its admission before), _STREAM (none that there is),
 * _TOKENS (not block_tokens for each name); DRIVEN (opened), ROWS, ROOM. Cost: O(count), and O(table_width) with two
 * rows a sequence; when room is lacking, O(retiring blocks * count). */
kvl_status kvl_pin(const kvl_pool *pool, kvl_sequence sequence, uint32_t group, uint64_t streams,
                   const kvl_prefix *prefix, uint32_t watermark, kvl_admitted *admitted, kvl_refusal *refusal);
/* Lets a pinned prefix go, on which no work was launched: only what others submitted is waited for. The handle stays,
 * opened. (kvl_end lets it go too, and waits for the pin's own streams.)
 * Results: DRIVEN (pinned), TABLE. Cost: O(blocks held). */
kvl_status kvl_unpin(const kvl_pool *pool, kvl_sequence sequence, kvl_released *released, kvl_refusal *refusal);
/* Undoes an admission on whose account nothing was launched: its promise goes back, and what it found is what it was.
 * The handle stays, opened. `released` is what went back.
 * Results: DRIVEN (admitted), TABLE. Cost: O(blocks held). */
kvl_status kvl_withdraw_admission(const kvl_pool *pool, kvl_sequence sequence, kvl_released *released,
                                  kvl_refusal *refusal);

/* Makes up to `blocks` idle blocks free, the first in the order of eviction; `evicted` is how many it was. It makes no
 * room for admissions: idle blocks are room already.
 * Results: KVL_WOULD_BLOCK, KVL_RETRY_AFTER if A + R + S leaves no room even for one, which each of them needs for a
 * moment. Cost: O(blocks evicted), and O(N) for each while another thread has the order. */
kvl_status kvl_evict(const kvl_pool *pool, uint32_t blocks, uint32_t *evicted, kvl_refusal *refusal);
/* Forgets everything that is cached for `group`, whatever work is pending: no admission hits what was published before,
 * sequences admitted before publish nothing any more, and held blocks stay with their holders. One event. It has
 * happened after the first few instructions; the rest tidies.
 * Results: KVL_ARGUMENT_GROUP. Cost: O(N). */
kvl_status kvl_reset(const kvl_pool *pool, uint32_t group, kvl_refusal *refusal);
/* The same for all groups; one event, of group UINT32_MAX. Results: none. Cost: O(N). */
kvl_status kvl_reset_all(const kvl_pool *pool, kvl_refusal *refusal);

/* ---- Forks --------------------------------------------------------------------------------------------------- */

typedef struct kvl_forked {
  uint32_t shared;   /* blocks that each child shares with the parent */
  uint32_t promised; /* in all: to the children, and on blocks that are shared and come back, or are written */
  uint64_t after;    /* the children's work comes after this epoch; 0: at once */
} kvl_forked;

/* A copy to make before a sequence writes to a block that it shared. */
typedef struct kvl_copy {
  uint32_t source;      /* block to read, held until the copy is over; 0: there is no copy to make */
  uint32_t destination; /* block to write: the sequence's own from now on */
  uint32_t slots;       /* tokens to copy, from the first of the block */
  uint64_t after;       /* the copy comes after this epoch; 0: at once */
} kvl_copy;

/* Makes `count` opened sequences children of an admitted one: each shares all blocks that have tokens and may add
 * `output_tokens_max` tokens. An admission for all or none of them, in the parent's group, with its window and streams:
 * each child's own growth, one more if the last block is not full, one for each block that comes back to its holder.
 * Results: DRIVEN, of the parent (admitted) and each child (opened); KVL_ARGUMENT_SEQUENCE too for one that is named
 * twice, _COUNT for no children, _TOKENS for 2^32 and more in all, _ACCOUNT if the parent draws on a shared one, _GROUP
 * for a child that was admitted to another; KVL_BUSY for unaccepted tokens or a copy of the parent that was not
 * submitted; KVL_FULL for a block with 1,023 holders; ROWS, of a child; ROOM. Cost: O(count * (count + blocks)), and
 * O(table_width) for each child with two rows. */
kvl_status kvl_fork(const kvl_pool *pool, kvl_sequence parent, const kvl_sequence *children, size_t count,
                    uint32_t output_tokens_max, uint32_t watermark, kvl_forked *forked, kvl_refusal *refusal);
/* The copy that a sequence has to make before its next step writes, after a kvl_advance with `copies`; zeros if there
 * is none, or it was submitted.
 * Results: DRIVEN (admitted). Cost: O(1). */
kvl_status kvl_copy_order(const kvl_pool *pool, kvl_sequence sequence, kvl_copy *copy, kvl_refusal *refusal);
/* That copy was submitted under `epoch`, on one of the sequence's streams: the source waits for it and no longer for
 * the sequence.
 * Results: KVL_ARGUMENT_EPOCH for one that was not submitted; DRIVEN (admitted); KVL_STALE too if there is no copy to
 * make. Cost: O(1). */
kvl_status kvl_copy_submitted(const kvl_pool *pool, kvl_sequence sequence, uint64_t epoch, kvl_refusal *refusal);

/* ---- Several pools ------------------------------------------------------------------------------------------- */

/* Most pools of one request. */
#define KVL_JOINTS_MAX 16

/* A request in one of the pools: of a target and a draft model, of full and windowed layers, of device and host. */
typedef struct kvl_joint {
  const kvl_pool *pool; /* no two of one request have the same number */
  kvl_sequence sequence;
  const kvl_admission *admission; /* what it asks for there */
  const kvl_prefix *prefix;       /* NULL: nothing is looked for */
} kvl_joint;

/* Admits a request to all of `count` pools or to none, in the order of their numbers: the order of the list is the
 * caller's. Each gives as many cached tokens as the one that has the fewest. `admitted` has `count` entries; after a
 * refusal what is in them means nothing. `refused_at` may be NULL. On refusal it is which joint refused, 0 for
 * KVL_ARGUMENT_COUNT; it is not written when a pointer of the call itself is refused.
 * Results: KVL_ARGUMENT_COUNT for none or more than KVL_JOINTS_MAX, _NUMBER for two pools of one; of the first joint
 * that refuses DRIVEN (opened), REQUEST, HITS. Cost: a few times that of kvl_admit_prefix for each, and O(count^2). */
kvl_status kvl_admit_together(const kvl_joint *joints, size_t count, kvl_admitted *admitted, size_t *refused_at,
                              kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
