/* Each refusal that the headers list for calls that need no pool: plans, split plans, the free list, names.
 *
 *   cc -std=c11 -I ffi/include ffi/tests/arithmetic.c target/capi/dist/libkvledger.a -o arithmetic && ./arithmetic
 */
#include "common/check.h"

static kvl_refusal why;
static uint64_t number;
static kvl_ratio share;
static double value;

/* The call is refused for this argument. */
#define REFUSED(call, name) REQUIRE((call) == KVL_INVALID && why.argument == KVL_ARGUMENT_##name)

static kvl_geometry shape(void) {
  kvl_geometry geometry = KVL_SIZED(kvl_geometry);
  OK(kvl_geometry_new(32, 8, 128, 16, KVL_ELEMENT_F16, &geometry, NULL));
  return geometry;
}

static void geometries(void) {
  kvl_geometry geometry = shape(), wrong = shape(), large = shape();
  uint32_t bits, blocks;
  REFUSED(kvl_element_bits(KVL_ELEMENT_INT4 + 1, &bits, &why), GEOMETRY);
  REFUSED(kvl_geometry_new(32, 8, 128, 16, KVL_ELEMENT_INT4 + 1, &geometry, &why), GEOMETRY);
  wrong.layers = 0;
  REFUSED(kvl_geometry_check(&wrong, &why), GEOMETRY);
  REFUSED(kvl_geometry_token_bytes(&wrong, &number, &why), GEOMETRY);
  REFUSED(kvl_geometry_block_bytes(&wrong, &number, &why), GEOMETRY);
  REFUSED(kvl_geometry_pool_blocks(&wrong, 1 << 30, &blocks, &why), GEOMETRY);
  REFUSED(kvl_geometry_pool_bytes(&wrong, 1, &number, &why), GEOMETRY);
  REFUSED(kvl_geometry_request_blocks(&wrong, 1, 1, &number, &why), GEOMETRY);
  large.layers = large.kv_heads = large.key_dim = UINT32_MAX;
  REFUSED(kvl_geometry_token_bytes(&large, &number, &why), OVERFLOW);
  REFUSED(kvl_geometry_block_bytes(&large, &number, &why), OVERFLOW);
  REFUSED(kvl_geometry_pool_blocks(&large, UINT64_MAX, &blocks, &why), OVERFLOW);
  REFUSED(kvl_geometry_pool_bytes(&large, 1, &number, &why), OVERFLOW);
  REFUSED(kvl_geometry_pool_blocks(&geometry, 1, &blocks, &why), BLOCKS);
  REFUSED(kvl_geometry_pool_blocks(&geometry, UINT64_MAX, &blocks, &why), BLOCKS);
  REFUSED(kvl_geometry_pool_bytes(&geometry, 0, &number, &why), BLOCKS);
  REFUSED(kvl_geometry_pool_bytes(&geometry, UINT32_MAX, &number, &why), BLOCKS);
  OK(kvl_geometry_block_bytes(&geometry, &number, &why));
  REQUIRE(number == 16 * 2 * 2 * 128 * 8 * 32);
}

static void lengths(void) {
  const uint32_t two[2] = {10, 20};
  OK(kvl_blocks_for(17, 16, &number, &why));
  REQUIRE(number == 2);
  REFUSED(kvl_blocks_for(1, 0, &number, &why), BLOCK_TOKENS);
  REFUSED(kvl_growth_blocks(1, 1, 0, &number, &why), BLOCK_TOKENS);
  REFUSED(kvl_growth_blocks(UINT64_MAX, 1, 1, &number, &why), OVERFLOW);
  REFUSED(kvl_window_blocks(1, 1, 1, 0, &number, &why), BLOCK_TOKENS);
  REFUSED(kvl_window_blocks(0, 1, 1, 1, &number, &why), TOKENS);
  REFUSED(kvl_paged_slots(two, 2, 0, &number, &why), BLOCK_TOKENS);
  REFUSED(kvl_slack(two, 2, 0, &share, &why), BLOCK_TOKENS);
  REFUSED(kvl_slack(NULL, 0, 16, &share, &why), TOKENS);
  REFUSED(kvl_group_blocks(1, 1, 1, 0, &number, &why), BLOCK_TOKENS);
  REFUSED(kvl_group_blocks(1, 2, 1, 1, &number, &why), LENGTH);
  REFUSED(kvl_group_blocks(UINT64_MAX, 0, 2, 1, &number, &why), OVERFLOW);
  REFUSED(kvl_group_requests(1, 1, 1, 0, &number, &why), BLOCK_TOKENS);
  REFUSED(kvl_group_requests(1, 2, 1, 1, &number, &why), LENGTH);
  OK(kvl_group_requests(1, 16, 16, 16, &number, &why));
  REQUIRE(number == UINT64_MAX);
  REFUSED(kvl_reserved_slots(UINT64_MAX, 2, &number, &why), OVERFLOW);
  REFUSED(kvl_used_slots(two, 2, 19, &number, &why), LENGTH);
  REFUSED(kvl_waste_fraction(two, 2, 19, &share, &why), LENGTH);
  REFUSED(kvl_waste_fraction(NULL, 0, 19, &share, &why), TOKENS);
  OK(kvl_waste_fraction(two, 2, 20, &share, &why));
  REQUIRE(share.numerator == 10 && share.denominator == 40);
  REFUSED(kvl_extra_reservations(1, 0, 0, &number, &why), TOKENS);
}

