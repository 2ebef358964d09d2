// Joins parts of attention: those that a plan cut a tile into, and two results over different keys.
//
// Part i has the logarithm of its mass and its values divided by it. Together: sum of 2^(log i - peak) * values i,
// divided by the sum of 2^(log i - peak). A part without keys has the logarithm -infinity and is passed over: it may
// hold anything.
#include "result.cuh"

namespace kvk {
namespace {

constexpr unsigned kMergeThreads = 128;
constexpr unsigned kWarps = kMergeThreads / 32;

// A row of the output.
struct RowTarget {
  uint32_t token;
  uint32_t head;
};

// Values of parts, added up as they come: the mass of `mass` is relative to 2^peak.
struct Joining {
  float values[8];
  float peak;
  float mass;

  KVK_DEVICE Joining() : peak(-INFINITY), mass(0.0f) {
    KVK_UNROLL
    for (int e = 0; e < 8; ++e) values[e] = 0.0f;
  }

  KVK_DEVICE void add(const float (&part)[8], float log) {
    if (log == -INFINITY && !KVK_PLANT(merge_of_nothing)) return;
    const float higher = fmaxf(peak, log);
    const float shrink = exp2(peak - higher), weight = exp2(log - higher);
    KVK_UNROLL
    for (int e = 0; e < 8; ++e) values[e] = values[e] * shrink + part[e] * weight;
    mass = mass * shrink + weight;
    peak = higher;
  }

