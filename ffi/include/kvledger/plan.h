/* Planning: arithmetic before anything exists, and the device budget. Part of kvledger.h.
 *
 * All of these are pure: what does not fit in 64 bits is KVL_ARGUMENT_OVERFLOW, never a wrapped number. Cost: O(1), but
 * where it is said. */
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
  uint32_t key_dim;   /* elements of one key */
  uint32_t value_dim; /* 0: key and value are one joint latent of key_dim elements */
  uint32_t block_tokens;
  uint32_t block_align_bytes; /* a power of two */
  uint32_t element;           /* KVL_ELEMENT_ */
  uint32_t scale_grain;       /* KVL_GRAIN_ */
  uint32_t scale_bytes;       /* of one scale, its zero point included */
  uint32_t scale_group;       /* elements, with KVL_GRAIN_ELEMENT_GROUP, else 0 */
} kvl_geometry;

/* Bits of one element. Results: KVL_ARGUMENT_GEOMETRY if `element` is none. */
kvl_status kvl_element_bits(uint32_t element, uint32_t *bits, kvl_refusal *refusal);
/* Keys and values of one size, no scales, blocks aligned to 16 bytes.
 * Results: KVL_ARGUMENT_GEOMETRY if `element` is none; nothing else is checked yet. */
kvl_status kvl_geometry_new(uint32_t layers, uint32_t kv_heads, uint32_t head_dim, uint32_t block_tokens,
                            uint32_t element, kvl_geometry *geometry, kvl_refusal *refusal);
/* Whether every field is in its range: layers, heads, key_dim and block_tokens at least 1, bytes of a scale exactly
 * where there are scales.
 * Results: KVL_ARGUMENT_GEOMETRY. */
kvl_status kvl_geometry_check(const kvl_geometry *geometry, kvl_refusal *refusal);
/* Bytes of one token over all layers, with the scales that each token has of its own.
 * Results: KVL_ARGUMENT_GEOMETRY, _OVERFLOW. */
kvl_status kvl_geometry_token_bytes(const kvl_geometry *geometry, uint64_t *bytes, kvl_refusal *refusal);
/* Bytes of one block over all layers: its tokens, the scales that belong to the block, and what alignment adds.
 * Results: KVL_ARGUMENT_GEOMETRY, _OVERFLOW. */
kvl_status kvl_geometry_block_bytes(const kvl_geometry *geometry, uint64_t *bytes, kvl_refusal *refusal);
/* Whole blocks that fit into `bytes`. If the null block is to live there too, N is one less.
 * Results: KVL_ARGUMENT_BLOCKS if that is none or above 2^31 - 2; KVL_ARGUMENT_GEOMETRY, _OVERFLOW. */
kvl_status kvl_geometry_pool_blocks(const kvl_geometry *geometry, uint64_t bytes, uint32_t *blocks,
                                    kvl_refusal *refusal);
/* Device bytes of a pool of N = `blocks`, with the null block: one block more.
 * Results: KVL_ARGUMENT_BLOCKS if not in 1 .. 2^31 - 2; KVL_ARGUMENT_GEOMETRY, _OVERFLOW. */
kvl_status kvl_geometry_pool_bytes(const kvl_geometry *geometry, uint32_t blocks, uint64_t *bytes,
                                   kvl_refusal *refusal);
/* Blocks of a request at its longest, rounded up. Results: KVL_ARGUMENT_GEOMETRY. */
kvl_status kvl_geometry_request_blocks(const kvl_geometry *geometry, uint32_t prompt_tokens,
                                       uint32_t output_tokens_max, uint64_t *blocks, kvl_refusal *refusal);

/* A share with both of its numbers, not reduced. */
typedef struct kvl_ratio {
  uint64_t numerator;
  uint64_t denominator;
} kvl_ratio;

/* The share as the nearest double. Results: none. */
kvl_status kvl_ratio_to_f64(const kvl_ratio *ratio, double *value, kvl_refusal *refusal);

