// Attention of a batch of queries over keys and values in blocks: one query token a sequence (decode), several
// (speculation) or many (prefill in chunks). Two launches: `attend` works through a plan, `merge` joins what the plan
// cut into parts.
#ifndef KVK_ATTEND_H
#define KVK_ATTEND_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// A row is one query head of one query token. Rows of one key-value head are numbered token by token, the heads of
// its group beside each other: row = token * group + head in the group. A tile is this many of them; which one a plan
// was made with decides how warps share the work.
#define KVK_DECODE_ROWS 16u   // warps take different keys of the same rows
#define KVK_PREFILL_ROWS 64u  // warps take different rows of the same keys

// Places of keys and queries in their sequences are below this: 2^31, less the largest tile of keys.
#define KVK_PLACES 0x7FFFFFC0u

// No part: the item is all there is of its tile.
#define KVK_WHOLE 0xFFFFFFFFu

// One piece of work: the rows of a tile over keys first_key..end_key of its sequence.
typedef struct kvk_item {
  uint32_t sequence;
  uint32_t head;       // key-value head
  uint32_t first_row;  // a multiple of the plan's tile
  uint32_t first_key;
  uint32_t end_key;
  uint32_t part;       // where the partial result goes, or KVK_WHOLE
} kvk_item;

// One tile that was cut: its parts are `count` in a row from `first_part`.
typedef struct kvk_join {
  uint32_t sequence;
  uint32_t head;
  uint32_t first_row;
  uint32_t first_part;
  uint32_t count;
  uint32_t reserved;
} kvk_join;

typedef struct kvk_attend_params {
  kvk_cache cache;
  kvk_table table;
  const uint32_t *lengths;          // [sequences]: keys of each, those of its query tokens included
  const uint32_t *query_starts;     // [sequences + 1] first query token of each, or NULL: one each
  // [query tokens]: places in their sequences, or NULL: the last ones. A token whose place is KVK_PLACES or above, such
  // as padding's -1, sees no key; one whose place is no key's sees those before it. With a window, tokens of one
  // sequence must stand side by side: keys between two windows are looked up and read, though nobody sees them.
  const uint32_t *query_positions;
  const void *queries;              // [query tokens][query_heads][head_dim] of `type`
  void *output;                     // the same shape; every row is written
  float *lse;                       // [query tokens][query_heads], or NULL: ln of the sum of exp(score)
  const float *sinks;               // [query_heads] scores without a value, added to the sum, or NULL
  const float *slopes;              // [query_heads] ALiBi: slope * (place of key - place of query), or NULL
  int64_t query_token_stride;       // elements
  int64_t query_head_stride;
  int64_t output_token_stride;
  int64_t output_head_stride;
  int64_t lse_token_stride;         // floats
  const uint32_t *item_starts;      // [thread_blocks + 1]: block g works on items item_starts[g]..item_starts[g + 1]
  const kvk_item *items;
  const kvk_join *joins;
  const uint32_t *join_count;       // [1]; on the device, so that one captured graph serves every plan
  float *part_output;               // [parts][tile_rows][head_dim]
  float *part_lse;                  // [parts][tile_rows], base 2
  kvk_status *status;
  float scale;                      // of scores, usually 1 / sqrt(head_dim)
  float soft_cap;                   // cap * tanh(score / cap) before the slope and the mask; 0: none
  int32_t window_left;              // keys at distance 0..=window_left are seen; -1: all. Keys after a query never are
  uint32_t query_heads;             // a multiple of cache.heads
  uint32_t sequences;
  uint32_t type;                    // KVK_F16 or KVK_BF16
  uint32_t tile_rows;               // KVK_DECODE_ROWS or KVK_PREFILL_ROWS
  uint32_t thread_blocks;           // of `attend`
  uint32_t merge_thread_blocks;     // of `merge`; 1 to 65,536
  uint32_t reserved;
} kvk_attend_params;

// A row that sees no key is 0, and its LSE that of its sink or -infinity. Keys in a block that cannot be read are as
// if masked, and reported. An element of a value that is infinite or NaN makes that element of the output NaN in every
// row of the tile, also in rows that do not attend to it: 0 times it is NaN. One of a key does so only in the rows that
// attend to it. Both are enqueued with the same parameters, `attend` first. Returns 0, or the device's error number;
// KVK_UNSUPPORTED if there is no such instance.
#ifndef KVK_STRUCTURES_ONLY
uint32_t kvk_cpu_attend(const kvk_attend_params *params, void *run);
uint32_t kvk_cuda_attend(const kvk_attend_params *params, void *stream);
uint32_t kvk_cpu_merge(const kvk_attend_params *params, void *run);
uint32_t kvk_cuda_merge(const kvk_attend_params *params, void *stream);
#endif

// Joins two results over different keys of the same queries, as if they were one (cascade). Shapes as above; either
// may be empty (LSE -infinity); the result may be one of the two. Sinks belong in one of them only.
typedef struct kvk_merge_two_params {
  const void *output_a;
  const float *lse_a;
  const void *output_b;
  const float *lse_b;
  void *output;
  float *lse;                 // or NULL
  int64_t token_stride;       // elements, of all three outputs
  int64_t head_stride;
  int64_t lse_token_stride;   // floats
  uint32_t tokens;
  uint32_t heads;
  uint32_t head_dim;
  uint32_t type;
} kvk_merge_two_params;

#ifndef KVK_STRUCTURES_ONLY
uint32_t kvk_cpu_merge_two(const kvk_merge_two_params *params, void *run);
uint32_t kvk_cuda_merge_two(const kvk_merge_two_params *params, void *stream);
#endif

#ifdef __cplusplus
}
static_assert(sizeof(kvk_item) == 24 && sizeof(kvk_join) == 24, "no hidden padding");
static_assert(sizeof(kvk_attend_params) == 344, "no hidden padding");
#endif

#endif
