/* Two requests of one trust group share the system prompt, one of another group does not; then everybody leaves, and
 * what is cached is evicted. Every number is asserted.
 *
 *   ffi/archive.sh && cc -std=c11 -I ffi/include ffi/examples/prefix.c target/capi/dist/libkvledger.a -o prefix
 */
#include <kvledger.h>
#include <stdio.h>
#include <stdlib.h>

/* An example that asserts: not assert(), which a release build leaves out. */
#define REQUIRE(condition)                                                     \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

enum { BLOCK = 16, SYSTEM = 64, QUESTION = 20, PROMPT = SYSTEM + QUESTION, OUTPUT = 12, NAMES = PROMPT / BLOCK };

static kvl_pool pool;
static kvl_identity_key key;

static kvl_pool_snapshot snapshot(void) {
  kvl_pool_snapshot now = KVL_SIZED(kvl_pool_snapshot);
  REQUIRE(kvl_snapshot(&pool, &now, NULL) == KVL_OK && now.exact == 1);
  return now;
}

/* A system prompt that all requests have, a question that only this one has, and the names of the full blocks. */
static void prompt_of(uint32_t group, uint32_t question, kvl_identity names[NAMES]) {
  uint32_t tokens[PROMPT];
  for (uint32_t i = 0; i < PROMPT; i++) tokens[i] = i < SYSTEM ? 100 + i : 1000 * question + i;
  kvl_domain domain = KVL_SIZED(kvl_domain);
  kvl_identity root;
  size_t blocks;
  domain.group = group;
  REQUIRE(kvl_identity_key_root(&key, &domain, &root, NULL) == KVL_OK);
  REQUIRE(kvl_identity_key_chain(&key, &root, tokens, PROMPT, BLOCK, names, NAMES, &blocks, NULL) == KVL_OK);
  REQUIRE(blocks == NAMES);
}

/* Admit a request, compute what is not cached in one step, and publish its full blocks. */
static kvl_sequence serve(uint32_t group, uint32_t question, kvl_admitted *admitted) {
  kvl_identity names[NAMES];
  kvl_prefix prefix = KVL_SIZED(kvl_prefix);
  prompt_of(group, question, names);
  REQUIRE(kvl_prefix_of(names, NAMES, &prefix, NULL) == KVL_OK);

  kvl_sequence sequence;
  kvl_admission admission = KVL_SIZED(kvl_admission);
  REQUIRE(kvl_open(&pool, &sequence, NULL) == KVL_OK);
  REQUIRE(kvl_admission_full(PROMPT, OUTPUT, &admission, NULL) == KVL_OK);
  admission.group = group;
  REQUIRE(kvl_admit_prefix(&pool, sequence, &admission, &prefix, admitted, NULL) == KVL_OK);

  /* The step writes the rest of the prompt. It is submitted before its blocks are published: until it is over, who
   * finds them is told to wait for it, or finds nothing if he does not want to wait. */
  uint64_t step, frontier;
  kvl_advanced advanced;
  kvl_published published;
  REQUIRE(kvl_advance(&pool, sequence, PROMPT - admitted->cached_tokens, &advanced, NULL) == KVL_OK);
  REQUIRE(kvl_submit(&pool, 0, &step, NULL) == KVL_OK);
  REQUIRE(kvl_publish(&pool, sequence, 0, &prefix, step, 1, NULL, 0, &published, NULL) == KVL_OK);
  REQUIRE(published.stored == NAMES - admitted->hits && published.known == 0);
  REQUIRE(kvl_complete(&pool, 0, step, 0, &frontier, NULL) == KVL_OK && frontier == step);
  return sequence;
}

int main(void) {
  /* 32 blocks of 16 tokens for up to 4 sequences of 2 groups; the least recently released block is evicted first. */
  kvl_pool_config config = KVL_SIZED(kvl_pool_config);
  size_t bytes, entries;
  REQUIRE(kvl_config_new(32, BLOCK, 4, 8, &config, NULL) == KVL_OK);
  config.groups = 2;
  config.cache = KVL_CACHE_LRU;
  REQUIRE(kvl_config_bytes(&config, &bytes, NULL) == KVL_OK);
  REQUIRE(kvl_config_table_entries(&config, &entries, NULL) == KVL_OK);
  void *memory = aligned_alloc(KVL_MEMORY_ALIGN, bytes);
  uint32_t *table = (uint32_t *)calloc(entries, sizeof *table);
  REQUIRE(memory != NULL && table != NULL);
  REQUIRE(kvl_init(memory, bytes, table, entries, &config, &pool, NULL) == KVL_OK);
  REQUIRE(kvl_identity_key_new(0x0123456789abcdef, 0xfedcba9876543210, &key, NULL) == KVL_OK); /* be random here */

  /* The first request finds nothing and takes 6 blocks. The second finds the system prompt, 4 blocks, and takes 2. */
  kvl_admitted first, second, stranger;
  kvl_sequence sequences[3];
  sequences[0] = serve(0, 1, &first);
  REQUIRE(first.hits == 0 && first.cached_tokens == 0 && snapshot().held == 6);
  sequences[1] = serve(0, 2, &second);
  REQUIRE(second.hits == 4 && second.cached_tokens == SYSTEM && second.after == 0 && snapshot().held == 8);

  /* The third is of another trust group: the same system prompt, and nothing of it is found. */
  sequences[2] = serve(1, 3, &stranger);
  REQUIRE(stranger.hits == 0 && snapshot().held == 14);

  /* They end. Blocks with names stay, idle: 4 + 1 + 1 of one group, 5 of the other. The others are free. */
  for (int i = 0; i < 3; i++) {
    kvl_released released;
    REQUIRE(kvl_end(&pool, sequences[i], &released, NULL) == KVL_OK && released.retiring == 0);
  }
  kvl_pool_snapshot now = snapshot();
  REQUIRE(now.held == 0 && now.committed == 0 && now.idle == 11 && now.free == 21);

  /* Idle blocks are room like free ones; who wants them gone all the same evicts them, the two questions first and then
   * the end of the system prompt. A reset forgets what is left of group 0. */
  uint32_t evicted;
  REQUIRE(kvl_evict(&pool, 3, &evicted, NULL) == KVL_OK && evicted == 3);
  REQUIRE(snapshot().idle == 8 && snapshot().free == 24);
  REQUIRE(kvl_reset(&pool, 0, NULL) == KVL_OK);
  REQUIRE(snapshot().idle == 5 && snapshot().free == 27);

  kvl_fault fault;
  REQUIRE(kvl_validate(&pool, &fault, NULL) == KVL_OK && fault.invariant == 0);
  free(table);
  free(memory);
  puts("the second request computed 20 tokens of 84");
  return 0;
}
