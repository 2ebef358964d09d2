// Keys and values on their way: tiles of shared memory that fill while an earlier one is in work.
//
// Tile t is placed (its keys' elements looked up in the table), later fetched, later used. A thread block is at one
// tile at a time, and passes one barrier for each.
#ifndef KVK_ATTEND_TILES_CUH
#define KVK_ATTEND_TILES_CUH

#include "rows.cuh"

namespace kvk {

// Keys `begin..end` of one sequence and head: from the first that any row sees to the last.
struct KeyRange {
  Row row;
  uint32_t head;
  uint32_t begin;
  uint32_t end;
};

// The item's keys, less those that no row of the tile sees: their entries in the table may be recycled.
template <class S>
KVK_DEVICE KeyRange seen_keys(const kvk_attend_params &p, const typename S::Shared &shared, const kvk_item &item) {
  int32_t low = INT32_MAX, high = -1;
  for (int row = 0; row < S::kRows; ++row) {
    const int32_t position = shared.position[row];
    if (position < 0) continue;
    const int32_t first = first_seen(p, position);
    low = first < low ? first : low;
    high = position > high ? position : high;
  }
  KeyRange keys = {row_of(p.table, item.sequence), item.head, item.first_key, item.end_key};
  if (static_cast<int64_t>(keys.begin) < low) keys.begin = static_cast<uint32_t>(low);
  if (static_cast<int64_t>(keys.end) > high + 1) keys.end = static_cast<uint32_t>(high + 1);
  return keys;
}

template <class S>
KVK_DEVICE int tile_count(const KeyRange &keys) {
  return keys.end > keys.begin ? static_cast<int>((keys.end - keys.begin + S::kKeys - 1) / S::kKeys) : 0;
}

// Looks up where the keys of a tile are. Keys from `end` on are not: nothing is read for them, not even the table.
template <class S>
KVK_DEVICE void place_tile(const kvk_attend_params &p, typename S::Shared &shared, const KeyRange &keys, int tile) {
  const int at = tile % S::kAhead, i = static_cast<int>(thread());
  const uint32_t key = keys.begin + static_cast<uint32_t>(tile) * S::kKeys + static_cast<uint32_t>(i);
  Place place = {0, 0};
  if (i < S::kKeys && key < keys.end) place = locate(p.cache, p.table, keys.row, key, p.status);
  const bool readable = place.block != 0;
  const uint32_t bits = ballot(readable);  // by all warps, also those without a key
  if (i >= S::kKeys) return;
  shared.elements[at][i] = readable ? element_of(p.cache, place, keys.head) : -1;
  if (lane_of() == 0) shared.readable[at][warp_of()] = bits;
  if (S::kBytes == 1 && p.cache.key_scales != nullptr) {
    const int64_t scale = scale_of(p.cache, place, keys.head);
    shared.key_scale[at][i] = readable ? load(&p.cache.key_scales[scale]) : 0.0f;
    shared.value_scale[at][i] = readable ? load(&p.cache.value_scales[scale]) : 0.0f;
  }
}

// Starts to load a tile. What is not readable becomes zeros: a masked score of a NaN value would still be a NaN.
template <class S>
KVK_DEVICE void fetch_tile(const kvk_attend_params &p, typename S::Shared &shared, int tile) {
  constexpr int kChunks = S::kDim * S::kBytes / 16;
  constexpr int kElements = 16 / S::kBytes;  // of a chunk
  const int at = tile % S::kAhead, stage = tile % S::kStages;
  const unsigned char *const keys = static_cast<const unsigned char *>(p.cache.keys);
  const unsigned char *const values = static_cast<const unsigned char *>(p.cache.values);
  KVK_UNROLL_BY(4)  // more addresses at once would not leave registers for the sums
  for (int i = static_cast<int>(thread()); i < S::kKeys * kChunks; i += S::kThreads) {
    const int key = i / kChunks, chunk = i % kChunks;
    const int64_t element = shared.elements[at][key];
    const bool valid = element >= 0 && chunk * kElements < static_cast<int>(p.cache.head_dim);
    const bool value_valid = KVK_PLANT(tail_predicate) ? chunk * kElements < static_cast<int>(p.cache.head_dim) : valid;
    const int64_t byte = element < 0 ? 0 : (element + chunk * kElements) * S::kBytes;
    const int to = (S::kBytes == 2 ? chunk_at<S>(key, chunk) : byte_chunk_at<S>(key, chunk)) * 16;
    copy_async<16>(&shared.loaded.keys[stage][to], keys + byte, valid);
    copy_async<16>(&shared.loaded.values[stage][to], values + byte, value_valid);
  }
  commit();
}

}  // namespace kvk

#endif
