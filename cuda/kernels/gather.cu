// Keys and values of sequences out of their blocks, one contiguous run a sequence.
#include "gather.h"
#include "strip.cuh"

namespace kvk {
namespace {

struct GatherWork {
  kvk_gather_params p;
  uint32_t heads;  // of keys and values of all rows
  uint32_t lanes;  // of a head
};

struct alignas(8) TwoWords {
  uint32_t word[2];
};

template <class Q>
KVK_DEVICE Eight unpack_eight(const TwoWords &bytes) {
  Eight eight;
  KVK_UNROLL
  for (int i = 0; i < 4; ++i) {
    const uint32_t two = unpack<Q>(static_cast<uint16_t>(bytes.word[i >> 1] >> (i & 1) * 16));
    eight.value[i * 2] = low<f16>(two);
    eight.value[i * 2 + 1] = high<f16>(two);
  }
  return eight;
}

KVK_DEVICE Eight unpack_eight(const TwoWords &bytes, uint32_t type) {
  if (type == KVK_E4M3) return unpack_eight<e4m3>(bytes);
  if (type == KVK_E5M2) return unpack_eight<e5m2>(bytes);
  return unpack_eight<int8>(bytes);
}

// The last sequence that begins at or before a row of the output: one without keys begins where the next one does.
KVK_DEVICE uint32_t sequence_of(const kvk_gather_params &p, uint32_t row) {
  uint32_t low = 0, high = p.sequences;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (load(&p.starts[middle]) <= row) low = middle;
    else high = middle;
  }
  return low;
}

KVK_DEVICE lane gathered(const kvk_gather_params &p, Place place, uint32_t head, bool is_value, int first_element) {
  const unsigned char *const from = static_cast<const unsigned char *>(is_value ? p.cache.values : p.cache.keys);
  const int64_t element = element_of(p.cache, place, head) + first_element;
  if (p.cache.type == KVK_F16 || p.cache.type == KVK_BF16) {
    const lane packed = load_once(reinterpret_cast<const lane *>(from + element * 2));
    return p.cache.type == p.type ? packed : narrow(widen(packed, p.cache.type), p.type);
  }
  Eight eight = unpack_eight(load(reinterpret_cast<const TwoWords *>(from + element)), p.cache.type);
  float scale = is_value ? p.cache.value_scale : p.cache.key_scale;
  if (p.cache.key_scales != nullptr)
    scale = load(&(is_value ? p.cache.value_scales : p.cache.key_scales)[scale_of(p.cache, place, head)]);
  KVK_UNROLL
  for (int i = 0; i < 8; ++i) eight.value[i] *= scale;
  return narrow(eight, p.type);
}

// One head of one key or value.
KVK_DEVICE void gather_strip(const kvk_gather_params &p, uint32_t number, int first_element) {
  const bool is_value = (number & 1) != 0;
  const uint32_t row = number / 2 / p.cache.heads;
  const uint32_t head = number / 2 % p.cache.heads;
  const uint32_t sequence = sequence_of(p, row);
  const uint32_t key = load(&p.first_keys[sequence]) + (row - load(&p.starts[sequence]));
  const Place place = locate(p.cache, p.table, row_of(p.table, sequence), key, p.status);
  lane packed = {};
  if (place.block != 0) packed = gathered(p, place, head, is_value, first_element);
  const int64_t to = (static_cast<int64_t>(row) * p.cache.heads + head) * p.cache.head_dim + first_element;
  store(reinterpret_cast<lane *>(static_cast<uint16_t *>(is_value ? p.values : p.keys) + to), packed);
}

KVK_KERNEL(kStripThreads) void gather(GatherWork work) {
  const Walk walk = walk_of(work.heads, work.lanes);
  if (walk.first_element >= static_cast<int>(work.p.cache.head_dim)) return;
  for (uint64_t number = walk.first; number < work.heads; number += walk.step)
    gather_strip(work.p, static_cast<uint32_t>(number), walk.first_element);
}

}  // namespace
}  // namespace kvk

extern "C" uint32_t KVK_SYMBOL(gather)(const kvk_gather_params *params, void *run) {
  using namespace kvk;
  const uint64_t heads = static_cast<uint64_t>(params->total) * params->cache.heads * 2;
  if (params->cache.head_dim > 256 || heads > kHeadsMax) return KVK_UNSUPPORTED;
  if (params->sequences == 0 || heads == 0) return 0;
  const GatherWork work = {*params, static_cast<uint32_t>(heads), strip_lanes(params->cache.head_dim)};
  return KVK_LAUNCH(gather, strip_blocks(heads, work.lanes), kStripThreads, 0, run, work);
}
