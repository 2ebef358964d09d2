/* What a pool does with others, from C: a transfer that outlives its sequence, an offload, an admission to two pools,
 * ranks that vote, and records of calls.
 *
 *   cc -std=c11 -I ffi/include ffi/tests/elsewhere.c target/capi/dist/libkvledger.a -o elsewhere && ./elsewhere
 */
#include "common/check.h"

static void a_transfer_outlives_its_sequence(const kvl_pool *pool, const kvl_pool *host) {
  kvl_sequence sequence = opened(pool), copy = opened(host);
  kvl_admission admission = full(2 * BLOCK, 0);
  kvl_admitted admitted;
  kvl_advanced advanced;
  kvl_transfer transfer;
  kvl_block_pair pairs[2];
  kvl_offloaded offloaded;
  kvl_pool_counts counts;
  kvl_pool_snapshot snapshot = KVL_SIZED(kvl_pool_snapshot);
  kvl_refusal refusal;
  uint32_t blocks;

  OK(kvl_admit(pool, sequence, &admission, &admitted, NULL));
  OK(kvl_advance(pool, sequence, 2 * BLOCK, &advanced, NULL));
  REQUIRE(kvl_hold(pool, sequence, 0, 2, 2, &transfer, &refusal) == KVL_INVALID);
  REQUIRE(refusal.argument == KVL_ARGUMENT_ACCESS);
  OK(kvl_hold(pool, sequence, 0, 2, KVL_ACCESS_READ, &transfer, NULL));
  ended(pool, sequence);
  OK(kvl_quarantine(pool, transfer, NULL));
  OK(kvl_snapshot(pool, &snapshot, NULL));
  REQUIRE(snapshot.committed == 2 && snapshot.quarantined == 2);
  OK(kvl_revoke(pool, transfer, &blocks, NULL));
  REQUIRE(blocks == 2 && kvl_complete_transfer(pool, transfer, &blocks, NULL) == KVL_STALE);
  at_rest(pool);

  sequence = opened(pool);
  OK(kvl_admit(pool, sequence, &admission, &admitted, NULL));
  OK(kvl_advance(pool, sequence, 2 * BLOCK, &advanced, NULL));
  REQUIRE(kvl_offload(pool, sequence, host, copy, &admission, pairs, 1, &offloaded, NULL) == KVL_INVALID);
  ONES(pairs);
  OK(kvl_offload(pool, sequence, host, copy, &admission, pairs, 2, &offloaded, NULL));
  REQUIRE(offloaded.blocks == 2 && offloaded.released.retiring == 2);
  REQUIRE(pairs[0].source != pairs[1].source && pairs[1].destination >= 1 && pairs[1].destination <= BLOCKS);
  OK(kvl_counts(host, &counts, NULL));
  REQUIRE(counts.committed == 2);
  OK(kvl_complete_transfer(pool, offloaded.transfer, &blocks, NULL));

  REQUIRE(kvl_hold_blocks(host, NULL, 0, KVL_ACCESS_READ, &transfer, &refusal) == KVL_INVALID);
  REQUIRE(refusal.argument == KVL_ARGUMENT_COUNT);
  /* A free block cannot be held by its id; the copy's blocks can. */
  uint32_t free = 1;
  while (free == pairs[0].destination || free == pairs[1].destination) free++;
  REQUIRE(kvl_hold_blocks(host, &free, 1, KVL_ACCESS_READ, &transfer, &refusal) == KVL_INVALID);
  REQUIRE(refusal.argument == KVL_ARGUMENT_BLOCK);
  OK(kvl_hold(host, copy, 0, 2, KVL_ACCESS_READ, &transfer, NULL));
  OK(kvl_complete_transfer(host, transfer, &blocks, NULL));
  OK(kvl_hold_blocks(host, &pairs[0].destination, 1, KVL_ACCESS_WRITE, &transfer, NULL));
  OK(kvl_complete_transfer(host, transfer, &blocks, NULL));
  REQUIRE(blocks == 1);
  ended(pool, sequence);
  ended(host, copy);
  at_rest(pool);
  at_rest(host);
}

static void two_pools_admit_together(const kvl_pool *pool, const kvl_pool *host) {
  kvl_admission admissions[2];
  kvl_joint joints[2];
  kvl_admitted admitted[2];
  kvl_refusal refusal;
  size_t at = 99;
  memset(joints, 0, sizeof joints);
  joints[0].pool = host;
  joints[1].pool = pool;
  for (int i = 0; i < 2; i++) {
    joints[i].sequence = opened(joints[i].pool);
    admissions[i] = full(BLOCK, BLOCK);
    joints[i].admission = &admissions[i];
  }
  admissions[0].output_tokens_max = BLOCKS * BLOCK;
  REQUIRE(kvl_admit_together(joints, 2, admitted, &at, &refusal) == KVL_NEVER_FITS && at == 0);
  REQUIRE(refusal.needed == BLOCKS + 1);
  at_rest(pool);
  admissions[0].output_tokens_max = 0;
  OK(kvl_admit_together(joints, 2, admitted, NULL, NULL));
  REQUIRE(admitted[0].promised == 1 && admitted[1].promised == 2);
  for (int i = 0; i < 2; i++) ended(joints[i].pool, joints[i].sequence);
}

