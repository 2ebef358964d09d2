// Where a key of a sequence lies in the cache. All arithmetic on elements is 64-bit: a pool may have more than 2^32.
#ifndef KVK_PLACE_CUH
#define KVK_PLACE_CUH

#include "report.cuh"

namespace kvk {

// A block and a token in it; block 0, the null block, is nowhere.
struct Place {
  uint32_t block;
  uint32_t token;
};

KVK_DEVICE int64_t element_of(const kvk_cache &cache, Place place, uint32_t head) {
  int64_t block = place.block * cache.block_stride;
  if (KVK_PLANT(offset_32_bits)) block &= INT32_MAX;
  return block + place.token * cache.token_stride + head * cache.head_stride;
}

KVK_DEVICE int64_t scale_of(const kvk_cache &cache, Place place, uint32_t head) {
  return place.block * cache.scale_block_stride + place.token * cache.scale_token_stride +
         head * cache.scale_head_stride;
}

// One sequence's row of the table.
struct Row {
  const uint32_t *entries;
  uint32_t sequence;
};

KVK_DEVICE Row row_of(const kvk_table &table, uint32_t sequence) {
  const uint32_t row = table.rows == nullptr ? sequence : load(&table.rows[sequence]);
  return Row{table.entries + row * table.row_stride, sequence};
}

// Nowhere, and reported, if the table is too short or names no block of the pool. Nothing outside of the row is read.
KVK_DEVICE Place locate(const kvk_cache &cache, const kvk_table &table, Row row, uint32_t key, kvk_status *status) {
  const uint32_t column = key / cache.block_tokens;
  if (column >= table.columns) {
    report(status, KVK_FAULT_TABLE, row.sequence, key);
    return Place{0, 0};
  }
  const uint32_t block = load(&row.entries[column]);
  if (block - 1 >= cache.blocks) {  // 0 wraps round
    report(status, KVK_FAULT_BLOCK, row.sequence, key);
    return Place{0, 0};
  }
  return Place{block, key - column * cache.block_tokens};
}

}  // namespace kvk

#endif
