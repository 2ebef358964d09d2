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
  uint32_t blocks;  /* entries that are blocks */
  uint32_t tokens;  /* tokens in these blocks */
  uint64_t version; /* changes whenever the row did */
} kvl_row_view;

kvl_status kvl_row(const kvl_pool *pool, kvl_sequence sequence, kvl_row_view *row, kvl_refusal *refusal);
kvl_status kvl_launch_row(const kvl_pool *pool, kvl_sequence sequence, uint64_t epoch, kvl_row_view *row,
                          kvl_refusal *refusal);
kvl_status kvl_export_row(const kvl_pool *pool, kvl_sequence sequence, uint32_t *blocks, size_t blocks_max,
                          uint32_t *count, kvl_refusal *refusal);
/* `indptr` has sequence_count + 1 entries, `last_block_tokens` sequence_count; `count` is the indices used. */
kvl_status kvl_export_csr(const kvl_pool *pool, const kvl_sequence *sequences, size_t sequence_count, uint32_t *indptr,
                          uint32_t *indices, size_t indices_max, uint32_t *last_block_tokens, uint32_t *count,
                          kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
