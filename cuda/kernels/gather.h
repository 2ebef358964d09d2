// Brings keys and values of sequences out of their blocks into contiguous memory, converted to F16 or BF16.
#ifndef KVK_GATHER_H
#define KVK_GATHER_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kvk_gather_params {
  kvk_cache cache;
  kvk_table table;
  const uint32_t *first_keys;  // [sequences]: the first key of each that is wanted
  const uint32_t *starts;      // [sequences + 1]: where its keys begin in the output; the last is the total
  void *keys;                  // [total][heads][head_dim] of `type`, contiguous
  void *values;
  kvk_status *status;          // keys that cannot be read are 0, and reported
  uint32_t sequences;
  uint32_t type;               // KVK_F16 or KVK_BF16
  uint32_t total;              // starts[sequences]
  uint32_t reserved;
} kvk_gather_params;

// Answers KVK_UNSUPPORTED if there are 2^31 heads of keys or more.
#ifndef KVK_STRUCTURES_ONLY
uint32_t kvk_cpu_gather(const kvk_gather_params *params, void *run);
uint32_t kvk_cuda_gather(const kvk_gather_params *params, void *stream);
#endif

#ifdef __cplusplus
}
static_assert(sizeof(kvk_gather_params) == 200, "no hidden padding");
#endif

#endif
