/* Rows: what kernels read. Part of kvledger.h. */
#ifndef KVLEDGER_ROWS_H
#define KVLEDGER_ROWS_H

#include "pool.h"
#include "sequence.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kvl_row_view {
  uint32_t row;     /* its entries begin at row * table_width */
  uint32_t entries; /* in use: blocks, and null blocks for those that were released or left the window */
  uint32_t tokens;  /* of the sequence */
  uint64_t version; /* changes whenever the row did */
} kvl_row_view;

/* Which row a sequence has, and what is in it. Results: DRIVEN (admitted or pinned). Cost: O(1). */
kvl_status kvl_row(const kvl_pool *pool, kvl_sequence sequence, kvl_row_view *row, kvl_refusal *refusal);
/* The work of `epoch` reads the row in place. With two rows a sequence, the row then stays as it is, but for blocks
 * that are appended, until the epoch is over on the sequence's streams; with one, this is kvl_row.
 * Results: KVL_ARGUMENT_EPOCH for one that was not submitted; DRIVEN (admitted). Cost: O(1). */
kvl_status kvl_launch_row(const kvl_pool *pool, kvl_sequence sequence, uint64_t epoch, kvl_row_view *row,
                          kvl_refusal *refusal);
/* Copies the entries of a row to the front of `blocks`; `count` is how many.
 * Results: DRIVEN (admitted or pinned); KVL_ARGUMENT_OUTPUT if `blocks_max` is less, and then nothing was written.
 * Cost: O(entries). */
kvl_status kvl_export_row(const kvl_pool *pool, kvl_sequence sequence, uint32_t *blocks, size_t blocks_max,
                          uint32_t *count, kvl_refusal *refusal);
/* Packs the rows of several sequences, as FlashInfer's paged kernels take them: indices[indptr[i]] .. are the entries
 * of sequence i that have tokens, and last_block_tokens[i] is how many tokens are in the last one. `indptr` has
 * sequence_count + 1 entries, `last_block_tokens` sequence_count; `count` is the indices used.
 * Results: DRIVEN (admitted or pinned), of the first sequence that is refused; KVL_ARGUMENT_OUTPUT if `indices_max` is
 * too small. The three arrays then mean nothing. Cost: O(entries). */
kvl_status kvl_export_csr(const kvl_pool *pool, const kvl_sequence *sequences, size_t sequence_count, uint32_t *indptr,
                          uint32_t *indices, size_t indices_max, uint32_t *last_block_tokens, uint32_t *count,
                          kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
