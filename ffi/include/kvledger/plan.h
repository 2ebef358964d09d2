/* Planning: arithmetic before anything exists, and the device budget. Part of kvledger.h.
 *
 * All that these functions refuse is KVL_INVALID, with the argument that is said at each. KVL_ARGUMENT_OVERFLOW: the answer
 * does not fit in 64 bits. Threads: any, but a kvl_budget is the caller's to guard. Cost: O(1), or a pass over the lengths. */
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

/* KVL_ARGUMENT_GEOMETRY for a number that is no element. */
kvl_status kvl_element_bits(uint32_t element, uint32_t *bits, kvl_refusal *refusal);
/* Keys and values of one size, no scales, blocks aligned to 16 bytes. KVL_ARGUMENT_GEOMETRY for a number that is no element;
 * the rest is looked at by who is asked about it. */
kvl_status kvl_geometry_new(uint32_t layers, uint32_t kv_heads, uint32_t head_dim, uint32_t block_tokens,
                            uint32_t element, kvl_geometry *geometry, kvl_refusal *refusal);
/* KVL_ARGUMENT_GEOMETRY unless every field is in its range. All calls with a geometry refuse this too. */
kvl_status kvl_geometry_check(const kvl_geometry *geometry, kvl_refusal *refusal);
/* Over all layers: elements, and scales that a token has of its own. KVL_ARGUMENT_OVERFLOW. */
kvl_status kvl_geometry_token_bytes(const kvl_geometry *geometry, uint64_t *bytes, kvl_refusal *refusal);
/* Over all layers: tokens, scales of the block, and what alignment adds. KVL_ARGUMENT_OVERFLOW. */
kvl_status kvl_geometry_block_bytes(const kvl_geometry *geometry, uint64_t *bytes, kvl_refusal *refusal);
/* Whole blocks in `bytes`. If the null block is to be there too, N is one less. KVL_ARGUMENT_BLOCKS if that is none, or more
 * than a pool has; KVL_ARGUMENT_OVERFLOW of a block's bytes. */
kvl_status kvl_geometry_pool_blocks(const kvl_geometry *geometry, uint64_t bytes, uint32_t *blocks,
                                    kvl_refusal *refusal);
/* With the null block: one block more than `blocks`. KVL_ARGUMENT_BLOCKS if `blocks` is 0, or more than a pool has;
 * KVL_ARGUMENT_OVERFLOW. */
kvl_status kvl_geometry_pool_bytes(const kvl_geometry *geometry, uint32_t blocks, uint64_t *bytes,
                                   kvl_refusal *refusal);
/* Blocks of a request at its longest. */
kvl_status kvl_geometry_request_blocks(const kvl_geometry *geometry, uint32_t prompt_tokens,
                                       uint32_t output_tokens_max, uint64_t *blocks, kvl_refusal *refusal);

/* A share with both of its numbers, not reduced. */
typedef struct kvl_ratio {
  uint64_t numerator;
  uint64_t denominator;
} kvl_ratio;

/* The nearest double, or within two roundings. The denominator may be 0, which is divided by as doubles are. Refuses nothing
 * but NULL. */
kvl_status kvl_ratio_to_f64(const kvl_ratio *ratio, double *value, kvl_refusal *refusal);

/* Of the next functions, up to kvl_group_requests: KVL_ARGUMENT_BLOCK_TOKENS if `block_tokens` is 0. */

/* Blocks that hold `tokens`, the last one maybe in part. */
kvl_status kvl_blocks_for(uint64_t tokens, uint32_t block_tokens, uint64_t *blocks, kvl_refusal *refusal);
/* Further blocks when `more_tokens` follow `tokens`, without the copy of a shared tail. KVL_ARGUMENT_OVERFLOW of the sum. */
kvl_status kvl_growth_blocks(uint64_t tokens, uint64_t more_tokens, uint32_t block_tokens, uint64_t *blocks,
                             kvl_refusal *refusal);
/* Most blocks that a sequence holds in layers that look back `window_tokens` at most, with so many of its own steps in
 * flight while a step of at most `step_tokens` is prepared. KVL_ARGUMENT_TOKENS for a window of 0. */
kvl_status kvl_window_blocks(uint32_t window_tokens, uint32_t steps_in_flight, uint32_t step_tokens,
                             uint32_t block_tokens, uint64_t *blocks, kvl_refusal *refusal);
/* Token slots of the blocks of sequences with these lengths. KVL_ARGUMENT_OVERFLOW. */
kvl_status kvl_paged_slots(const uint32_t *lengths, size_t count, uint32_t block_tokens, uint64_t *slots,
                           kvl_refusal *refusal);
