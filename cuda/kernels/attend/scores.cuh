// Scores of a warp's 16 rows against its keys of a tile: products, then cap, slope and mask.
//
// A thread holds, of each 16 by 8 product, rows `lane / 4` and that + 8, and keys 2 * (lane % 4) and that + 1.
#ifndef KVK_ATTEND_SCORES_CUH
#define KVK_ATTEND_SCORES_CUH

#include "tiles.cuh"

namespace kvk {

// What a thread knows of its two rows.
struct TwoRows {
  int32_t first[2];  // keys first..=last are seen; none if last < first
  int32_t last[2];
  float slope[2];
};

template <class S>
KVK_DEVICE TwoRows two_rows(const kvk_attend_params &p, const typename S::Shared &shared, const RowTile &tile) {
  TwoRows rows;
  KVK_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int row = (S::kSharesKeys ? 0 : warp_of() * 16) + lane_of() / 4 + half * 8;
    rows.last[half] = shared.position[row];
    rows.first[half] = rows.last[half] < 0 ? 0 : first_seen(p, rows.last[half]);
    rows.slope[half] = p.slopes != nullptr && has_row(tile, row) ? load(&p.slopes[target_of(tile, row).head]) : 0.0f;
  }
  return rows;
}

// One 16 by 16 step of the queries of this warp. For eight bits, columns are in the order in which a word of a key
// holds them: the sum over them has none.
template <class S>
KVK_DEVICE void query_step(uint32_t (&q)[4], const typename S::Shared &shared, int step) {
  const lane *const from = reinterpret_cast<const lane *>(shared.loaded.queries);
  const int first = S::kSharesKeys ? 0 : warp_of() * 16, i = lane_of();
  if constexpr (S::kBytes == 2) {
    load_matrix(q, &from[chunk_at<S>(first + (i & 15), step * 2 + (i >> 4))]);
  } else {
    KVK_UNROLL
    for (int half = 0; half < 2; ++half) {
      const lane &chunk = from[chunk_at<S>(first + i / 4 + half * 8, step * 2 + (i >> 1 & 1))];
      q[half] = chunk.word[(i & 1) * 2];
      q[half + 2] = chunk.word[(i & 1) * 2 + 1];
    }
  }
}

// All steps, in registers if there is room for them.
template <class S, bool Keeps = S::kKeepsQueries>
struct Queries {
  uint32_t kept[S::kDim / 16][4];

  KVK_DEVICE explicit Queries(const typename S::Shared &shared) {
    KVK_UNROLL
    for (int step = 0; step < S::kDim / 16; ++step) query_step<S>(kept[step], shared, step);
  }
  KVK_DEVICE void step(uint32_t (&q)[4], const typename S::Shared &, int step) const {
    KVK_UNROLL
    for (int i = 0; i < 4; ++i) q[i] = kept[step][i];
  }
};
template <class S>
struct Queries<S, false> {
  KVK_DEVICE explicit Queries(const typename S::Shared &) {}
  KVK_DEVICE void step(uint32_t (&q)[4], const typename S::Shared &shared, int step) const {
    query_step<S>(q, shared, step);
  }
};

// Sixteen keys from `key`, one 16-element step, as two operands of 8 keys each.
template <class S>
KVK_DEVICE void key_step(uint32_t (&k)[4], const unsigned char *tile, int key, int step) {
  const int i = lane_of();
  if constexpr (S::kBytes == 2) {
    load_matrix(k, tile + chunk_at<S>(key + (i & 7) + (i >> 4) * 8, step * 2 + (i >> 3 & 1)) * 16);
  } else {
    KVK_UNROLL
    for (int half = 0; half < 2; ++half) {
      const unsigned char *const chunk = tile + byte_chunk_at<S>(key + i / 4 + half * 8, step) * 16;
      const uint32_t four = *reinterpret_cast<const uint32_t *>(chunk + (i & 3) * 4);
      k[half * 2] = unpack<typename S::Cache>(static_cast<uint16_t>(four));
      k[half * 2 + 1] = unpack<typename S::Cache>(static_cast<uint16_t>(four >> 16));
    }
  }
}

template <class S>
KVK_DEVICE void products(float (&scores)[S::kWarpKeys / 8][4], const typename S::Shared &shared,
                         const Queries<S> &queries, int stage, int first_key) {
  KVK_UNROLL
  for (int n = 0; n < S::kWarpKeys / 8; ++n)
    for (int j = 0; j < 4; ++j) scores[n][j] = 0.0f;
  KVK_UNROLL
  for (int step = 0; step < S::kDim / 16; ++step) {
    uint32_t q[4];
    queries.step(q, shared, step);
    KVK_UNROLL
    for (int n = 0; n < S::kWarpKeys / 16; ++n) {
      uint32_t k[4];
      key_step<S>(k, shared.loaded.keys[stage], first_key + n * 16, step);
      multiply<typename S::Product>(scores[n * 2], q, k[0], k[1]);
      multiply<typename S::Product>(scores[n * 2 + 1], q, k[2], k[3]);
    }
  }
}

constexpr float kLog2E = 1.4426950408889634f;

// From products to powers of two; masked by selection, because -infinity added to NaN is NaN.
template <class S>
KVK_DEVICE void finish_scores(float (&scores)[S::kWarpKeys / 8][4], const kvk_attend_params &p,
                              const typename S::Shared &shared, const TwoRows &rows, int at, int32_t tile_key,
                              int first_key) {
  const bool scaled = S::kBytes == 1 && p.cache.key_scales != nullptr;
  const float scale = S::kBytes == 1 && !scaled ? p.scale * p.cache.key_scale : p.scale;
  KVK_UNROLL
  for (int n = 0; n < S::kWarpKeys / 8; ++n) {
    KVK_UNROLL
    for (int j = 0; j < 4; ++j) {
      const int half = j >> 1, i = first_key + n * 8 + (lane_of() & 3) * 2 + (j & 1);
      const int32_t key = tile_key + i;
      float score = scores[n][j] * scale;
      if (scaled) score *= shared.key_scale[at][i];
      if (p.soft_cap != 0.0f) score = p.soft_cap * tanh(score / p.soft_cap);
      if (p.slopes != nullptr) score += rows.slope[half] * static_cast<float>(key - rows.last[half]);
      const bool seen = (shared.readable[at][i >> 5] >> (i & 31) & 1) != 0 && key >= rows.first[half] &&
                        key <= rows.last[half];
      scores[n][j] = seen ? score * kLog2E : -INFINITY;
    }
  }
}

}  // namespace kvk

#endif
