// Keys and values of new tokens into their blocks: a copy where the types agree, a conversion where they do not.
#include "append.h"
#include "strip.cuh"

namespace kvk {
namespace {

// Parameters, and what the host works out once.
struct AppendWork {
  kvk_append_params p;
  uint32_t heads;        // of keys and values of all tokens
  uint32_t lanes;        // of a head
  float key_inverse;     // 1 / scale
  float value_inverse;
  float limit_inverse;   // 1 / the largest number of an eight-bit type
};

// 0 where there is no such type.
float limit_of(uint32_t type) {
  switch (type) {
    case KVK_E4M3: return 448.0f;
    case KVK_E5M2: return 57344.0f;
    case KVK_INT8: return 127.0f;
    default: return 0.0f;
  }
}

struct alignas(8) EightBytes {
  uint8_t byte[8];
};

template <class Q>
KVK_DEVICE EightBytes quantize_eight(const Eight &eight, float inverse) {
  EightBytes bytes;
  KVK_UNROLL
  for (int i = 0; i < 8; ++i) bytes.byte[i] = quantize<Q>(eight.value[i] * inverse);
  return bytes;
}

KVK_DEVICE EightBytes quantize_eight(const Eight &eight, float inverse, uint32_t type) {
  if (type == KVK_E4M3) return quantize_eight<e4m3>(eight, inverse);
  if (type == KVK_E5M2) return quantize_eight<e5m2>(eight, inverse);
  return quantize_eight<int8>(eight, inverse);
}

// The largest finite magnitude of a head, over its lanes. All lanes of the warp take part.
KVK_DEVICE float peak_of(const Eight &eight, unsigned lanes) {
  float peak = 0.0f;
  KVK_UNROLL
  for (int i = 0; i < 8; ++i) {
    const float magnitude = fabsf(eight.value[i]);
    if (magnitude < INFINITY) peak = fmaxf(peak, magnitude);
  }
  for (unsigned mask = lanes / 2; mask > 0; mask /= 2) peak = fmaxf(peak, shuffle_xor(peak, mask));
  return peak;
}

// Head number `head` of all (token, head, key or value); lanes beyond its elements, and heads beyond the last one,
// have `active` false, and only take part in what the warp does together.
struct Strip {
  uint32_t token;
  uint32_t head;
  bool is_value;
  bool active;
  kvk_slot slot;
};

KVK_DEVICE Strip strip_of(const AppendWork &work, uint64_t number, int first_element) {
  const kvk_append_params &p = work.p;
  Strip strip = {0, 0, false, false, {0, 0}};
  if (number >= work.heads || first_element >= static_cast<int>(p.cache.head_dim)) return strip;
  const uint32_t pair = static_cast<uint32_t>(number) / 2;
  strip.is_value = (number & 1) != 0;
  strip.token = pair / p.cache.heads;
  strip.head = pair % p.cache.heads;
  strip.slot = load(&p.slots[strip.token]);
  if (strip.slot.block == 0) return strip;
  if (strip.slot.block > p.cache.blocks || strip.slot.token >= p.cache.block_tokens) {
    report(p.status, KVK_FAULT_SLOT, 0, strip.token);
    return strip;
  }
  strip.active = true;
  return strip;
}

KVK_DEVICE void append_strip(const AppendWork &work, const Strip &strip, int first_element) {
  const kvk_append_params &p = work.p;
  const Place place = {strip.slot.block, strip.slot.token};
  lane packed = {};
  if (strip.active) {
    const uint16_t *const from = static_cast<const uint16_t *>(strip.is_value ? p.values : p.keys);
    packed = load_once(reinterpret_cast<const lane *>(
        from + strip.token * p.token_stride + strip.head * p.head_stride + first_element));
  }
  unsigned char *const to = static_cast<unsigned char *>(strip.is_value ? p.cache.values : p.cache.keys);
  const int64_t element = element_of(p.cache, place, strip.head) + first_element;
  if (p.cache.type == p.type) {
    if (strip.active) store(reinterpret_cast<lane *>(to + element * 2), packed);
    return;
  }
  const Eight eight = widen(packed, p.type);
  if (work.limit_inverse == 0.0f) {
    if (strip.active) store(reinterpret_cast<lane *>(to + element * 2), narrow(eight, p.cache.type));
    return;
  }
  float inverse = strip.is_value ? work.value_inverse : work.key_inverse;
  if (p.cache.key_scales != nullptr) {
    const float scale = fmaxf(peak_of(eight, work.lanes) * work.limit_inverse, 0x1p-100f);
    inverse = reciprocal(scale);
    float *const scales = strip.is_value ? p.cache.value_scales : p.cache.key_scales;
    if (strip.active && first_element == 0) store(&scales[scale_of(p.cache, place, strip.head)], scale);
  }
  if (strip.active) store(reinterpret_cast<EightBytes *>(to + element), quantize_eight(eight, inverse, p.cache.type));
}

KVK_KERNEL(kStripThreads) void append(AppendWork work) {
  const Walk walk = walk_of(work.heads, work.lanes);
  for (uint32_t round = 0; round < walk.rounds; ++round) {
    const uint64_t number = walk.first + static_cast<uint64_t>(round) * walk.step;
    append_strip(work, strip_of(work, number, walk.first_element), walk.first_element);
  }
}

}  // namespace
}  // namespace kvk

extern "C" uint32_t KVK_SYMBOL(append)(const kvk_append_params *params, void *run) {
  using namespace kvk;
  const kvk_cache &cache = params->cache;
  const uint64_t heads = static_cast<uint64_t>(params->tokens) * cache.heads * 2;
  if (cache.head_dim > 256 || heads > kHeadsMax) return KVK_UNSUPPORTED;
  if (heads == 0) return 0;
  const float limit = limit_of(cache.type);
  const AppendWork work = {*params,
                           static_cast<uint32_t>(heads),
                           strip_lanes(cache.head_dim),
                           1.0f / cache.key_scale,
                           1.0f / cache.value_scale,
                           limit == 0.0f ? 0.0f : 1.0f / limit};
  return KVK_LAUNCH(append, strip_blocks(heads, work.lanes), kStripThreads, 0, run, work);
}