  KVK_DEVICE void divide(float share) {
    KVK_UNROLL
    for (int e = 0; e < 8; ++e) values[e] *= share;
  }
};

KVK_DEVICE void load_eight_floats(float (&values)[8], const float *from) {
  KVK_UNROLL
  for (int half = 0; half < 2; ++half) {
    const Four four = load(reinterpret_cast<const Four *>(from) + half);
    KVK_UNROLL
    for (int i = 0; i < 4; ++i) values[half * 4 + i] = four.value[i];
  }
}

KVK_DEVICE void load_eight(float (&values)[8], const void *base, int64_t element, uint32_t type) {
  const lane packed = load(reinterpret_cast<const lane *>(static_cast<const uint16_t *>(base) + element));
  KVK_UNROLL
  for (int i = 0; i < 4; ++i) {
    values[i * 2] = type == KVK_F16 ? low<f16>(packed.word[i]) : low<bf16>(packed.word[i]);
    values[i * 2 + 1] = type == KVK_F16 ? high<f16>(packed.word[i]) : high<bf16>(packed.word[i]);
  }
}

// A warp joins a row, a lane eight elements of it.
KVK_DEVICE void join_row(const kvk_attend_params &p, const kvk_join &join, uint32_t row) {
  const uint32_t group = p.query_heads / p.cache.heads;
  const uint32_t first_token = p.query_starts == nullptr ? join.sequence : load(&p.query_starts[join.sequence]);
  const uint32_t end_token = p.query_starts == nullptr ? first_token + 1 : load(&p.query_starts[join.sequence + 1]);
  const uint32_t place = join.first_row + row;
  if (place >= (end_token - first_token) * group) return;
  const RowTarget target = {first_token + place / group, join.head * group + place % group};
  for (uint32_t chunk = thread() % 32; chunk * 8 < p.cache.head_dim; chunk += 32) {
    Joining joining;
    for (uint32_t i = 0; i < join.count; ++i) {
      const int64_t at = static_cast<int64_t>(join.first_part + i) * p.tile_rows + row;
      float part[8];
      load_eight_floats(part, p.part_output + at * p.cache.head_dim + chunk * 8);
      joining.add(part, load(&p.part_lse[at]));
    }
    const Total total = with_sink(joining.peak, joining.mass, p.sinks, target.head);
    joining.divide(total.share);
    write_whole(p, target, static_cast<int>(chunk), joining.values, total);
  }
}

KVK_KERNEL(kMergeThreads) void merge(kvk_attend_params p) {
  const uint32_t rows = load(p.join_count) * p.tile_rows;  // a plan has few enough joins
  for (uint32_t i = block() * kWarps + thread() / 32; i < rows; i += blocks() * kWarps) {
    const kvk_join *const from = &p.joins[i / p.tile_rows];
    const kvk_join join = {load(&from->sequence),   load(&from->head),  load(&from->first_row),
                           load(&from->first_part), load(&from->count), 0};
    join_row(p, join, i % p.tile_rows);
  }
}

KVK_DEVICE float base_two(float natural) { return natural == -INFINITY ? -INFINITY : natural * kLog2E; }

KVK_DEVICE lane *lane_at(void *base, int64_t element) {
  return reinterpret_cast<lane *>(static_cast<uint16_t *>(base) + element);
}

KVK_DEVICE const lane *lane_at(const void *base, int64_t element) {
  return reinterpret_cast<const lane *>(static_cast<const uint16_t *>(base) + element);
}

// One of two that is empty leaves the other as it is, bit for bit: it is copied.
KVK_DEVICE void merge_two_row(const kvk_merge_two_params &p, uint32_t token, uint32_t head) {
  const int64_t row = token * p.token_stride + head * p.head_stride;
  const int64_t at = token * p.lse_token_stride + head;
  const float lse[2] = {load(&p.lse_a[at]), load(&p.lse_b[at])};
  const void *const outputs[2] = {p.output_a, p.output_b};
  const bool is_empty[2] = {lse[0] == -INFINITY, lse[1] == -INFINITY};
  float natural = lse[0];
  for (uint32_t chunk = thread() % 32; chunk * 8 < p.head_dim; chunk += 32) {
    if (is_empty[0] != is_empty[1]) {
      const void *const whole = is_empty[0] ? p.output_b : p.output_a;
      store(lane_at(p.output, row + chunk * 8), load(lane_at(whole, row + chunk * 8)));
      continue;
    }
    Joining joining;
    for (int i = 0; i < 2; ++i) {
      float part[8];
      load_eight(part, outputs[i], row + chunk * 8, p.type);
      joining.add(part, base_two(lse[i]));
    }
    const Total total = with_sink(joining.peak, joining.mass, nullptr, head);
    joining.divide(total.share);
    store_eight(p.output, row + chunk * 8, p.type, joining.values);
    natural = total.log == -INFINITY ? -INFINITY : total.log * kLn2;
  }
  if (is_empty[0]) natural = lse[1];
  if (is_empty[1]) natural = lse[0];
  // The result may lie over what is read: all lanes have read when one of them writes.
  barrier_warp();
  if (p.lse != nullptr && thread() % 32 == 0) store(&p.lse[at], natural);
}

KVK_KERNEL(kMergeThreads) void merge_two(kvk_merge_two_params p) {
  const uint32_t rows = p.tokens * p.heads;
  for (uint64_t i = block() * kWarps + thread() / 32; i < rows; i += blocks() * kWarps)
    merge_two_row(p, static_cast<uint32_t>(i) / p.heads, static_cast<uint32_t>(i) % p.heads);
}

}  // namespace
}  // namespace kvk

extern "C" uint32_t KVK_SYMBOL(merge)(const kvk_attend_params *params, void *run) {
  if (params->merge_thread_blocks == 0) return 0;
  return KVK_LAUNCH(kvk::merge, params->merge_thread_blocks, kvk::kMergeThreads, 0, run, *params);
}

extern "C" uint32_t KVK_SYMBOL(merge_two)(const kvk_merge_two_params *params, void *run) {
  // Enough for any GPU to be full; the rest is walked.
  constexpr uint64_t kBlocksMax = 4096;
  const uint64_t rows = static_cast<uint64_t>(params->tokens) * params->heads;
  const uint64_t wanted = (rows + kvk::kWarps - 1) / kvk::kWarps;
  if (wanted == 0) return 0;
  if (rows > UINT32_MAX) return KVK_UNSUPPORTED;
  const unsigned blocks = static_cast<unsigned>(wanted < kBlocksMax ? wanted : kBlocksMax);
  return KVK_LAUNCH(kvk::merge_two, blocks, kvk::kMergeThreads, 0, run, *params);
}
