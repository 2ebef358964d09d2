// The rows of a tile: which token and head each is, where it stands in its sequence, and its query.
#ifndef KVK_ATTEND_ROWS_CUH
#define KVK_ATTEND_ROWS_CUH

#include "shape.cuh"

namespace kvk {

// One item's tile of rows. Positions are in shared memory; `low` and `high` bound the keys that any row sees.
struct RowTile {
  uint32_t first_token;  // of the sequence
  uint32_t first_row;
  uint32_t row_count;    // of the sequence and head; the tile may reach beyond
  uint32_t group;
  uint32_t head;         // the first query head
};

KVK_DEVICE RowTile row_tile(const kvk_attend_params &p, uint32_t sequence, uint32_t head, uint32_t first_row) {
  RowTile tile;
  tile.group = p.query_heads / p.cache.heads;
  tile.first_token = p.query_starts == nullptr ? sequence : load(&p.query_starts[sequence]);
  const uint32_t end_token = p.query_starts == nullptr ? sequence + 1 : load(&p.query_starts[sequence + 1]);
  tile.first_row = first_row;
  tile.row_count = (end_token - tile.first_token) * tile.group;
  tile.head = head * tile.group;
  return tile;
}

KVK_DEVICE kvk_item load_item(const kvk_item *item) {
  return kvk_item{load(&item->sequence), load(&item->head),    load(&item->first_row),
                  load(&item->first_key), load(&item->end_key), load(&item->part)};
}

// A row of the output: its token in the batch, and its query head.
struct Target {
  uint32_t token;
  uint32_t head;
};

KVK_DEVICE bool has_row(const RowTile &tile, int row) { return tile.first_row + row < tile.row_count; }

KVK_DEVICE Target target_of(const RowTile &tile, int row) {
  const uint32_t place = tile.first_row + row;
  return Target{tile.first_token + place / tile.group, tile.head + place % tile.group};
}

template <class S>
KVK_DEVICE void load_positions(const kvk_attend_params &p, typename S::Shared &shared, const RowTile &tile,
                               uint32_t length) {
  const int row = static_cast<int>(thread());
  if (row >= S::kRows) return;
  int32_t position = -1;
  float slope = 0.0f;
  if (has_row(tile, row)) {
    const Target target = target_of(tile, row);
    const uint32_t token = target.token;
    const uint32_t place = p.query_positions != nullptr
                               ? load(&p.query_positions[token])
                               : length - tile.row_count / tile.group + (token - tile.first_token);
    // Not before the first key, which is where more query tokens than keys begin, nor where no key can be.
    if (place < KVK_PLACES) position = static_cast<int32_t>(place);
    if (p.slopes != nullptr) slope = load(&p.slopes[target.head]);
  }
  shared.position[row] = position;
  shared.slope[row] = slope;
}

// The first key that a row sees. `window_left` counts the keys before the row's own.
KVK_DEVICE int32_t first_seen(const kvk_attend_params &p, int32_t position) {
  const int32_t window = KVK_PLANT(window_by_one) ? p.window_left - 1 : p.window_left;
  return p.window_left < 0 || position < window ? 0 : position - window;
}

// A pair of bfloat16 as binary16, held within its range.
KVK_DEVICE uint32_t clamped(uint32_t two, bool &clamped) {
  const float a = low<bf16>(two), b = high<bf16>(two);
  const float largest = 65504.0f;
  const bool fits = !(a > largest) && !(a < -largest) && !(b > largest) && !(b < -largest);
  if (fits) return pack<f16>(a, b);
  clamped = true;
  const float held_a = a > largest ? largest : a < -largest ? -largest : a;
  const float held_b = b > largest ? largest : b < -largest ? -largest : b;
  return pack<f16>(held_a, held_b);
}

// Queries in the type of the products; rows and elements that are not there are zeros.
template <class S>
KVK_DEVICE void load_queries(const kvk_attend_params &p, typename S::Shared &shared, const RowTile &tile,
                             uint32_t sequence) {
  constexpr int kChunks = S::kDim / 8;
  lane *const to = reinterpret_cast<lane *>(shared.loaded.queries);
  const bool converts = S::kBytes == 1 && p.type == KVK_BF16;
  bool held = false;
  for (int i = static_cast<int>(thread()); i < S::kRows * kChunks; i += S::kThreads) {
    const int row = i / kChunks, chunk = i % kChunks;
    lane query = {};
    if (has_row(tile, row) && chunk * 8 < static_cast<int>(p.cache.head_dim)) {
      const Target target = target_of(tile, row);
      const int64_t element = target.token * p.query_token_stride + target.head * p.query_head_stride + chunk * 8;
      query = load(reinterpret_cast<const lane *>(static_cast<const uint16_t *>(p.queries) + element));
      if (converts) {
        KVK_UNROLL
        for (int word = 0; word < 4; ++word) query.word[word] = clamped(query.word[word], held);
      }
    }
    to[chunk_at<S>(row, chunk)] = query;
  }
  if (held) report(p.status, KVK_FAULT_CLAMPED, sequence, tile.first_row);
}

}  // namespace kvk

#endif