static void ranks_agree(const kvl_pool *pool, const kvl_pool *host) {
  kvl_rank ranks[2];
  kvl_vote votes[2], again;
  kvl_decision decision;
  kvl_digest digests[2];
  kvl_sequence sequences[2] = {opened(pool), opened(host)};
  kvl_admission admission = full(BLOCK, BLOCK);
  kvl_proposal proposal;
  uint64_t number;
  uint32_t difference;
  memset(&proposal, 0, sizeof proposal);
  proposal.number = 1;
  proposal.admission = &admission;
  ONES(ranks);
  REQUIRE(kvl_rank_number(&ranks[0], &number, NULL) == KVL_INVALID);
  OK(kvl_rank_new(pool, 0, 0, &ranks[0], NULL));
  OK(kvl_rank_new(host, 1, 0, &ranks[1], NULL));
  for (int i = 0; i < 2; i++) {
    OK(kvl_rank_vote(&ranks[i], sequences[i], &proposal, NULL, 0, &votes[i], NULL));
    REQUIRE(votes[i].refusal.code == KVL_OK && votes[i].needed == 2 && votes[i].headroom == BLOCKS);
  }
  OK(kvl_rank_outstanding(&ranks[1], &again, NULL));
  REQUIRE(again.number == 1 && again.rank == 1);

  /* A refusal that is none does not get a request admitted. */
  votes[1].refusal.code = 77;
  OK(kvl_decide(1, 2, votes, 2, &decision, NULL));
  REQUIRE(decision.commit == 0 && decision.refusal.code == KVL_OK);
  OK(kvl_decide(1, 2, &again, 1, &decision, NULL));
  REQUIRE(decision.commit == 0);
  votes[1].refusal.code = KVL_OK;
  OK(kvl_decide(1, 2, votes, 2, &decision, NULL));
  REQUIRE(decision.number == 1 && decision.commit == 1 && decision.headroom == BLOCKS);
  for (int i = 0; i < 2; i++) {
    OK(kvl_rank_commit(&ranks[i], 1, decision.cached_tokens, NULL));
    REQUIRE(kvl_rank_abort(&ranks[i], 1, NULL) == KVL_STALE);
    OK(kvl_rank_digest(&ranks[i], &digests[i], NULL));
  }
  REQUIRE(digests[0].promised == 2);
  OK(kvl_digest_difference(&digests[0], &digests[1], &difference, NULL));
  REQUIRE(difference == 0);
  ended(host, sequences[1]);
  OK(kvl_rank_digest(&ranks[1], &digests[1], NULL));
  OK(kvl_digest_difference(&digests[0], &digests[1], &difference, NULL));
  REQUIRE(difference == KVL_DIFFERENCE_PROMISED);
  ended(pool, sequences[0]);
  uint32_t least, blocks[2] = {9, 7};
  OK(kvl_blocks_in_common(blocks, 2, &least, NULL));
  REQUIRE(least == 7 && kvl_blocks_in_common(NULL, 0, &least, NULL) == KVL_INVALID);
}

static uint64_t written(const kvl_pool *recording) {
  kvl_ring_state ring;
  OK(kvl_ring(recording, &ring, NULL));
  return ring.written;
}

/* The words of a record: few, some, and the most that a call without lists has; and of a batch. */
static void records_are_as_long_as_said(const kvl_pool *pool, const kvl_pool *host) {
  void *memory = aligned_alloc(KVL_MEMORY_ALIGN, 64 * KVL_MEMORY_ALIGN);
  kvl_sequence sequence, copy = opened(host), none = {0, 0, 0};
  kvl_admission admission = full(2 * BLOCK, BLOCK);
  kvl_admitted admitted;
  kvl_batch batch;
  kvl_block_pair pairs[2];
  kvl_offloaded offloaded;
  kvl_pool recording;
  uint32_t answers[2], changed[2], blocks;
  uint64_t before = 0;
  REQUIRE(memory != NULL);
  OK(kvl_recording(pool, memory, 64 * KVL_MEMORY_ALIGN, &recording, NULL));
#define WORDS(call, words) \
  before = written(&recording); \
  OK(call); \
  REQUIRE(written(&recording) - before == words)
  WORDS(kvl_open(&recording, &sequence, NULL), 4);
  WORDS(kvl_admit(&recording, sequence, &admission, &admitted, NULL), 18);
  const kvl_step steps[2] = {{sequence, BLOCK}, {sequence, BLOCK}}, late[2] = {{none, 1}, {none, 1}};
  WORDS(kvl_advance_many(&recording, steps, 2, answers, changed, &batch, NULL), 9 + 2 / 2);
  WORDS(kvl_advance_many(&recording, late, 2, answers, changed, &batch, NULL), 9 + 2 * 3);
  WORDS(kvl_offload(&recording, sequence, host, copy, &admission, pairs, 2, &offloaded, NULL), 15);
  OK(kvl_complete_transfer(pool, offloaded.transfer, &blocks, NULL));
  ended(pool, sequence);
  ended(host, copy);
  free(memory);
}

int main(void) {
  kvl_pool pool = pool_of(1), host = pool_of(2);
  a_transfer_outlives_its_sequence(&pool, &host);
  two_pools_admit_together(&pool, &host);
  ranks_agree(&pool, &host);
  records_are_as_long_as_said(&pool, &host);
  at_rest(&pool);
  at_rest(&host);
  puts("others get along");
  free_pools();
  return 0;
}
