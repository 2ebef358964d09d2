/* What the C tests have in common: conditions that must hold, and a pool to try things with. Memory that is to be
 * written by a call is filled with ones first, so that an output which is read, or not written, is seen. */
#ifndef KVLEDGER_TESTS_CHECK_H
#define KVLEDGER_TESTS_CHECK_H

#include <kvledger.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                     \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)
#define OK(call) REQUIRE((call) == KVL_OK)
#define ONES(place) memset(&(place), 0xff, sizeof(place))

enum { BLOCK = 8, BLOCKS = 64, WIDTH = 16 };

/* What pool_of allocated. */
static void *memories[8];
static size_t memory_count;

/* At the end of a test, when its pools are not used any more. */
static inline void free_pools(void) {
  while (memory_count > 0) free(memories[--memory_count]);
}

/* A pool of 64 blocks of 8 tokens that shares prefixes. */
static inline kvl_pool pool_of(uint32_t number) {
  kvl_pool_config config = KVL_SIZED(kvl_pool_config);
  kvl_pool pool;
  size_t bytes, entries;
  OK(kvl_config_new(BLOCKS, BLOCK, 8, WIDTH, &config, NULL));
  config.number = number;
  config.cache = KVL_CACHE_LRU;
  config.transfers = 4;
  config.events = 64;
  OK(kvl_config_bytes(&config, &bytes, NULL));
  OK(kvl_config_table_entries(&config, &entries, NULL));
  void *memory = aligned_alloc(KVL_MEMORY_ALIGN, bytes);
  uint32_t *table = (uint32_t *)calloc(entries, sizeof *table);
  REQUIRE(memory != NULL && table != NULL && memory_count + 2 <= sizeof memories / sizeof *memories);
  memories[memory_count++] = memory;
  memories[memory_count++] = table;
  ONES(pool);
  OK(kvl_init(memory, bytes, table, entries, &config, &pool, NULL));
  return pool;
}

static inline kvl_sequence opened(const kvl_pool *pool) {
  kvl_sequence sequence;
  OK(kvl_open(pool, &sequence, NULL));
  return sequence;
}

static inline kvl_admission full(uint32_t prompt, uint32_t output) {
  kvl_admission admission;
  ONES(admission);
  admission.size = sizeof admission;
  OK(kvl_admission_full(prompt, output, &admission, NULL));
  return admission;
}

static inline kvl_prefix prefix_of(const kvl_identity *names, size_t count) {
  kvl_prefix prefix;
  ONES(prefix);
  prefix.size = sizeof prefix;
  OK(kvl_prefix_of(names, count, &prefix, NULL));
  return prefix;
}

static inline void ended(const kvl_pool *pool, kvl_sequence sequence) {
  kvl_released released;
  OK(kvl_end(pool, sequence, &released, NULL));
}

/* Nothing is left behind and every count agrees. */
static inline void at_rest(const kvl_pool *pool) {
  kvl_pool_counts counts;
  kvl_fault fault;
  OK(kvl_counts(pool, &counts, NULL));
  REQUIRE(counts.committed == 0 && counts.headroom == BLOCKS);
  OK(kvl_validate(pool, &fault, NULL));
  REQUIRE(fault.invariant == 0);
}

#endif
