/* Planning: arithmetic before anything exists, and the device budget. Part of kvledger.h. */
#ifndef KVLEDGER_PLAN_H
#define KVLEDGER_PLAN_H

#include "answer.h"
#include "sized.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  KVL_ELEMENT_F32 = 0,
  KVL_ELEMENT_F16 = 1,
  KVL_ELEMENT_BF16 = 2,
  KVL_ELEMENT_E4M3 = 3,
  KVL_ELEMENT_E5M2 = 4,
  KVL_ELEMENT_INT8 = 5,
  KVL_ELEMENT_INT4 = 6
};

/* What one scale of a quantized cache is shared by; keys and values never share one. */
enum {
  KVL_GRAIN_NONE = 0,
  KVL_GRAIN_TOKEN = 1,
  KVL_GRAIN_TOKEN_HEAD = 2,
  KVL_GRAIN_ELEMENT_GROUP = 3,
  KVL_GRAIN_BLOCK = 4,
  KVL_GRAIN_BLOCK_HEAD = 5,
  KVL_GRAIN_BLOCK_CHANNEL = 6
};

typedef struct kvl_geometry {
  size_t size; /* KVL_SIZED */
  uint32_t layers;
  uint32_t kv_heads;
  uint32_t key_dim;
  uint32_t value_dim; /* 0: key and value are one joint latent of key_dim elements */
  uint32_t block_tokens;
  uint32_t block_align_bytes; /* a power of two */
  uint32_t element;           /* KVL_ELEMENT_ */
  uint32_t scale_grain;       /* KVL_GRAIN_ */
  uint32_t scale_bytes;       /* of one scale, its zero point included */
  uint32_t scale_group;       /* elements, with KVL_GRAIN_ELEMENT_GROUP, else 0 */
} kvl_geometry;

kvl_status kvl_element_bits(uint32_t element, uint32_t *bits, kvl_refusal *refusal);
/* Keys and values of one size, no scales, blocks aligned to 16 bytes. */
kvl_status kvl_geometry_new(uint32_t layers, uint32_t kv_heads, uint32_t head_dim, uint32_t block_tokens,
                            uint32_t element, kvl_geometry *geometry, kvl_refusal *refusal);
kvl_status kvl_geometry_check(const kvl_geometry *geometry, kvl_refusal *refusal);
kvl_status kvl_geometry_token_bytes(const kvl_geometry *geometry, uint64_t *bytes, kvl_refusal *refusal);
kvl_status kvl_geometry_block_bytes(const kvl_geometry *geometry, uint64_t *bytes, kvl_refusal *refusal);
kvl_status kvl_geometry_pool_blocks(const kvl_geometry *geometry, uint64_t bytes, uint32_t *blocks,
                                    kvl_refusal *refusal);
/* With the null block: one block more than `blocks`. */
kvl_status kvl_geometry_pool_bytes(const kvl_geometry *geometry, uint32_t blocks, uint64_t *bytes,
                                   kvl_refusal *refusal);
kvl_status kvl_geometry_request_blocks(const kvl_geometry *geometry, uint32_t prompt_tokens,
                                       uint32_t output_tokens_max, uint64_t *blocks, kvl_refusal *refusal);

/* A share with both of its numbers, not reduced. */
typedef struct kvl_ratio {
  uint64_t numerator;
  uint64_t denominator;
} kvl_ratio;

kvl_status kvl_ratio_to_f64(const kvl_ratio *ratio, double *value, kvl_refusal *refusal);

kvl_status kvl_blocks_for(uint64_t tokens, uint32_t block_tokens, uint64_t *blocks, kvl_refusal *refusal);
kvl_status kvl_growth_blocks(uint64_t tokens, uint64_t more_tokens, uint32_t block_tokens, uint64_t *blocks,
                             kvl_refusal *refusal);
/* Most blocks that a sequence holds in layers that look back `window_tokens` at most, with so many of its own steps in
 * flight while a step of at most `step_tokens` is prepared. */
kvl_status kvl_window_blocks(uint32_t window_tokens, uint32_t steps_in_flight, uint32_t step_tokens,
                             uint32_t block_tokens, uint64_t *blocks, kvl_refusal *refusal);
