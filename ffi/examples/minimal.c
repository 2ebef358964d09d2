/* The life of one request, and the counts that must hold at each step. Every number is asserted.
 *
 *   ffi/archive.sh && cc -std=c11 -I ffi/include ffi/examples/minimal.c target/capi/dist/libkvledger.a -o minimal
 */
#include <kvledger.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An example that asserts: not assert(), which a release build leaves out. */
#define REQUIRE(condition)                                                     \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

static kvl_pool_counts counts(const kvl_pool *pool) {
  kvl_pool_counts now;
  REQUIRE(kvl_counts(pool, &now, NULL) == KVL_OK);
  return now;
}

int main(void) {
  /* 256 blocks of 16 tokens, for up to 8 sequences of up to 145 blocks. */
  kvl_pool_config config = KVL_SIZED(kvl_pool_config);
  size_t bytes, entries;
  REQUIRE(kvl_config_new(256, 16, 8, 145, &config, NULL) == KVL_OK);
  REQUIRE(kvl_config_bytes(&config, &bytes, NULL) == KVL_OK);
  REQUIRE(kvl_config_table_entries(&config, &entries, NULL) == KVL_OK);
  REQUIRE(bytes % KVL_MEMORY_ALIGN == 0 && entries == 8 * 145);

  void *memory = aligned_alloc(KVL_MEMORY_ALIGN, bytes);
  uint32_t *table = (uint32_t *)calloc(entries, sizeof *table);
  kvl_pool pool;
  REQUIRE(memory != NULL && table != NULL);
  REQUIRE(kvl_init(memory, bytes, table, entries, &config, &pool, NULL) == KVL_OK);

  /* A prompt of 2,048 tokens that may generate 257: 145 blocks are promised, none is taken. */
  kvl_sequence sequence;
  kvl_admission admission = KVL_SIZED(kvl_admission);
  kvl_admitted admitted;
  REQUIRE(kvl_open(&pool, &sequence, NULL) == KVL_OK);
  REQUIRE(kvl_admission_full(2048, 257, &admission, NULL) == KVL_OK);
  REQUIRE(kvl_admit(&pool, sequence, &admission, &admitted, NULL) == KVL_OK);
  REQUIRE(admitted.promised == 145);
  REQUIRE(counts(&pool).committed == 0 && counts(&pool).promised_and_safety == 145);

  /* A second one does not fit beside it: 111 blocks are left, 34 are missing. */
  kvl_sequence second;
  kvl_refusal refusal;
  REQUIRE(kvl_open(&pool, &second, NULL) == KVL_OK);
  REQUIRE(kvl_admit(&pool, second, &admission, &admitted, &refusal) == KVL_WOULD_BLOCK);
  REQUIRE(refusal.short_by == 34 && refusal.scope == KVL_SCOPE_POOL);

  /* The prompt takes 128 blocks of the promise, the first token generated one more: the sum stays 145. */
  kvl_advanced advanced;
  REQUIRE(kvl_advance(&pool, sequence, 2048, &advanced, NULL) == KVL_OK && advanced.taken == 128);
  REQUIRE(kvl_advance(&pool, sequence, 1, &advanced, NULL) == KVL_OK && advanced.taken == 1);
  REQUIRE(counts(&pool).committed == 129 && counts(&pool).promised_and_safety == 16);

  /* What kernels read: 129 ids, none of them the null block, each once. */
  uint32_t ids[145], used;
  unsigned char seen[257];
  memset(seen, 0, sizeof seen);
  REQUIRE(kvl_export_row(&pool, sequence, ids, 145, &used, NULL) == KVL_OK && used == 129);
  for (uint32_t i = 0; i < used; i++) {
    REQUIRE(ids[i] >= 1 && ids[i] <= 256 && !seen[ids[i]]);
    seen[ids[i]] = 1;
  }

  /* A step is in flight when the request ends: its promise is free at once, its blocks when the step is over. */
  uint64_t step, frontier;
  kvl_released released;
  REQUIRE(kvl_submit(&pool, 0, &step, NULL) == KVL_OK);
  REQUIRE(kvl_end(&pool, sequence, &released, NULL) == KVL_OK);
  REQUIRE(released.promised == 16 && released.free == 0 && released.retiring == 129 && released.after == step);
  REQUIRE(counts(&pool).committed == 129 && counts(&pool).headroom == 127);
  REQUIRE(kvl_complete(&pool, 0, step, 0, &frontier, NULL) == KVL_OK && frontier == step);
  REQUIRE(counts(&pool).committed == 0 && counts(&pool).headroom == 256);

  /* A handle that is over names nothing, and a pointer that is NULL is an answer, not a crash. */
  REQUIRE(kvl_cancel(&pool, sequence, NULL) == KVL_STALE);
  REQUIRE(kvl_counts(NULL, NULL, &refusal) == KVL_INVALID && refusal.argument == KVL_ARGUMENT_POINTER);

  /* Every count against every other. */
  kvl_fault fault;
  REQUIRE(kvl_end(&pool, second, &released, NULL) == KVL_OK);
  REQUIRE(kvl_validate(&pool, &fault, NULL) == KVL_OK && fault.invariant == 0);

  free(table);
  free(memory);
  puts("256 blocks came back");
  return 0;
}
