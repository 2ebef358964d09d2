/* Split plans: how the attention of a batch is cut into equal pieces of work for a fixed number of thread blocks, and
 * which of them are joined again. Part of kvledger.h.
 *
 *   kvl_split_decode, kvl_split_prefill   what does not change from batch to batch; change fields as needed
 *   kvl_split_layout                      bytes of a plan, and where its arrays are: the same for every batch
 *   kvl_split_plan                        each step: from lengths to words, which are copied to the device as they are
 *   kvl_split_read                        before a launch: whether words are a plan
 *
 * Addresses in a captured graph are `device + layout.items` and so on: one graph serves every batch. */
#ifndef KVLEDGER_SPLIT_H
#define KVLEDGER_SPLIT_H

#include "answer.h"
#include "observe.h"
#include "sized.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVL_SPLIT_VERSION 0x4B565301u
#define KVL_SPLIT_DECODE_ROWS 16u  /* warps take different keys of the same rows */
#define KVL_SPLIT_PREFILL_ROWS 64u /* warps take different rows of the same keys */
#define KVL_SPLIT_WHOLE UINT32_MAX /* `part` of an item that is all there is of its row tile */

/* A row is one query head of one query token; rows of one key-value head are numbered token by token. */
typedef struct kvl_split {
  size_t size;               /* KVL_SIZED */
  uint32_t heads;            /* key-value heads, on this device */
  uint32_t query_heads;      /* a multiple of heads */
  uint32_t tile_rows;        /* KVL_SPLIT_DECODE_ROWS or KVL_SPLIT_PREFILL_ROWS */
  uint32_t tile_keys;        /* a power of two, 16 to 256 */
  int32_t window_left;       /* keys before a token that it sees, besides its own; -1: all. kvl_window.tokens - 1 */
  uint32_t chunk_keys;       /* 0: equal shares; else cut at its multiples only: results do not depend on the batch */
  uint32_t thread_blocks;    /* of the launch */
  uint32_t overhead_tiles;   /* what an item costs beside its keys, in key tiles */
  uint32_t sequences_max;    /* of a batch */
  uint32_t query_tokens_max; /* of a batch, all sequences together */
  uint32_t keys_max;         /* of a sequence */
  uint32_t reserved;         /* 0 */
} kvl_split;

/* One batch. NULL where it says so. */
typedef struct kvl_split_batch {
  size_t size;                     /* KVL_SIZED */
  const uint32_t *lengths;         /* [sequences]: keys, those of the query tokens included */
  const uint32_t *query_starts;    /* [sequences + 1] first query token of each; NULL: one each */
  const uint32_t *query_positions; /* [query_positions_count] places in their sequences; NULL: the last ones */
  const uint32_t *begins;          /* [sequences] first key that is attended to; NULL: 0 */
  const uint32_t *ends;            /* [sequences] end of the keys that are; NULL: the length */
  uint32_t sequences;
  uint32_t query_positions_count;
} kvl_split_batch;

/* One piece of work: the rows of a tile over keys first_key to end_key. */
typedef struct kvl_split_item {
  uint32_t sequence; /* its place in the batch */
  uint32_t head;
  uint32_t first_row;
  uint32_t first_key;
  uint32_t end_key; /* with first_key if no row sees a key: the rows are written all the same */
  uint32_t part;    /* where the partial result goes, or KVL_SPLIT_WHOLE */
} kvl_split_item;

/* One row tile that was cut. */
typedef struct kvl_split_join {
  uint32_t sequence;
  uint32_t head;
  uint32_t first_row;
  uint32_t first_part;
  uint32_t count; /* parts */
  uint32_t reserved;
} kvl_split_join;

/* What a plan begins with. */
typedef struct kvl_split_header {
  uint32_t version; /* KVL_SPLIT_VERSION */
  uint32_t checksum;
  uint32_t generation; /* the caller's number of this plan */
  uint32_t words;      /* of the whole plan */
  uint32_t items;      /* in use, as are joins and parts */
  uint32_t joins;
  uint32_t parts;
  uint32_t sequences;
  uint32_t chunk_keys;
  uint32_t thread_blocks;
  uint32_t tile_rows;
  uint32_t tile_keys;
  uint32_t heads;
  uint32_t items_max;
  uint32_t joins_max;
  uint32_t parts_max;
} kvl_split_header;