kvl_status kvl_paged_slots(const uint32_t *lengths, size_t count, uint32_t block_tokens, uint64_t *slots,
                           kvl_refusal *refusal);
/* Of the allocated slots, those without a token. */
kvl_status kvl_slack(const uint32_t *lengths, size_t count, uint32_t block_tokens, kvl_ratio *share,
                     kvl_refusal *refusal);
/* `requests` of one trust group that share the whole blocks of a prefix. */
kvl_status kvl_group_blocks(uint64_t requests, uint64_t prefix_tokens, uint64_t tokens_max, uint32_t block_tokens,
                            uint64_t *blocks, kvl_refusal *refusal);
kvl_status kvl_group_requests(uint64_t blocks, uint64_t prefix_tokens, uint64_t tokens_max, uint32_t block_tokens,
                              uint64_t *requests, kvl_refusal *refusal);

kvl_status kvl_reserved_slots(uint64_t sequences, uint32_t tokens_max, uint64_t *slots, kvl_refusal *refusal);
kvl_status kvl_used_slots(const uint32_t *lengths, size_t count, uint32_t tokens_max, uint64_t *slots,
                          kvl_refusal *refusal);
/* Of the reserved slots, those without a token. */
kvl_status kvl_waste_fraction(const uint32_t *lengths, size_t count, uint32_t tokens_max, kvl_ratio *share,
                              kvl_refusal *refusal);
kvl_status kvl_extra_reservations(uint64_t pool_slots, uint32_t tokens_max, uint64_t running, uint64_t *reservations,
                                  kvl_refusal *refusal);

/* At most 2^20 trials, independent of one another: requests often are not, and then the truth can be anything. */
kvl_status kvl_binomial_pmf(uint32_t trials, double probability, uint32_t successes, double *mass,
                            kvl_refusal *refusal);
kvl_status kvl_binomial_tail(uint32_t trials, double probability, uint32_t successes, double *tail,
                             kvl_refusal *refusal);
kvl_status kvl_binomial_mean(uint32_t trials, double probability, double *mean, kvl_refusal *refusal);
kvl_status kvl_binomial_variance(uint32_t trials, double probability, double *variance, kvl_refusal *refusal);

/* ---- Device budget ------------------------------------------------------------------------------------------- */

#define KVL_REGIONS 7

enum {
  KVL_REGION_WEIGHTS = 0,
  KVL_REGION_KV_POOL = 1,
  KVL_REGION_WORKSPACE = 2,
  KVL_REGION_GRAPH_CAPTURE = 3,
  KVL_REGION_COMMUNICATION = 4,
  KVL_REGION_RESTORATION = 5,
  KVL_REGION_OUTSIDE = 6
};

typedef struct kvl_usage {
  uint64_t bound;
  uint64_t current;
  uint64_t peak;
} kvl_usage;

/* Written by kvl_budget_new; change it by calls only. */
typedef struct kvl_budget {
  uint64_t device_bytes;
  kvl_usage regions[KVL_REGIONS];
} kvl_budget;

kvl_status kvl_budget_new(uint64_t device_bytes, kvl_budget *budget, kvl_refusal *refusal);
kvl_status kvl_budget_device_bytes(const kvl_budget *budget, uint64_t *bytes, kvl_refusal *refusal);
kvl_status kvl_budget_set_bound(kvl_budget *budget, uint32_t region, uint64_t bytes, kvl_refusal *refusal);
kvl_status kvl_budget_spare_bytes(const kvl_budget *budget, uint64_t *bytes, kvl_refusal *refusal);
kvl_status kvl_budget_take(kvl_budget *budget, uint32_t region, uint64_t bytes, kvl_refusal *refusal);
kvl_status kvl_budget_give_back(kvl_budget *budget, uint32_t region, uint64_t bytes, kvl_refusal *refusal);
/* Records what was measured, and answers by how much it is above the bound. */
kvl_status kvl_budget_observe(kvl_budget *budget, uint32_t region, uint64_t bytes, uint64_t *excess,
                              kvl_refusal *refusal);
kvl_status kvl_budget_usage(const kvl_budget *budget, uint32_t region, kvl_usage *usage, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
