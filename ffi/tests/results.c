/* One case for each result that a function can answer, named after it.
 *
 *   cc -std=c11 -I ffi/include ffi/tests/results.c target/capi/dist/libkvledger.a -o results && ./results
 */
#include "common/check.h"

static kvl_refusal why;

static kvl_sequence running(const kvl_pool *pool, uint32_t prompt, uint32_t output) {
  kvl_sequence sequence = opened(pool);
  kvl_admission admission = full(prompt, output);
  kvl_admitted admitted;
  kvl_advanced advanced;
  OK(kvl_admit(pool, sequence, &admission, &admitted, NULL));
  OK(kvl_advance(pool, sequence, prompt, &advanced, NULL));
  return sequence;
}

static void end(const kvl_pool *pool, kvl_sequence sequence) {
  kvl_released released;
  OK(kvl_end(pool, sequence, &released, NULL));
}

static void ok(const kvl_pool *pool) {
  kvl_pool_counts counts;
  REQUIRE(kvl_counts(pool, &counts, &why) == KVL_OK && counts.blocks == BLOCKS);
}

static void would_block(const kvl_pool *pool) {
  kvl_sequence first = running(pool, 15 * BLOCK, BLOCK), second = running(pool, 15 * BLOCK, BLOCK);
  kvl_sequence third = running(pool, 15 * BLOCK, BLOCK), refused = opened(pool);
  kvl_admission admission = full(16 * BLOCK, 1);
  kvl_admitted admitted;
  admission.watermark = 1;
  admission.prompt_tokens = 16 * BLOCK - 1;
  REQUIRE(kvl_admit(pool, refused, &admission, &admitted, &why) == KVL_WOULD_BLOCK);
  REQUIRE(why.code == KVL_WOULD_BLOCK && why.scope == KVL_SCOPE_POOL && why.short_by == 1);
  end(pool, first), end(pool, second), end(pool, third), end(pool, refused);
}

static void retry_after(const kvl_pool *pool) {
  kvl_sequence all[4], next = opened(pool);
  kvl_admission admission = full(15 * BLOCK, BLOCK);
  kvl_admitted admitted;
  uint64_t step, frontier;
  for (int i = 0; i < 4; i++) all[i] = running(pool, 15 * BLOCK, BLOCK);
  OK(kvl_submit(pool, 0, &step, NULL));
  end(pool, all[0]); /* its blocks are being read until the step is over */
  REQUIRE(kvl_admit(pool, next, &admission, &admitted, &why) == KVL_RETRY_AFTER);
  REQUIRE(why.after == step && why.reclaimable > 0);
  OK(kvl_complete(pool, 0, step, 0, &frontier, NULL));
  OK(kvl_admit(pool, next, &admission, &admitted, NULL));
  for (int i = 1; i < 4; i++) end(pool, all[i]);
  end(pool, next);
}

static void never_fits(const kvl_pool *pool) {
  kvl_sequence sequence = opened(pool);
  kvl_admission admission = full(BLOCKS * BLOCK + 1, 1);
  kvl_admitted admitted;
  REQUIRE(kvl_admit(pool, sequence, &admission, &admitted, &why) == KVL_NEVER_FITS);
  REQUIRE(why.needed == BLOCKS + 1 && why.ceiling < why.needed);
  end(pool, sequence);
}

static void over_promise(const kvl_pool *pool) {
  kvl_sequence sequence = running(pool, BLOCK, BLOCK);
  kvl_advanced advanced;
  REQUIRE(kvl_advance(pool, sequence, BLOCK + 1, &advanced, &why) == KVL_OVER_PROMISE && why.short_by == 1);
  end(pool, sequence);
}

static void cancelled(const kvl_pool *pool) {
  kvl_sequence sequence = running(pool, BLOCK, BLOCK);
  kvl_advanced advanced;
  OK(kvl_cancel(pool, sequence, NULL));
  REQUIRE(kvl_advance(pool, sequence, 1, &advanced, &why) == KVL_CANCELLED && why.code == KVL_CANCELLED);
  end(pool, sequence);
}

