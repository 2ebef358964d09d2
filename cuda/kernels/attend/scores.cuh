// Scores of a warp's 16 rows against its keys of a tile: products, then cap, slope and mask.
//
// A thread holds, of each 16 by 8 product, rows `lane / 4` and that + 8, and keys 2 * (lane % 4) and that + 1.
#ifndef KVK_ATTEND_SCORES_CUH
#define KVK_ATTEND_SCORES_CUH

#include "../result.cuh"
#include "tiles.cuh"

namespace kvk {

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

// From products to powers of two; masked by selection, because -infinity added to NaN is NaN.
template <class S>
KVK_DEVICE void finish_scores(float (&scores)[S::kWarpKeys / 8][4], const kvk_attend_params &p,
                              const typename S::Shared &shared, int at, int32_t tile_key, int first_key) {
  const bool scaled = S::kBytes == 1 && p.cache.key_scales != nullptr;
  const float scale = S::kBytes == 1 && !scaled ? p.scale * p.cache.key_scale : p.scale;
  const float inverse_cap = p.soft_cap != 0.0f ? reciprocal(p.soft_cap) : 0.0f;
  KVK_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int row = (S::kSharesKeys ? 0 : warp_of() * 16) + lane_of() / 4 + half * 8;
    const int32_t last = shared.position[row], first = first_seen(p, last);
    const float slope = p.slopes != nullptr ? shared.slope[row] : 0.0f;
    KVK_UNROLL
    for (int n = 0; n < S::kWarpKeys / 8; ++n) {
      KVK_UNROLL
      for (int j = half * 2; j < half * 2 + 2; ++j) {
        const int i = first_key + n * 8 + (lane_of() & 3) * 2 + (j & 1);
        const int32_t key = tile_key + i;
        float score = scores[n][j] * scale;
        if (scaled) score *= shared.key_scale[at][i];
        if (p.soft_cap != 0.0f) score = p.soft_cap * tanh(score * inverse_cap);
        if (p.slopes != nullptr) score += slope * static_cast<float>(key - last);
        const bool readable = (shared.readable[at][i >> 5] >> (i & 31) & 1) != 0;
        scores[n][j] = readable && key >= first && key <= last ? score * kLog2E : -INFINITY;
      }
    }
  }
}

}  // namespace kvk

#endif