/* Blocks that hold `tokens`, rounded up. Results: KVL_ARGUMENT_BLOCK_TOKENS for 0. */
kvl_status kvl_blocks_for(uint64_t tokens, uint32_t block_tokens, uint64_t *blocks, kvl_refusal *refusal);
/* Further blocks when `more_tokens` follow `tokens`: for a sequence that shares nothing that it writes to (its tail
 * would cost one more, for the copy).
 * Results: KVL_ARGUMENT_BLOCK_TOKENS for 0, _OVERFLOW. */
kvl_status kvl_growth_blocks(uint64_t tokens, uint64_t more_tokens, uint32_t block_tokens, uint64_t *blocks,
                             kvl_refusal *refusal);
/* Most blocks that a sequence holds in layers that look back `window_tokens` at most, with so many of its own steps in
 * flight while a step of at most `step_tokens` is prepared.
 * Results: KVL_ARGUMENT_BLOCK_TOKENS for 0, _TOKENS for a window of 0. */
kvl_status kvl_window_blocks(uint32_t window_tokens, uint32_t steps_in_flight, uint32_t step_tokens,
                             uint32_t block_tokens, uint64_t *blocks, kvl_refusal *refusal);
/* Token slots of the blocks of sequences with these lengths, none of them shared.
 * Results: KVL_ARGUMENT_BLOCK_TOKENS for 0, if there are lengths; _OVERFLOW. Cost: O(count). */
kvl_status kvl_paged_slots(const uint32_t *lengths, size_t count, uint32_t block_tokens, uint64_t *slots,
                           kvl_refusal *refusal);
/* Of the allocated slots (kvl_paged_slots), those without a token.
 * Results: KVL_ARGUMENT_TOKENS if none is allocated; _BLOCK_TOKENS for 0, if there are lengths; _OVERFLOW.
 * Cost: O(count). */
kvl_status kvl_slack(const uint32_t *lengths, size_t count, uint32_t block_tokens, kvl_ratio *share,
                     kvl_refusal *refusal);
/* Blocks of `requests` of one trust group, each of `tokens_max` at its longest, that share the whole blocks of the
 * first `prefix_tokens`.
 * Results: KVL_ARGUMENT_BLOCK_TOKENS for 0, _LENGTH if the prefix is longer than the request, _OVERFLOW. */
kvl_status kvl_group_blocks(uint64_t requests, uint64_t prefix_tokens, uint64_t tokens_max, uint32_t block_tokens,
                            uint64_t *blocks, kvl_refusal *refusal);
/* The most requests of which kvl_group_blocks are at most `blocks`; UINT64_MAX if they share all that they have.
 * Results: KVL_ARGUMENT_BLOCK_TOKENS for 0, _LENGTH if the prefix is longer than the request. */
kvl_status kvl_group_requests(uint64_t blocks, uint64_t prefix_tokens, uint64_t tokens_max, uint32_t block_tokens,
                              uint64_t *requests, kvl_refusal *refusal);

/* Token slots if each of `sequences` gets a contiguous region of `tokens_max`. Results: KVL_ARGUMENT_OVERFLOW. */
kvl_status kvl_reserved_slots(uint64_t sequences, uint32_t tokens_max, uint64_t *slots, kvl_refusal *refusal);
/* Token slots with a token: the sum of the lengths.
 * Results: KVL_ARGUMENT_LENGTH if one is above `tokens_max` (UINT32_MAX: no maximum), _OVERFLOW. Cost: O(count). */
kvl_status kvl_used_slots(const uint32_t *lengths, size_t count, uint32_t tokens_max, uint64_t *slots,
                          kvl_refusal *refusal);
/* Of the reserved slots, those without a token.
 * Results: KVL_ARGUMENT_TOKENS if none is reserved; _LENGTH if a length is above `tokens_max`; _OVERFLOW.
 * Cost: O(count). */
