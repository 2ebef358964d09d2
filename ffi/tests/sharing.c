/* Sharing, from C: a prefix that is found, kept and forgotten, the events of that, a fork and the copy of its tail, and
 * what comes back to a sequence while it runs.
 *
 *   cc -std=c11 -I ffi/include ffi/tests/sharing.c target/capi/dist/libkvledger.a -o sharing && ./sharing
 */
#include "common/check.h"

static const kvl_identity names[3] = {{1, 9}, {2, 9}, {3, 9}};

static void a_prefix_is_found(const kvl_pool *pool) {
  kvl_sequence one = opened(pool), two = opened(pool), pin = opened(pool);
  kvl_admission admission = full(3 * BLOCK, BLOCK);
  kvl_prefix prefix = prefix_of(names, 3), nothing = prefix_of(NULL, 0);
  kvl_admitted admitted;
  kvl_advanced advanced;
  kvl_published published;
  kvl_found found;
  kvl_released released;
  kvl_refusal refusal;
  uint64_t step, frontier;
  uint32_t ids[3], count;

  ONES(admitted);
  OK(kvl_admit_prefix(pool, one, &admission, &nothing, &admitted, NULL));
  REQUIRE(admitted.promised == 4 && admitted.hits == 0 && admitted.cached_tokens == 0 && admitted.after == 0);
  OK(kvl_advance(pool, one, 3 * BLOCK, &advanced, NULL));
  REQUIRE(advanced.taken == 3 && advanced.entries == 3 && advanced.copies == 0);
  OK(kvl_submit(pool, 0, &step, NULL));
  ONES(ids);
  OK(kvl_publish(pool, one, 0, &prefix, step, 1, ids, 3, &published, NULL));
  REQUIRE(published.stored == 3 && published.known == 0 && ids[0] >= 1 && ids[2] <= BLOCKS);

  /* While the step runs: found by who will wait for it, and by nobody else. */
  OK(kvl_lookup(pool, 0, &prefix, 0, &found, NULL));
  REQUIRE(found.blocks == 0);
  prefix.unfinished = 1;
  OK(kvl_lookup(pool, 0, &prefix, 0, &found, NULL));
  REQUIRE(found.blocks == 3 && found.priced == 0 && found.after == step);
  OK(kvl_complete(pool, 0, step, 0, &frontier, NULL));

  prefix.unfinished = 0;
  prefix.blocks_max = 2;
  OK(kvl_admit_prefix(pool, two, &admission, &prefix, &admitted, NULL));
  REQUIRE(admitted.promised == 2 && admitted.hits == 2 && admitted.cached_tokens == 2 * BLOCK);

  /* A withdrawn name is found no more. */
  OK(kvl_withdraw(pool, one, 2, 1, &count, NULL));
  REQUIRE(count == 1);
  prefix.blocks_max = UINT32_MAX;
  OK(kvl_lookup(pool, 0, &prefix, 0, &found, NULL));
  REQUIRE(found.blocks == 2);

  /* What is pinned stays when its holders have left, and cannot be evicted. */
  OK(kvl_pin(pool, pin, 0, KVL_STREAMS_ALL, &prefix, 0, &admitted, NULL));
  REQUIRE(admitted.hits == 2 && admitted.promised == 0);
  ended(pool, one);
  ended(pool, two);
  OK(kvl_evict(pool, 9, &count, NULL));
  REQUIRE(count == 0);
  OK(kvl_unpin(pool, pin, &released, NULL));
  REQUIRE(released.free == 2);
  OK(kvl_evict(pool, 1, &count, NULL));
  REQUIRE(count == 1);
  OK(kvl_reset_all(pool, NULL));
  OK(kvl_lookup(pool, 0, &prefix, 0, &found, NULL));
  REQUIRE(found.blocks == 0);

  /* An array that is not there, and numbers that name nothing. */
  prefix.identities = NULL;
  REQUIRE(kvl_lookup(pool, 0, &prefix, 0, &found, &refusal) == KVL_INVALID);
  REQUIRE(refusal.argument == KVL_ARGUMENT_POINTER);
  REQUIRE(kvl_reset(pool, 1, &refusal) == KVL_INVALID && refusal.argument == KVL_ARGUMENT_GROUP);
  ended(pool, pin);
  at_rest(pool);
}