static void stale(const kvl_pool *pool) {
  kvl_sequence sequence = running(pool, BLOCK, BLOCK), none = {0, 0, 0};
  kvl_released released;
  uint64_t frontier;
  end(pool, sequence);
  REQUIRE(kvl_end(pool, sequence, &released, &why) == KVL_STALE && why.code == KVL_STALE);
  REQUIRE(kvl_cancel(pool, none, NULL) == KVL_STALE);
  REQUIRE(kvl_complete(pool, 0, 1000, 0, &frontier, NULL) == KVL_STALE);
  /* A handle of another pool, whose slot and generation would do here. */
  kvl_pool other = pool_of(77);
  kvl_sequence foreign = running(&other, BLOCK, BLOCK), mine = running(pool, BLOCK, BLOCK);
  REQUIRE(kvl_end(pool, foreign, &released, NULL) == KVL_STALE);
  end(pool, mine), end(&other, foreign);
}

static void invalid(const kvl_pool *pool) {
  kvl_sequence sequence = opened(pool);
  kvl_admission admission = full(0, 1);
  kvl_admitted admitted;
  REQUIRE(kvl_admit(pool, sequence, &admission, &admitted, &why) == KVL_INVALID);
  REQUIRE(why.argument == KVL_ARGUMENT_TOKENS);
  admission = full(1, 1);
  admission.promise = 7; /* a number that is no promise */
  REQUIRE(kvl_admit(pool, sequence, &admission, &admitted, &why) == KVL_INVALID && why.argument == KVL_ARGUMENT_PROMISE);
  REQUIRE(kvl_admit(pool, sequence, NULL, &admitted, &why) == KVL_INVALID && why.argument == KVL_ARGUMENT_POINTER);
  /* Two outputs in one place; an array of nothing is in no place. */
  uint64_t places[2];
  size_t *count = (size_t *)&places[1];
  REQUIRE(kvl_dump(pool, places, 2, count, &why) == KVL_INVALID && why.argument == KVL_ARGUMENT_POINTER);
  REQUIRE(kvl_dump(pool, &places[1], 0, count, &why) == KVL_INVALID && why.argument == KVL_ARGUMENT_RING);
  end(pool, sequence);
}

/* The likely mistake: a struct that can grow was filled in, and its size not set. */
static void invalid_size(const kvl_pool *pool) {
  kvl_sequence sequence = opened(pool);
  kvl_admission admission = full(BLOCK, BLOCK);
  kvl_admitted admitted;
  kvl_pool_snapshot snapshot;
  admission.size = 0;
  REQUIRE(kvl_admit(pool, sequence, &admission, &admitted, &why) == KVL_INVALID && why.argument == KVL_ARGUMENT_SIZE);
  memset(&snapshot, 0, sizeof snapshot);
  REQUIRE(kvl_snapshot(pool, &snapshot, &why) == KVL_INVALID && why.argument == KVL_ARGUMENT_SIZE);
  end(pool, sequence);
}

static void all_slots_taken(const kvl_pool *pool) {
  kvl_sequence all[8], one;
  for (int i = 0; i < 8; i++) all[i] = opened(pool);
  REQUIRE(kvl_open(pool, &one, &why) == KVL_FULL && why.code == KVL_FULL);
  for (int i = 0; i < 8; i++) end(pool, all[i]);
}

static void busy(const kvl_pool *pool) {
  kvl_sequence sequence = opened(pool);
  kvl_admission admission = full(BLOCK, BLOCK);
  kvl_admitted admitted;
  kvl_advanced advanced;
  admission.speculative_tokens = 4;
  OK(kvl_admit(pool, sequence, &admission, &admitted, NULL));
  OK(kvl_advance(pool, sequence, BLOCK, &advanced, NULL));
  OK(kvl_speculate(pool, sequence, 3, &advanced, NULL));
  REQUIRE(kvl_advance(pool, sequence, 1, &advanced, &why) == KVL_BUSY && why.code == KVL_BUSY);
  end(pool, sequence);
}

