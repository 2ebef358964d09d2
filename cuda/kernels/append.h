// Writes keys and values of new tokens into their blocks, converted to the cache's type.
#ifndef KVK_APPEND_H
#define KVK_APPEND_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kvk_append_params {
  kvk_cache cache;
  const void *keys;      // [tokens][heads][head_dim] of `type`, by the strides below
  const void *values;
  int64_t token_stride;  // elements, for keys and values alike
  int64_t head_stride;
  const int64_t *slots;  // [tokens]: block * B + place in the block; -1: this token is not written
  kvk_status *status;
  uint32_t tokens;
  uint32_t type;         // KVK_F16 or KVK_BF16
} kvk_append_params;

// With `cache.key_scales`, the scale of each (token, head) is the least with which its largest number fits, and is
// written beside; without, numbers are divided by the cache's one scale.
// Rounded to nearest even; what is too large becomes the type's largest, NaN stays NaN (0 in INT8). No two tokens may
// have the same slot. Returns 0, or the device's error number.
uint32_t kvk_cpu_append(const kvk_append_params *params, void *run);
uint32_t kvk_cuda_append(const kvk_append_params *params, void *stream);

#ifdef __cplusplus
}
static_assert(sizeof(kvk_append_params) == 168, "no hidden padding");
#endif

#endif
