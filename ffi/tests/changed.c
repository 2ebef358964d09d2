/* Memory that was changed under a pool, by a process that shares it say: kvl_attach refuses it, or the calls of the pool
 * answer something, end, and touch no byte outside. Each word of the memory in turn is made what it never is.
 *
 *   cc -std=c11 -I ffi/include ffi/tests/changed.c target/capi/dist/libkvledger.a -o changed && ./changed
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include "common/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADER_WORDS = 8, SEQUENCES = 4, STEPS = 40 };

/* So many bytes whose last one is the last of a page, with no memory behind them. */
static void *before_nothing(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page * page;
  char *start = (char *)mmap(NULL, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(start != MAP_FAILED && mprotect(start + pages, page, PROT_NONE) == 0);
  return start + pages - bytes;
}

static uint32_t below(uint32_t bound) {
  static uint32_t state = 12345;
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % bound;
}

/* Some calls of every kind. What they answer is not looked at: the pool is not what it was. */
static void work(const kvl_pool *pool, int steps) {
  static const kvl_identity names[4] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}};
  kvl_sequence sequences[SEQUENCES];
  kvl_transfer transfer;
  uint64_t epoch = 0;
  memset(sequences, 0, sizeof sequences);
  memset(&transfer, 0, sizeof transfer);
  while (steps-- > 0) {
    kvl_sequence *sequence = &sequences[below(SEQUENCES)];
    kvl_admission admission = KVL_SIZED(kvl_admission);
    kvl_pool_snapshot snapshot = KVL_SIZED(kvl_pool_snapshot);
    kvl_prefix prefix = KVL_SIZED(kvl_prefix);
    kvl_admitted admitted;
    kvl_advanced advanced;
    kvl_released released;
    kvl_published published;
    kvl_forked forked;
    kvl_fault fault;
    kvl_event events[4];
    kvl_event_cursor cursor = {0};
    kvl_events_read read;
    uint64_t frontier;
    uint32_t some, row[16];
    OK(kvl_admission_full(33, below(20), &admission, NULL));
    OK(kvl_prefix_of(names, 1 + below(4), &prefix, NULL));
    switch (below(12)) {
      case 0:
        kvl_open(pool, sequence, NULL);
        kvl_admit_prefix(pool, *sequence, &admission, &prefix, &admitted, NULL);
        break;
      case 1:
        kvl_advance(pool, *sequence, 1 + below(33), &advanced, NULL);
        kvl_submit(pool, 0, &epoch, NULL);
        break;
      case 2: kvl_publish(pool, *sequence, 0, &prefix, epoch, 1, NULL, 0, &published, NULL); break;
      case 3: kvl_complete(pool, 0, epoch, below(4) == 0, &frontier, NULL); break;
      case 4: kvl_end(pool, *sequence, &released, NULL); break;
      case 5: kvl_evict(pool, 1 + below(8), &some, NULL); break;
      case 6: kvl_fork(pool, *sequence, &sequences[below(SEQUENCES)], 1, 4, 0, &forked, NULL); break;
      case 7: kvl_hold(pool, *sequence, 0, 1, below(2), &transfer, NULL); break;
      case 8: kvl_complete_transfer(pool, transfer, &some, NULL); break;
      case 9: kvl_export_row(pool, *sequence, row, 16, &some, NULL); break;
      case 10: kvl_abandon(pool, 0, &frontier, NULL); break;
      default:
        kvl_snapshot(pool, &snapshot, NULL);
        kvl_validate(pool, &fault, NULL);
        kvl_events(pool, &cursor, events, 4, &read, NULL);
    }
  }
}

static void each_word_is_changed(uint32_t cache) {
  static const uint64_t values[3] = {0, UINT32_MAX, UINT64_MAX};
  kvl_pool_config config = KVL_SIZED(kvl_pool_config);
  kvl_pool pool, attached;
  kvl_refusal refusal;
  size_t bytes, entries, word, i;
  uint64_t *memory;
  uint32_t *table;
  char *good;

  OK(kvl_config_new(12, 16, SEQUENCES, 8, &config, NULL));
  config.cache = cache;
  config.rows = config.accounts = config.groups = config.transfers = 2;
  config.epochs = config.events = 4;
  OK(kvl_config_bytes(&config, &bytes, NULL));
  OK(kvl_config_table_entries(&config, &entries, NULL));
  memory = (uint64_t *)before_nothing(bytes);
  table = (uint32_t *)before_nothing(entries * sizeof(*table));
  good = (char *)malloc(bytes);
  REQUIRE(good != NULL);
  OK(kvl_init(memory, bytes, table, entries, &config, &pool, NULL));
  work(&pool, 200);
  memcpy(good, memory, bytes);
  for (word = 0; word < bytes / sizeof(*memory); word++) {
    for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
      memcpy(memory, good, bytes);
      memory[word] = values[i];
      if (kvl_attach(memory, bytes, table, entries, &attached, &refusal) == KVL_OK) {
        work(&attached, STEPS);
      } else {
        REQUIRE(word < HEADER_WORDS && refusal.code == KVL_INVALID && refusal.argument == KVL_ARGUMENT_HEADER);
      }
    }
  }
  free(good);
}

int main(void) {
  each_word_is_changed(KVL_CACHE_OFF);
  each_word_is_changed(KVL_CACHE_LRU);
  each_word_is_changed(KVL_CACHE_SIEVE);
  each_word_is_changed(KVL_CACHE_S3_FIFO);
  return 0;
}