kvl_status kvl_waste_fraction(const uint32_t *lengths, size_t count, uint32_t tokens_max, kvl_ratio *share,
                              kvl_refusal *refusal);
/* Further regions of `tokens_max` that fit into a pool of `pool_slots` beside the `running` ones, rounded down.
 * Results: KVL_ARGUMENT_TOKENS if `tokens_max` is 0. */
kvl_status kvl_extra_reservations(uint64_t pool_slots, uint32_t tokens_max, uint64_t running, uint64_t *reservations,
                                  kvl_refusal *refusal);

/* Trials: at most 2^20, each with the same probability in 0 .. 1, and independent. Requests often are not: then the
 * truth can be anything. */

/* The probability of exactly so many successes. Results: KVL_ARGUMENT_TRIALS, _PROBABILITY. Cost: O(trials). */
kvl_status kvl_binomial_pmf(uint32_t trials, double probability, uint32_t successes, double *mass,
                            kvl_refusal *refusal);
/* The probability of at least so many, summed from that side: a small tail keeps its digits.
 * Results: KVL_ARGUMENT_TRIALS, _PROBABILITY. Cost: O(trials). */
kvl_status kvl_binomial_tail(uint32_t trials, double probability, uint32_t successes, double *tail,
                             kvl_refusal *refusal);
/* trials * probability. Results: KVL_ARGUMENT_TRIALS, _PROBABILITY. */
kvl_status kvl_binomial_mean(uint32_t trials, double probability, double *mean, kvl_refusal *refusal);
/* trials * probability * (1 - probability). Results: KVL_ARGUMENT_TRIALS, _PROBABILITY. */
kvl_status kvl_binomial_variance(uint32_t trials, double probability, double *variance, kvl_refusal *refusal);

/* ---- Device budget ------------------------------------------------------------------------------------------- *
 *
 * A `region` that is none of these is KVL_ARGUMENT_REGION. */

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

/* A device of so many bytes; all bounds are 0. Results: none. */
kvl_status kvl_budget_new(uint64_t device_bytes, kvl_budget *budget, kvl_refusal *refusal);
/* Bytes of the whole device. Results: none. */
kvl_status kvl_budget_device_bytes(const kvl_budget *budget, uint64_t *bytes, kvl_refusal *refusal);
/* Sets the most bytes that a region may use.
 * Results: KVL_ARGUMENT_REGION; _BUDGET if the bounds together would exceed the device, or the region uses more
 * already; _OVERFLOW. */
kvl_status kvl_budget_set_bound(kvl_budget *budget, uint32_t region, uint64_t bytes, kvl_refusal *refusal);
/* Bytes of the device that no region was given. Results: none. */
kvl_status kvl_budget_spare_bytes(const kvl_budget *budget, uint64_t *bytes, kvl_refusal *refusal);
/* Counts `bytes` more as used, before they are allocated.
 * Results: KVL_ARGUMENT_REGION; _BUDGET if the region would exceed its bound. */
kvl_status kvl_budget_take(kvl_budget *budget, uint32_t region, uint64_t bytes, kvl_refusal *refusal);
/* Counts `bytes` as no longer used, after they are freed.
 * Results: KVL_ARGUMENT_REGION; _BUDGET if the region does not use so many. */
kvl_status kvl_budget_give_back(kvl_budget *budget, uint32_t region, uint64_t bytes, kvl_refusal *refusal);
/* Records how many bytes the region was measured to use now, and answers by how many that is above its bound; a fact is
 * recorded even so.
 * Results: KVL_ARGUMENT_REGION. */
kvl_status kvl_budget_observe(kvl_budget *budget, uint32_t region, uint64_t bytes, uint64_t *excess,
                              kvl_refusal *refusal);
/* Bound, use and the highest use of a region, in bytes. Results: KVL_ARGUMENT_REGION. */
kvl_status kvl_budget_usage(const kvl_budget *budget, uint32_t region, kvl_usage *usage, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