static void events_tell_it(const kvl_pool *pool) {
  kvl_event_cursor cursor = {0}, now;
  kvl_event events[64];
  kvl_events_read read;
  uint32_t kinds[4] = {0, 0, 0, 0};
  ONES(events);
  OK(kvl_events(pool, &cursor, events, 64, &read, NULL));
  REQUIRE(read.dropped == 0 && read.count >= 6);
  for (uint32_t i = 0; i < read.count; i++) {
    REQUIRE(events[i].number == i + 1 && events[i].kind >= KVL_EVENT_STORED && events[i].kind <= KVL_EVENT_CLEARED);
    kinds[events[i].kind]++;
  }
  REQUIRE(kinds[KVL_EVENT_STORED] == 3 && kinds[KVL_EVENT_REMOVED] == 2 && kinds[KVL_EVENT_CLEARED] == 1);
  REQUIRE(events[0].identity.low == 1 && events[0].identity.high == 9 && events[0].group == 0);
  REQUIRE(events[read.count].kind == UINT32_MAX);
  OK(kvl_events_now(pool, &now, NULL));
  REQUIRE(now.next == cursor.next);
  OK(kvl_events(pool, &now, NULL, 0, &read, NULL));
  REQUIRE(read.count == 0 && kvl_events(pool, &now, NULL, 1, &read, NULL) == KVL_INVALID);
}

static void a_fork_copies_its_tail(const kvl_pool *pool) {
  kvl_sequence parent = opened(pool), child = opened(pool);
  kvl_admission admission = full(BLOCK + 3, BLOCK);
  kvl_admitted admitted;
  kvl_advanced advanced;
  kvl_forked forked;
  kvl_copy copy;
  uint64_t step, frontier;
  uint32_t before[2], after[2], count;

  OK(kvl_admit(pool, parent, &admission, &admitted, NULL));
  OK(kvl_advance(pool, parent, BLOCK + 3, &advanced, NULL));
  OK(kvl_fork(pool, parent, &child, 1, 4, 0, &forked, NULL));
  REQUIRE(forked.shared == 2 && forked.promised == 1 && forked.after == 0);
  ONES(copy);
  OK(kvl_copy_order(pool, child, &copy, NULL));
  REQUIRE(copy.source == 0 && copy.destination == 0);

  OK(kvl_export_row(pool, child, before, 2, &count, NULL));
  OK(kvl_advance(pool, child, 1, &advanced, NULL));
  REQUIRE(advanced.copies == 1 && advanced.entries == 2);
  OK(kvl_export_row(pool, child, after, 2, &count, NULL));
  OK(kvl_copy_order(pool, child, &copy, NULL));
  REQUIRE(copy.source == before[1] && copy.destination == after[1] && copy.slots == 3);
  REQUIRE(before[0] == after[0] && before[1] != after[1]);
  OK(kvl_submit(pool, 0, &step, NULL));
  OK(kvl_copy_submitted(pool, child, step, NULL));
  REQUIRE(kvl_copy_submitted(pool, child, step, NULL) == KVL_STALE);
  OK(kvl_complete(pool, 0, step, 0, &frontier, NULL));
  ended(pool, parent);
  ended(pool, child);
  at_rest(pool);
}

