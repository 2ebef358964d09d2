// Attention for heads of at most 128 elements: a file of its own, so that instances compile side by side.
#include "attend/attend.cuh"

extern "C" uint32_t KVK_SYMBOL(attend_128)(const kvk_attend_params *params, void *run) {
  return kvk::attend_types<128>(*params, run);
}
