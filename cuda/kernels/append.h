// Writes keys and values of new tokens into their blocks, converted to the cache's type.
#ifndef KVK_APPEND_H
#define KVK_APPEND_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// A token's place. Block 0: the token is not written (padding of a batch).
typedef struct kvk_slot {
  uint32_t block;
  uint32_t token;  // below B
} kvk_slot;

typedef struct kvk_append_params {
  kvk_cache cache;
  const void *keys;       // [tokens][heads][head_dim] of `type`, by the strides below
  const void *values;
  int64_t token_stride;   // elements, for keys and values alike
  int64_t head_stride;
  const kvk_slot *slots;  // [tokens]: where each goes
  kvk_status *status;
  uint32_t tokens;
  uint32_t type;          // KVK_F16 or KVK_BF16
} kvk_append_params;

// Eight-bit numbers are x * (1 / scale), rounded to nearest even; what is too large becomes the type's largest (448,
// 57,344, 127), NaN stays NaN (0 in INT8). The scale is the cache's one, or, with `cache.key_scales`, of each (token,
// head) its largest finite magnitude * (1 / the type's largest), at least 2^-100, and written there. Both reciprocals
// are rounded to nearest, so every device writes the same bits. Sixteen-bit caches have no scales. No two tokens may
// have the same slot. Returns 0, or the device's error number; KVK_UNSUPPORTED above 256 elements a head, or for 2^31
// heads of keys or more.
#ifndef KVK_STRUCTURES_ONLY
uint32_t kvk_cpu_append(const kvk_append_params *params, void *run);
uint32_t kvk_cuda_append(const kvk_append_params *params, void *stream);
#endif

#ifdef __cplusplus
}
static_assert(sizeof(kvk_append_params) == 168, "no hidden padding");
#endif

#endif
