// The running softmax of a warp's 16 rows, and its weighted sums of values.
#ifndef KVK_ATTEND_SUMS_CUH
#define KVK_ATTEND_SUMS_CUH

#include "scores.cuh"

namespace kvk {

// Of a thread's two rows: the largest score so far (base 2), the sum of powers of two relative to it, and sums of
// values, in the layout of products. For eight bits, columns are in the order of `column_of`.
template <class S>
struct Sums {
  float values[S::kDim / 8][4];
  float peak[2];
  float mass[2];

  KVK_DEVICE void clear() {
    KVK_UNROLL
    for (int n = 0; n < S::kDim / 8; ++n)
      for (int j = 0; j < 4; ++j) values[n][j] = 0.0f;
    peak[0] = peak[1] = -INFINITY;
    mass[0] = mass[1] = 0.0f;
  }
};

// What a peak is subtracted as: no score may meet -infinity minus -infinity.
KVK_DEVICE float base_of(float peak) { return peak == -INFINITY ? 0.0f : peak; }

// Turns scores into weights and makes the sums relative to the new peak.
template <class S>
KVK_DEVICE void weigh(Sums<S> &sums, float (&scores)[S::kWarpKeys / 8][4]) {
  KVK_UNROLL
  for (int half = 0; half < 2; ++half) {
    float peak = sums.peak[half];
    KVK_UNROLL
    for (int n = 0; n < S::kWarpKeys / 8; ++n)
      peak = fmaxf(peak, fmaxf(scores[n][half * 2], scores[n][half * 2 + 1]));
    peak = fmaxf(peak, shuffle_xor(peak, 1));
    peak = fmaxf(peak, shuffle_xor(peak, 2));
    const float base = base_of(peak), shrink = exp2(sums.peak[half] - base);
    float mass = 0.0f;
    KVK_UNROLL
    for (int n = 0; n < S::kWarpKeys / 8; ++n) {
      KVK_UNROLL
      for (int j = half * 2; j < half * 2 + 2; ++j) {
        scores[n][j] = exp2(scores[n][j] - base);
        mass += scores[n][j];
      }
    }
    sums.peak[half] = peak;
    sums.mass[half] = sums.mass[half] * shrink + mass;
    KVK_UNROLL
    for (int n = 0; n < S::kDim / 8; ++n) {
      sums.values[n][half * 2] *= shrink;
      sums.values[n][half * 2 + 1] *= shrink;
    }
  }
}

// Of an operand of sixteen keys: the element of a head that column c of 8-column tile n stands for.
template <class S>
KVK_DEVICE int column_of(int n, int c) {
  return S::kBytes == 2 ? n * 8 + c : n / 4 * 32 + c * 4 + n % 4;
}

template <class S>
KVK_DEVICE void add_wide_values(Sums<S> &sums, const uint32_t (&weights)[4], const unsigned char *tile, int key) {
  const int i = lane_of();
  KVK_UNROLL
  for (int pair = 0; pair < S::kDim / 16; ++pair) {
    uint32_t v[4];
    load_matrix_transposed(v, tile + chunk_at<S>(key + (i & 15), pair * 2 + (i >> 4)) * 16);
    multiply<typename S::Product>(sums.values[pair * 2], weights, v[0], v[1]);
    multiply<typename S::Product>(sums.values[pair * 2 + 1], weights, v[2], v[3]);
  }
}

// A word of each of this lane's four keys has one element for each of four column tiles: unpacked, and dealt out.
template <class S>
KVK_DEVICE void add_byte_values(Sums<S> &sums, const uint32_t (&weights)[4], const unsigned char *tile, int key,
                                const float *scales) {
  const int i = lane_of(), t = (i & 3) * 2;
  const int keys[4] = {key + t, key + t + 1, key + t + 8, key + t + 9};
  KVK_UNROLL
  for (int four = 0; four < S::kDim / 32; ++four) {
    uint32_t unpacked[4][2];
    KVK_UNROLL
    for (int k = 0; k < 4; ++k) {
      const unsigned char *const chunk = tile + byte_chunk_at<S>(keys[k], four * 2 + (i >> 4)) * 16;
      const uint32_t word = *reinterpret_cast<const uint32_t *>(chunk + (i >> 2 & 3) * 4);
      KVK_UNROLL
      for (int part = 0; part < 2; ++part) {
        uint32_t two = unpack<typename S::Cache>(static_cast<uint16_t>(word >> part * 16));
        if (scales != nullptr) two = pack<f16>(low<f16>(two) * scales[keys[k]], high<f16>(two) * scales[keys[k]]);
        unpacked[k][part] = two;
      }
    }
    KVK_UNROLL
    for (int n = 0; n < 4; ++n) {
      const int part = n >> 1, shift = (n & 1) * 16;
      const uint32_t b0 = (unpacked[0][part] >> shift & 0xFFFFu) | (unpacked[1][part] >> shift & 0xFFFFu) << 16;
      const uint32_t b1 = (unpacked[2][part] >> shift & 0xFFFFu) | (unpacked[3][part] >> shift & 0xFFFFu) << 16;
      multiply<f16>(sums.values[four * 4 + n], weights, b0, b1);
    }
  }
}

// Adds values of the warp's keys by their weights, which go from one product into the next without leaving registers.
template <class S>
KVK_DEVICE void add_values(Sums<S> &sums, const float (&weights)[S::kWarpKeys / 8][4], const kvk_attend_params &p,
                           const typename S::Shared &shared, int at, int stage, int first_key) {
  using Product = typename S::Product;
  const float *const scales = p.cache.value_scales != nullptr ? shared.value_scale[at] : nullptr;
  KVK_UNROLL
  for (int n = 0; n < S::kWarpKeys / 16; ++n) {
    const float(&a)[4] = weights[n * 2], (&b)[4] = weights[n * 2 + 1];
    const uint32_t packed[4] = {pack<Product>(a[0], a[1]), pack<Product>(a[2], a[3]), pack<Product>(b[0], b[1]),
                                pack<Product>(b[2], b[3])};
    const int key = first_key + n * 16;
    if constexpr (S::kBytes == 2)
      add_wide_values<S>(sums, packed, shared.loaded.values[stage], key);
    else
      add_byte_values<S>(sums, packed, shared.loaded.values[stage], key, scales);
  }
}

}  // namespace kvk

#endif
