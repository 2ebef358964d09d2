// Attention: the choice of the head dimension.
#include "attend.h"
#include "device.h"

extern "C" {
uint32_t KVK_SYMBOL(attend_64)(const kvk_attend_params *params, void *run);
uint32_t KVK_SYMBOL(attend_128)(const kvk_attend_params *params, void *run);
uint32_t KVK_SYMBOL(attend_192)(const kvk_attend_params *params, void *run);
uint32_t KVK_SYMBOL(attend_256)(const kvk_attend_params *params, void *run);
}

extern "C" uint32_t KVK_SYMBOL(attend)(const kvk_attend_params *params, void *run) {
  const uint32_t dim = params->cache.head_dim;
  if (params->thread_blocks == 0) return 0;  // an empty grid is an error on a GPU
  if (dim <= 64) return KVK_SYMBOL(attend_64)(params, run);
  if (dim <= 128) return KVK_SYMBOL(attend_128)(params, run);
  if (dim <= 192) return KVK_SYMBOL(attend_192)(params, run);
  if (dim <= 256) return KVK_SYMBOL(attend_256)(params, run);
  return KVK_UNSUPPORTED;
}