static void chances(void) {
  REFUSED(kvl_binomial_pmf((1 << 20) + 1, 0.5, 1, &value, &why), TRIALS);
  REFUSED(kvl_binomial_tail(1, 1.5, 1, &value, &why), PROBABILITY);
  REFUSED(kvl_binomial_mean(1, -0.5, &value, &why), PROBABILITY);
  REFUSED(kvl_binomial_variance((1 << 20) + 1, 0.5, &value, &why), TRIALS);
  OK(kvl_binomial_tail(2, 0.5, 1, &value, &why));
  REQUIRE(value > 0.7499 && value < 0.7501);
  /* Nobody makes such a share, and nobody is refused one. */
  share.numerator = 1, share.denominator = 0;
  OK(kvl_ratio_to_f64(&share, &value, &why));
  REQUIRE(value > 1e308);
}

static void budgets(void) {
  kvl_budget budget;
  kvl_usage usage;
  OK(kvl_budget_new(100, &budget, &why));
  REFUSED(kvl_budget_set_bound(&budget, KVL_REGIONS, 1, &why), REGION);
  REFUSED(kvl_budget_set_bound(&budget, KVL_REGION_WEIGHTS, 101, &why), BUDGET);
  OK(kvl_budget_set_bound(&budget, KVL_REGION_WEIGHTS, 60, &why));
  REFUSED(kvl_budget_set_bound(&budget, KVL_REGION_KV_POOL, UINT64_MAX, &why), OVERFLOW);
  REFUSED(kvl_budget_take(&budget, KVL_REGIONS, 1, &why), REGION);
  REFUSED(kvl_budget_take(&budget, KVL_REGION_WEIGHTS, 61, &why), BUDGET);
  OK(kvl_budget_take(&budget, KVL_REGION_WEIGHTS, 50, &why));
  REFUSED(kvl_budget_set_bound(&budget, KVL_REGION_WEIGHTS, 49, &why), BUDGET);
  REFUSED(kvl_budget_give_back(&budget, KVL_REGION_WEIGHTS, 51, &why), BUDGET);
  REFUSED(kvl_budget_give_back(&budget, KVL_REGIONS, 1, &why), REGION);
  REFUSED(kvl_budget_observe(&budget, KVL_REGIONS, 1, &number, &why), REGION);
  OK(kvl_budget_observe(&budget, KVL_REGION_WEIGHTS, 70, &number, &why));
  REQUIRE(number == 10);
  REFUSED(kvl_budget_usage(&budget, KVL_REGIONS, &usage, &why), REGION);
  OK(kvl_budget_usage(&budget, KVL_REGION_WEIGHTS, &usage, &why));
  REQUIRE(usage.bound == 60 && usage.current == 70 && usage.peak == 70);
}

/* What each call with a batch refuses. */
static void batches(const kvl_split *split, const kvl_split_batch *batch, uint32_t argument) {
  kvl_split_counts counts = KVL_SIZED(kvl_split_counts);
  kvl_split_header header;
  kvl_split_fault fault;
  static uint32_t words[4096];
  REQUIRE(kvl_split_count(split, batch, &counts, &why) == KVL_INVALID && why.argument == argument);
  REQUIRE(kvl_split_plan(split, batch, 1, words, 4096, &header, &why) == KVL_INVALID && why.argument == argument);
  REQUIRE(kvl_split_validate(split, batch, words, 4096, &fault, &why) == KVL_INVALID && why.argument == argument);
}