/* Of the allocated slots, those without a token. KVL_ARGUMENT_TOKENS if none is allocated; KVL_ARGUMENT_OVERFLOW. */
kvl_status kvl_slack(const uint32_t *lengths, size_t count, uint32_t block_tokens, kvl_ratio *share,
                     kvl_refusal *refusal);
/* Blocks of `requests` of one trust group that share the whole blocks of a prefix and are `tokens_max` long at their longest.
 * KVL_ARGUMENT_LENGTH if the prefix is longer than that; KVL_ARGUMENT_OVERFLOW. */
kvl_status kvl_group_blocks(uint64_t requests, uint64_t prefix_tokens, uint64_t tokens_max, uint32_t block_tokens,
                            uint64_t *blocks, kvl_refusal *refusal);
/* The most requests of that kind in `blocks`; UINT64_MAX if they share all that they have. KVL_ARGUMENT_LENGTH. */
kvl_status kvl_group_requests(uint64_t blocks, uint64_t prefix_tokens, uint64_t tokens_max, uint32_t block_tokens,
                              uint64_t *requests, kvl_refusal *refusal);

/* Token slots if each sequence has room for `tokens_max`, as without blocks. KVL_ARGUMENT_OVERFLOW. */
kvl_status kvl_reserved_slots(uint64_t sequences, uint32_t tokens_max, uint64_t *slots, kvl_refusal *refusal);
/* The sum of the lengths. KVL_ARGUMENT_LENGTH for one above `tokens_max`; KVL_ARGUMENT_OVERFLOW. */
kvl_status kvl_used_slots(const uint32_t *lengths, size_t count, uint32_t tokens_max, uint64_t *slots,
                          kvl_refusal *refusal);
/* Of the reserved slots, those without a token. KVL_ARGUMENT_TOKENS if none is reserved; else as the two before. */
kvl_status kvl_waste_fraction(const uint32_t *lengths, size_t count, uint32_t tokens_max, kvl_ratio *share,
                              kvl_refusal *refusal);
/* Further reservations of `tokens_max` slots beside the `running` ones, rounded down. KVL_ARGUMENT_TOKENS for 0. */
kvl_status kvl_extra_reservations(uint64_t pool_slots, uint32_t tokens_max, uint64_t running, uint64_t *reservations,
                                  kvl_refusal *refusal);

/* At most 2^20 trials, independent of one another: requests often are not, and then the truth can be anything.
 * KVL_ARGUMENT_TRIALS for more, KVL_ARGUMENT_PROBABILITY for one that is not in 0 .. 1. Cost of the first two: O(trials). */

/* The probability of so many successes. */
kvl_status kvl_binomial_pmf(uint32_t trials, double probability, uint32_t successes, double *mass,
                            kvl_refusal *refusal);
/* Of so many or more. */
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

/* Bytes of one region. */
typedef struct kvl_usage {
  uint64_t bound;   /* the most that it may use */
  uint64_t current;
  uint64_t peak;    /* above the bound only if that was observed */
} kvl_usage;

/* Written by kvl_budget_new; change it by calls only. */
typedef struct kvl_budget {
  uint64_t device_bytes;
  kvl_usage regions[KVL_REGIONS];
} kvl_budget;

/* All bounds 0. */
kvl_status kvl_budget_new(uint64_t device_bytes, kvl_budget *budget, kvl_refusal *refusal);
kvl_status kvl_budget_device_bytes(const kvl_budget *budget, uint64_t *bytes, kvl_refusal *refusal);
/* Of calls with a region: KVL_ARGUMENT_REGION for a number that is none. Refused, nothing is counted. */

/* KVL_ARGUMENT_BUDGET if all bounds would be more than the device, or the region uses more already;
 * KVL_ARGUMENT_OVERFLOW of their sum. */
kvl_status kvl_budget_set_bound(kvl_budget *budget, uint32_t region, uint64_t bytes, kvl_refusal *refusal);
/* Of the device, in no bound. */
kvl_status kvl_budget_spare_bytes(const kvl_budget *budget, uint64_t *bytes, kvl_refusal *refusal);
/* Before `bytes` are allocated. KVL_ARGUMENT_BUDGET if the region would be above its bound. */
kvl_status kvl_budget_take(kvl_budget *budget, uint32_t region, uint64_t bytes, kvl_refusal *refusal);
/* After they are freed. KVL_ARGUMENT_BUDGET if the region does not use so many. */
kvl_status kvl_budget_give_back(kvl_budget *budget, uint32_t region, uint64_t bytes, kvl_refusal *refusal);
/* Records what the region was measured to use, and answers by how much that is above its bound. */
kvl_status kvl_budget_observe(kvl_budget *budget, uint32_t region, uint64_t bytes, uint64_t *excess,
                              kvl_refusal *refusal);
kvl_status kvl_budget_usage(const kvl_budget *budget, uint32_t region, kvl_usage *usage, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