static void a_window_and_a_proposal_give_back(const kvl_pool *pool) {
  kvl_sequence windowed = opened(pool), guessing = opened(pool), released_from = opened(pool);
  kvl_admission admission = full(BLOCK, 10 * BLOCK);
  kvl_admitted admitted;
  kvl_advanced advanced;
  kvl_released released;
  kvl_sequence_state state = KVL_SIZED(kvl_sequence_state);
  kvl_refusal refusal;
  uint32_t ids[3], count;

  /* Two blocks back, a block a step, none in flight: at most four blocks, however long it gets. */
  admission.window.tokens = 2 * BLOCK;
  admission.window.chunk_tokens = BLOCK;
  OK(kvl_admit(pool, windowed, &admission, &admitted, NULL));
  REQUIRE(admitted.promised == 4);
  for (int step = 0; step < 11; step++) OK(kvl_advance(pool, windowed, BLOCK, &advanced, NULL));
  OK(kvl_sequence_snapshot(pool, windowed, &state, NULL));
  REQUIRE(state.tokens == 11 * BLOCK && state.entries == 11 && state.held <= 4);
  admission.window.chunk_tokens = 0;
  REQUIRE(kvl_admit(pool, guessing, &admission, &admitted, &refusal) == KVL_INVALID);
  REQUIRE(refusal.argument == KVL_ARGUMENT_WINDOW);

  admission = full(BLOCK, 0);
  admission.speculative_tokens = BLOCK + 1;
  OK(kvl_admit(pool, guessing, &admission, &admitted, NULL));
  REQUIRE(admitted.promised == 3);
  OK(kvl_advance(pool, guessing, BLOCK - 1, &advanced, NULL));
  OK(kvl_speculate(pool, guessing, BLOCK + 2, &advanced, NULL));
  REQUIRE(advanced.entries == 3 && kvl_advance(pool, guessing, 1, &advanced, NULL) == KVL_BUSY);
  REQUIRE(kvl_accept(pool, guessing, BLOCK + 3, 1, &released, &refusal) == KVL_INVALID);
  REQUIRE(refusal.argument == KVL_ARGUMENT_TOKENS);
  OK(kvl_accept(pool, guessing, 1, 1, &released, NULL));
  OK(kvl_sequence_snapshot(pool, guessing, &state, NULL));
  REQUIRE(state.tokens == BLOCK && state.held == 1 && state.promised == 2);

  admission = full(3 * BLOCK, BLOCK);
  OK(kvl_admit(pool, released_from, &admission, &admitted, NULL));
  OK(kvl_advance(pool, released_from, 3 * BLOCK, &advanced, NULL));
  OK(kvl_export_row(pool, released_from, ids, 3, &count, NULL));
  ids[2] = ids[0];
  REQUIRE(kvl_release_blocks(pool, released_from, ids, 3, &released, &refusal) == KVL_INVALID);
  REQUIRE(refusal.argument == KVL_ARGUMENT_BLOCK);
  OK(kvl_release_blocks(pool, released_from, ids, 1, &released, NULL));
  REQUIRE(released.free == 1);
  OK(kvl_release_tokens(pool, released_from, BLOCK, 2 * BLOCK, &released, NULL));
  REQUIRE(released.free == 1);
  REQUIRE(kvl_trim(pool, released_from, 1, &released, &refusal) == KVL_INVALID);
  REQUIRE(refusal.argument == KVL_ARGUMENT_TOKENS);
  OK(kvl_trim(pool, released_from, 2 * BLOCK, &released, NULL));
  OK(kvl_sequence_snapshot(pool, released_from, &state, NULL));
  REQUIRE(released.free == 1 && state.held == 0 && state.entries == 2 && state.tokens == 2 * BLOCK);
  ended(pool, windowed);
  ended(pool, guessing);
  ended(pool, released_from);
  at_rest(pool);
}

int main(void) {
  kvl_pool pool = pool_of(1);
  a_prefix_is_found(&pool);
  events_tell_it(&pool);
  a_fork_copies_its_tail(&pool);
  a_window_and_a_proposal_give_back(&pool);
  puts("sharing holds");
  free_pools();
  return 0;
}