static void splits(void) {
  const uint32_t keys[3] = {100, 50, 10}, starts[3] = {0, 2, 1}, longer[2] = {0, 9}, places[1] = {0};
  kvl_split split = KVL_SIZED(kvl_split), wrong;
  kvl_split_batch batch = KVL_SIZED(kvl_split_batch), bad;
  kvl_split_header header;
  kvl_split_fault fault;
  static uint32_t words[4096];
  OK(kvl_split_decode(2, 4, 4, 2, 100, &split, &why));
  batch.lengths = keys, batch.sequences = 2;
  OK(kvl_split_plan(&split, &batch, 1, words, 4096, &header, &why));
  OK(kvl_split_read(&split, words, 4096, &header, &why));
  OK(kvl_split_validate(&split, &batch, words, 4096, &fault, &why));
  REQUIRE(fault.what[0] == '\0');
  REFUSED(kvl_split_plan(&split, &batch, 1, words, 20, &header, &why), OUTPUT);
  words[1]++;
  REFUSED(kvl_split_read(&split, words, 4096, &header, &why), HEADER);
  REFUSED(kvl_split_validate(&split, &batch, words, 4096, &fault, &why), HEADER);

  bad = batch, bad.sequences = 3;
  batches(&split, &bad, KVL_ARGUMENT_SEQUENCES);
  wrong = split, wrong.keys_max = 99;
  batches(&wrong, &batch, KVL_ARGUMENT_LENGTH);
  bad = batch, bad.query_starts = starts;
  batches(&split, &bad, KVL_ARGUMENT_QUERIES);
  bad = batch, bad.query_positions = places, bad.query_positions_count = 1;
  batches(&split, &bad, KVL_ARGUMENT_QUERIES);
  bad = batch, bad.sequences = 1, bad.query_starts = longer;
  batches(&split, &bad, KVL_ARGUMENT_TOKENS);

#define WRONG(field, amount, name) \
  wrong = split, wrong.field = amount; \
  REFUSED(kvl_split_check(&wrong, &why), name); \
  batches(&wrong, &batch, KVL_ARGUMENT_##name)
  WRONG(heads, 0, HEADS);
  WRONG(query_heads, 3, HEADS);
  WRONG(tile_rows, 17, TILE);
  WRONG(tile_keys, 24, TILE);
  WRONG(window_left, -2, WINDOW);
  WRONG(chunk_keys, 1, CHUNK);
  WRONG(thread_blocks, 0, THREAD_BLOCKS);
  WRONG(sequences_max, 0, SEQUENCES);
  WRONG(query_tokens_max, 0, TOKENS);
  WRONG(keys_max, 0, LENGTH);
}

static void free_lists(void) {
  static union {
    max_align_t aligned;
    unsigned char bytes[4096 + KVL_MEMORY_ALIGN];
  } room;
  unsigned char *memory = room.bytes + (KVL_MEMORY_ALIGN - (uintptr_t)room.bytes % KVL_MEMORY_ALIGN) % KVL_MEMORY_ALIGN;
  kvl_free_blocks list;
  size_t bytes;
  OK(kvl_free_blocks_bytes(100, &bytes, &why));
  REQUIRE(bytes % KVL_MEMORY_ALIGN == 0 && bytes <= 4096);
  REFUSED(kvl_free_blocks_init(memory, bytes - 1, 100, &list, &why), MEMORY);
  REFUSED(kvl_free_blocks_init(memory + 8, bytes, 100, &list, &why), MEMORY);
  REFUSED(kvl_free_blocks_init(NULL, bytes, 100, &list, &why), POINTER);
  REFUSED(kvl_free_blocks_init(memory, bytes, 0, &list, &why), BLOCKS);
  REFUSED(kvl_free_blocks_init(memory, bytes, UINT32_MAX, &list, &why), BLOCKS);
  OK(kvl_free_blocks_init(memory, bytes, 100, &list, &why));
  OK(kvl_free_blocks_count(&list, &number, &why));
  REQUIRE(number == 100);
}

static void names(void) {
  const uint32_t tokens[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  kvl_domain domain = KVL_SIZED(kvl_domain);
  kvl_identity_key key;
  kvl_identity root, chain[2];
  size_t blocks;
  OK(kvl_identity_key_new(1, 2, &key, &why));
  OK(kvl_identity_key_root(&key, &domain, &root, &why));
  REFUSED(kvl_identity_key_block(&key, &root, tokens, 0, NULL, chain, &why), TOKENS);
  REFUSED(kvl_identity_key_block(&key, &root, tokens, (size_t)1 << 32, NULL, chain, &why), TOKENS);
  REFUSED(kvl_identity_key_chain(&key, &root, tokens, 8, 0, chain, 2, &blocks, &why), BLOCK_TOKENS);
  REFUSED(kvl_identity_key_chain(&key, &root, tokens, 8, 2, chain, 2, &blocks, &why), OUTPUT);
  OK(kvl_identity_key_chain(&key, &root, tokens, 8, 4, chain, 2, &blocks, &why));
  REQUIRE(blocks == 2);
  domain.salt = tokens, domain.salt_bytes = (size_t)1 << 32;
  REFUSED(kvl_identity_key_root(&key, &domain, &root, &why), SALT);
}

int main(void) {
  geometries();
  lengths();
  chances();
  budgets();
  splits();
  free_lists();
  names();
  puts("every refusal of what needs no pool");
  return 0;
}