/* A pool with a table that can be written to, and with two rows a sequence. */
static kvl_pool pool_and_table(void **memory, uint32_t **table) {
  kvl_pool_config config = KVL_SIZED(kvl_pool_config);
  kvl_pool pool;
  size_t bytes, entries;
  OK(kvl_config_new(BLOCKS, BLOCK, 8, WIDTH, &config, NULL));
  config.rows = 2;
  config.cache = KVL_CACHE_LRU;
  config.transfers = 1;
  config.number = 2;
  OK(kvl_config_bytes(&config, &bytes, NULL));
  OK(kvl_config_table_entries(&config, &entries, NULL));
  *memory = aligned_alloc(KVL_MEMORY_ALIGN, bytes);
  *table = (uint32_t *)calloc(entries, sizeof **table);
  REQUIRE(*memory != NULL && *table != NULL);
  OK(kvl_init(*memory, bytes, *table, entries, &config, &pool, NULL));
  return pool;
}

/* Both rows of a sequence are read in place, by work of those that had them before: who comes next has to wait for it. */
static void busy_rows(void) {
  void *memory;
  uint32_t *table;
  kvl_pool pool = pool_and_table(&memory, &table);
  kvl_sequence parent = running(&pool, BLOCK, BLOCK), one;
  kvl_admission admission = full(BLOCK, BLOCK);
  kvl_prefix nothing = prefix_of(NULL, 0);
  kvl_admitted admitted;
  kvl_forked forked;
  kvl_row_view row;
  uint64_t step, frontier;
  OK(kvl_submit(&pool, 0, &step, NULL));
  for (int turn = 0; turn < 2; turn++) {
    one = running(&pool, BLOCK, BLOCK);
    OK(kvl_launch_row(&pool, one, step, &row, NULL));
    end(&pool, one);
  }
  one = opened(&pool);
  REQUIRE(kvl_admit(&pool, one, &admission, &admitted, &why) == KVL_BUSY && why.code == KVL_BUSY);
  REQUIRE(kvl_admit_prefix(&pool, one, &admission, &nothing, &admitted, &why) == KVL_BUSY);
  REQUIRE(kvl_pin(&pool, one, 0, KVL_STREAMS_ALL, &nothing, 0, &admitted, &why) == KVL_BUSY);
  REQUIRE(kvl_fork(&pool, parent, &one, 1, BLOCK, 0, &forked, &why) == KVL_BUSY);
  OK(kvl_complete(&pool, 0, step, 0, &frontier, NULL));
  OK(kvl_fork(&pool, parent, &one, 1, BLOCK, 0, &forked, NULL));
  end(&pool, one), end(&pool, parent);
  free(memory), free(table);
}

/* Somebody writes over the pool's table: it is seen, and said where, by calls that give blocks back. */
static void corrupt(const kvl_pool *host) {
  for (int way = 0; way < 7; way++) {
    void *memory;
    uint32_t *table;
    kvl_pool pool = pool_and_table(&memory, &table);
    kvl_sequence sequence = opened(&pool);
    kvl_admission admission = full(2 * BLOCK, 2 * BLOCK);
    kvl_admitted admitted;
    kvl_advanced advanced;
    kvl_released released;
    kvl_row_view row;
    kvl_block_pair pairs[2];
    kvl_offloaded offloaded;
    kvl_sequence copy = opened(host);
    kvl_status status;
    admission.speculative_tokens = BLOCK;
    OK(kvl_admit(&pool, sequence, &admission, &admitted, NULL));
    OK(kvl_advance(&pool, sequence, 2 * BLOCK, &advanced, NULL));
    if (way == 2) OK(kvl_speculate(&pool, sequence, BLOCK, &advanced, NULL));
    OK(kvl_row(&pool, sequence, &row, NULL));
    const uint32_t wrong = BLOCKS + 1;
    table[row.row * WIDTH + row.entries - 1] = wrong;
    switch (way) {
    case 0: status = kvl_end(&pool, sequence, &released, &why); break;
    case 1: status = kvl_preempt(&pool, sequence, &released, &why); break;
    case 2: status = kvl_accept(&pool, sequence, 0, 1, &released, &why); break;
    case 3: status = kvl_trim(&pool, sequence, 0, &released, &why); break;
    case 4: status = kvl_release_blocks(&pool, sequence, &wrong, 1, &released, &why); break;
    case 5: status = kvl_release_tokens(&pool, sequence, BLOCK, 2 * BLOCK, &released, &why); break;
    default: status = kvl_offload(&pool, sequence, host, copy, &admission, pairs, 2, &offloaded, &why); break;
    }
    REQUIRE(status == KVL_CORRUPT && why.code == KVL_CORRUPT && why.place == KVL_PLACE_TABLE);
    end(host, copy);
    free(memory), free(table);
  }
}

