// Results of attention, finished or in parts: what a row's sums come to, and where they go.
#ifndef KVK_RESULT_CUH
#define KVK_RESULT_CUH

#include "attend.h"
#include "report.cuh"

namespace kvk {

constexpr float kLn2 = 0.6931471805599453f;
constexpr float kLog2E = 1.4426950408889634f;

// Partial sums are read and written by fours.
struct alignas(16) Four {
  float value[4];
};

// Of a row: the logarithm of its mass, base 2, and what its sums are multiplied by. A row without keys has the
// logarithm -infinity and the share 0: it is tested for, not computed.
struct Total {
  float log;
  float share;
};

// `mass` is relative to 2^peak. A sink is one more score that has no value.
KVK_DEVICE Total with_sink(float peak, float mass, const float *sinks, uint32_t head) {
  float shrink = 1.0f;
  if (sinks != nullptr) {
    const float sink = load(&sinks[head]) * kLog2E;
    const float higher = fmaxf(peak, sink);
    if (higher == -INFINITY && mass == mass) return Total{-INFINITY, 0.0f};  // else a NaN, which stays one
    shrink = exp2(peak - higher);
    mass = mass * shrink + exp2(sink - higher);
    peak = higher;
  }
  if (!(mass > 0.0f) && mass == mass) return Total{-INFINITY, 0.0f};
  return Total{peak + log2(mass), shrink * reciprocal(mass)};
}

// Eight elements in a type of outputs, in one store.
KVK_DEVICE void store_eight(void *base, int64_t element, uint32_t type, const float (&values)[8]) {
  lane packed;
  KVK_UNROLL
  for (int i = 0; i < 4; ++i)
    packed.word[i] = type == KVK_F16 ? pack<f16>(values[i * 2], values[i * 2 + 1])
                                     : pack<bf16>(values[i * 2], values[i * 2 + 1]);
  store(reinterpret_cast<lane *>(static_cast<uint16_t *>(base) + element), packed);
}

// Rows of the output have a token and a head; the first chunk's thread writes the row's logarithm too.
template <class Target>
KVK_DEVICE void write_whole(const kvk_attend_params &p, const Target &target, int chunk, const float (&values)[8],
                            const Total &total) {
  const int64_t element = target.token * p.output_token_stride + target.head * p.output_head_stride + chunk * 8;
  store_eight(p.output, element, p.type, values);
  if (chunk == 0 && p.lse != nullptr)
    store(&p.lse[target.token * p.lse_token_stride + target.head], total.log == -INFINITY ? -INFINITY : total.log * kLn2);
}

KVK_DEVICE void write_part(const kvk_attend_params &p, uint32_t part, int row, int chunk, const float (&values)[8],
                           const Total &total) {
  const int64_t at = static_cast<int64_t>(part) * p.tile_rows + row;
  float *const to = p.part_output + at * p.cache.head_dim + chunk * 8;
  KVK_UNROLL
  for (int half = 0; half < 2; ++half) {
    const Four four = {{values[half * 4], values[half * 4 + 1], values[half * 4 + 2], values[half * 4 + 3]}};
    store(reinterpret_cast<Four *>(to) + half, four);
  }
  if (chunk == 0) store(&p.part_lse[at], total.log);
}

}  // namespace kvk

#endif
