/* A split plan, from C: the words that a device would read are found where the layout says.
 *
 *   cc -std=c11 -I ffi/include ffi/tests/split.c target/capi/dist/libkvledger.a -o split && ./split
 */
#include "common/check.h"

#define WORDS 4096

static void a_long_sequence_is_cut_and_joined(void) {
  static uint32_t words[WORDS];
  const uint32_t lengths[3] = {10000, 1, 0};
  kvl_split split = KVL_SIZED(kvl_split);
  kvl_split_places layout = KVL_SIZED(kvl_split_places);
  kvl_split_header header, read;
  kvl_split_fault fault;
  kvl_split_batch batch = KVL_SIZED(kvl_split_batch);
  const uint32_t *starts;
  const kvl_split_item *items;
  const kvl_split_join *joins;
  uint32_t keys = 0, i;

  batch.lengths = lengths;
  batch.sequences = 3;
  OK(kvl_split_decode(1, 8, 10, 3, 10000, &split, NULL));
  OK(kvl_split_layout(&split, &layout, NULL));
  REQUIRE(layout.bytes <= sizeof(words) && layout.items % 64 == 0 && layout.joins % 64 == 0);
  REQUIRE(kvl_split_plan(&split, &batch, 41, words, WORDS, (kvl_split_header *)(void *)words, NULL) == KVL_INVALID);
  OK(kvl_split_plan(&split, &batch, 41, words, WORDS, &header, NULL));
  REQUIRE(header.generation == 41 && header.words * 4 == layout.bytes && header.joins == 1);

  starts = words + layout.item_starts / 4;
  items = (const kvl_split_item *)(const void *)(words + layout.items / 4);
  joins = (const kvl_split_join *)(const void *)(words + layout.joins / 4);
  REQUIRE(starts[0] == 0 && starts[10] == header.items && words[layout.join_count / 4] == 1);
  for (i = 0; i < joins[0].count; i++) {
    REQUIRE(items[i].sequence == 0 && items[i].first_key == keys && items[i].part == i);
    keys = items[i].end_key;
  }
  REQUIRE(keys == 10000 && header.parts == joins[0].count);
  REQUIRE(items[i].sequence == 1 && items[i].end_key == 1 && items[i].part == KVL_SPLIT_WHOLE);
  REQUIRE(items[i + 1].sequence == 2 && items[i + 1].end_key == 0);
  REQUIRE(items[i + 2].sequence == UINT32_MAX);

  OK(kvl_split_read(&split, words, WORDS, &read, NULL));
  REQUIRE(read.checksum == header.checksum);
  OK(kvl_split_validate(&split, &batch, words, WORDS, &fault, NULL));
  REQUIRE(fault.what[0] == 0);
  words[layout.items / 4 + 4] += 1;
  REQUIRE(kvl_split_read(&split, words, WORDS, &read, NULL) == KVL_INVALID);
}

static void what_does_not_fit_is_named(void) {
  const uint32_t lengths[2] = {1, 10001};
  kvl_split split = KVL_SIZED(kvl_split);
  kvl_split_counts counts = KVL_SIZED(kvl_split_counts);
  kvl_split_batch batch = KVL_SIZED(kvl_split_batch);
  kvl_refusal refusal;

  batch.lengths = lengths;
  batch.sequences = 2;
  OK(kvl_split_prefill(1, 8, 10, 3, 100, 10000, &split, NULL));
  REQUIRE(split.tile_rows == KVL_SPLIT_PREFILL_ROWS && split.query_tokens_max == 100);
  REQUIRE(kvl_split_count(&split, &batch, &counts, &refusal) == KVL_INVALID);
  REQUIRE(refusal.argument == KVL_ARGUMENT_LENGTH);
  split.chunk_keys = 100;
  REQUIRE(kvl_split_check(&split, &refusal) == KVL_INVALID && refusal.argument == KVL_ARGUMENT_CHUNK);
}

int main(void) {
  a_long_sequence_is_cut_and_joined();
  what_does_not_fit_is_named();
  return 0;
}