/* The same of calls that give back what was found of a prefix, and nothing else yet. */
static void corrupt_hits(void) {
  enum { UNPIN, WITHDRAW, ABORT, WAYS };
  for (int way = 0; way < WAYS; way++) {
    void *memory;
    uint32_t *table;
    kvl_pool pool = pool_and_table(&memory, &table);
    const kvl_identity names[2] = {{1, 1}, {2, 1}};
    kvl_sequence writer = running(&pool, 2 * BLOCK, BLOCK), sequence = opened(&pool);
    kvl_admission admission = full(3 * BLOCK, BLOCK);
    kvl_prefix prefix = prefix_of(names, 2);
    kvl_proposal proposal = {1, &admission, 2 * BLOCK};
    kvl_published published;
    kvl_admitted admitted;
    kvl_released released;
    kvl_row_view row;
    kvl_rank rank;
    kvl_vote vote;
    kvl_status status;
    uint64_t step, frontier;
    OK(kvl_submit(&pool, 0, &step, NULL));
    OK(kvl_publish(&pool, writer, 0, &prefix, step, 1, NULL, 0, &published, NULL));
    OK(kvl_complete(&pool, 0, step, 0, &frontier, NULL));
    OK(kvl_rank_new(&pool, 0, 0, &rank, NULL));
    switch (way) {
    case UNPIN: OK(kvl_pin(&pool, sequence, 0, KVL_STREAMS_ALL, &prefix, 0, &admitted, NULL)); break;
    case WITHDRAW: OK(kvl_admit_prefix(&pool, sequence, &admission, &prefix, &admitted, NULL)); break;
    default: OK(kvl_rank_vote(&rank, sequence, &proposal, names, 2, &vote, NULL)); break;
    }
    OK(kvl_row(&pool, sequence, &row, NULL));
    REQUIRE(row.entries == 2);
    table[row.row * WIDTH] = BLOCKS + 1;
    switch (way) {
    case UNPIN: status = kvl_unpin(&pool, sequence, &released, &why); break;
    case WITHDRAW: status = kvl_withdraw_admission(&pool, sequence, &released, &why); break;
    default: status = kvl_rank_abort(&rank, 1, &why); break;
    }
    REQUIRE(status == KVL_CORRUPT && why.code == KVL_CORRUPT && why.place == KVL_PLACE_TABLE);
    free(memory), free(table);
  }
}

int main(void) {
  kvl_pool pool = pool_of(1);
  kvl_fault fault;
  ok(&pool);
  would_block(&pool);
  retry_after(&pool);
  never_fits(&pool);
  over_promise(&pool);
  cancelled(&pool);
  stale(&pool);
  invalid(&pool);
  invalid_size(&pool);
  all_slots_taken(&pool);
  busy(&pool);
  busy_rows();
  corrupt(&pool);
  corrupt_hits();
  OK(kvl_validate(&pool, &fault, NULL));
  REQUIRE(fault.invariant == 0);
  free_pools();
  puts("every result");
  return 0;
}