/* Bytes from the first word of a plan. What is not in use is empty: items and joins of sequence UINT32_MAX. */
typedef struct kvl_split_places {
  size_t size;          /* KVL_SIZED */
  uint64_t bytes;       /* of a plan: a header, then arrays */
  uint64_t item_starts; /* uint32_t [thread_blocks + 1]: block g works on items item_starts[g] to item_starts[g + 1] */
  uint64_t items;       /* kvl_split_item [items_max] */
  uint64_t joins;       /* kvl_split_join [joins_max] */
  uint64_t join_count;  /* uint32_t */
  uint32_t items_max;   /* equal shares: at most row tiles + thread_blocks - 1 */
  uint32_t joins_max;
  uint32_t parts_max; /* equal shares: at most 2 * (thread_blocks - 1). Two arrays of floats: outputs
                       * [parts_max][tile_rows][head_dim], and logarithms [parts_max][tile_rows] */
  uint32_t row_tiles_max;
} kvl_split_places;

typedef struct kvl_split_counts {
  size_t size; /* KVL_SIZED */
  uint32_t items;
  uint32_t joins;
  uint32_t parts;
  uint32_t row_tiles;
  uint64_t cost_max; /* of the busiest thread block: key tiles, and the overhead of its items */
  uint64_t cost;     /* of all together, were nothing cut */
} kvl_split_counts;

typedef struct kvl_split_fault {
  char what[KVL_FAULT_TEXT_BYTES]; /* empty: nothing is wrong */
  uint32_t index;
  uint32_t reserved;
  uint64_t expected;
  uint64_t found;
} kvl_split_fault;

/* One query token for each sequence, equal shares, no window, keys by 64, an item costs 2 key tiles besides. Nothing is
 * checked yet.
 * Results: none. Cost: O(1). */
kvl_status kvl_split_decode(uint32_t heads, uint32_t query_heads, uint32_t thread_blocks, uint32_t sequences_max,
                            uint32_t keys_max, kvl_split *split, kvl_refusal *refusal);
/* The same for prompts, in chunks or whole: up to `query_tokens_max` query tokens in all, tiles of
 * KVL_SPLIT_PREFILL_ROWS rows.
 * Results: none. Cost: O(1). */
kvl_status kvl_split_prefill(uint32_t heads, uint32_t query_heads, uint32_t thread_blocks, uint32_t sequences_max,
                             uint32_t query_tokens_max, uint32_t keys_max, kvl_split *split, kvl_refusal *refusal);
/* Whether plans can be made for this. (How large they are, which may be too large, kvl_split_layout says.)
 * Results: SHAPE. Cost: O(1). */
kvl_status kvl_split_check(const kvl_split *split, kvl_refusal *refusal);
/* How large a plan is, where its arrays are, and how many partial results there must be room for.
 * Results: SHAPE. Cost: O(1). */
kvl_status kvl_split_layout(const kvl_split *split, kvl_split_places *layout, kvl_refusal *refusal);
/* What the plan of a batch would have, and how equal its shares would be; nothing is written.
 * Results: SHAPE, BATCH. Cost: O(sequences + row tiles), O(query tokens) if they have positions. */
kvl_status kvl_split_count(const kvl_split *split, const kvl_split_batch *batch, kvl_split_counts *counts,
                           kvl_refusal *refusal);
/* Writes the plan of a batch, layout.bytes / 4 words, all of them; what is behind these stays. `generation` is the
 * caller's number of it, by which whoever reads it later knows that it is still the same one.
 * Results: SHAPE, BATCH; KVL_ARGUMENT_OUTPUT for too few words. Then nothing is written. Cost: as kvl_split_count, and
 * O(words). */
kvl_status kvl_split_plan(const kvl_split *split, const kvl_split_batch *batch, uint32_t generation, uint32_t *words,
                          size_t words_count, kvl_split_header *header, kvl_refusal *refusal);
/* Whether words are a plan of this split, which a launch asks before it gives them to the device; its header.
 * Results: SHAPE; KVL_ARGUMENT_HEADER for words that never were such a plan, or are being written. Cost: O(words). */
kvl_status kvl_split_read(const kvl_split *split, const uint32_t *words, size_t words_count, kvl_split_header *header,
                          kvl_refusal *refusal);
/* Looks at every entry, knowing what a plan of this batch must be. A fault is a finding: the status is KVL_OK, and
 * fault->what is not empty.
 * Results: SHAPE, BATCH; KVL_ARGUMENT_HEADER as above. Cost: as kvl_split_plan. */
kvl_status kvl_split_validate(const kvl_split *split, const kvl_split_batch *batch, const uint32_t *words,
                              size_t words_count, kvl_split_fault *fault, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
