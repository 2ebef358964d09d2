// The end of an item: sums of its warps become rows of the output, or of a part.
#ifndef KVK_ATTEND_FINISH_CUH
#define KVK_ATTEND_FINISH_CUH

#include "../result.cuh"
#include "sums.cuh"

namespace kvk {

// Where the sums of a warp's row are.
template <class S>
KVK_DEVICE int sums_row(int warp, int row) {
  return warp * 16 + row;
}

template <class S>
KVK_DEVICE void leave_sums(const Sums<S> &sums, typename S::Shared &shared) {
  const int i = lane_of();
  KVK_UNROLL
  for (int half = 0; half < 2; ++half) {
    float mass = sums.mass[half];
    mass += shuffle_xor(mass, 1);
    mass += shuffle_xor(mass, 2);
    const int row = sums_row<S>(warp_of(), i / 4 + half * 8);
    if ((i & 3) == 0) {
      shared.peak[row] = sums.peak[half];
      shared.mass[row] = mass;
    }
  }
  // Tiles give way to sums: all warps must be done with them.
  if (!KVK_PLANT(barrier_before_join)) barrier();
  KVK_UNROLL
  for (int n = 0; n < S::kDim / 8; ++n) {
    KVK_UNROLL
    for (int j = 0; j < 4; ++j) {
      const int row = sums_row<S>(warp_of(), i / 4 + (j >> 1) * 8);
      shared.sums[row * S::kPitch + column_of<S>(n, (i & 3) * 2 + (j & 1))] = sums.values[n][j];
    }
  }
  barrier();
}

// The joined state of a row of the tile: of all warps if they shared its keys, of its own one if not.
template <class S>
struct Joined {
  static constexpr int kCount = S::kSharesKeys ? S::kWarps : 1;
  float weight[kCount];
  float peak;
  float mass;

  KVK_DEVICE Joined(const typename S::Shared &shared, int row) : peak(-INFINITY), mass(0.0f) {
    KVK_UNROLL
    for (int w = 0; w < kCount; ++w) peak = fmaxf(peak, shared.peak[w * 16 + row]);
    KVK_UNROLL
    for (int w = 0; w < kCount; ++w) {
      weight[w] = exp2(shared.peak[w * 16 + row] - base_of(peak));
      mass += weight[w] * shared.mass[w * 16 + row];
    }
  }

  KVK_DEVICE void sum(float (&values)[8], const typename S::Shared &shared, int row, int chunk) const {
    KVK_UNROLL
    for (int e = 0; e < 8; ++e) values[e] = 0.0f;
    KVK_UNROLL
    for (int w = 0; w < kCount; ++w)
      KVK_UNROLL
      for (int e = 0; e < 8; ++e)
        values[e] += weight[w] * shared.sums[(w * 16 + row) * S::kPitch + chunk * 8 + e];
  }
};

template <class S>
KVK_DEVICE void write_rows(const kvk_attend_params &p, const typename S::Shared &shared, const RowTile &tile,
                           uint32_t part) {
  constexpr int kChunks = S::kDim / 8;
  const float value_scale = S::kBytes == 1 && p.cache.value_scales == nullptr ? p.cache.value_scale : 1.0f;
  for (int i = static_cast<int>(thread()); i < S::kRows * kChunks; i += S::kThreads) {
    const int row = i / kChunks, chunk = i % kChunks;
    if (!has_row(tile, row) || chunk * 8 >= static_cast<int>(p.cache.head_dim)) continue;
    const Target target = target_of(tile, row);
    const Joined<S> joined(shared, row);
    const float *const sinks = part == KVK_WHOLE ? p.sinks : nullptr;
    const Total total = with_sink(joined.peak, joined.mass, sinks, target.head);
    float values[8];
    joined.sum(values, shared, row, chunk);
    KVK_UNROLL
    for (int e = 0; e < 8; ++e) values[e] *= total.share * value_scale;
    if (part == KVK_WHOLE)
      write_whole(p, target, chunk, values, total);
    else
      write_part(p, part, row, chunk, values, total);
  }
}

}  // namespace kvk

#endif
