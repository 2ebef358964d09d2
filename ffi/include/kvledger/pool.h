/* A pool: what it is made of, and memory of the caller that becomes one. Part of kvledger.h. */
#ifndef KVLEDGER_POOL_H
#define KVLEDGER_POOL_H

#include "answer.h"
#include "sized.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kvl_pool_config {
  size_t size;           /* KVL_SIZED */
  uint32_t number;       /* in every handle; a pool of another number answers it with KVL_STALE. Each pool of a program
                          * gets its own, also one that is made anew in the same memory */
  uint32_t blocks;       /* N, 1 .. 2^31 - 2; device memory has one more, the null block */
  uint32_t safety;       /* S, below N */
  uint32_t block_tokens; /* B */
  uint32_t sequences;    /* open at once, 1 .. 2^20 */
  uint32_t table_width;  /* entries of a row: blocks that one sequence may come to, those out of its window included */
  uint32_t rows;         /* 1, or 2 used in turn when a device reads rows in place */
  uint32_t accounts;     /* shared accounts open at once, 0 .. 2^20 */
  uint32_t groups;       /* trust groups, 1 .. 2^20 */
  uint32_t streams;      /* 1 .. 64 */
  uint32_t epochs;       /* outstanding a stream, 1 .. 65536 */
  uint32_t cache;        /* KVL_CACHE_: whether prefixes are shared, and what is evicted first */
  uint32_t token_check;  /* 1: tokens of published blocks are kept, 4 bytes each, and compared at hits */
  uint32_t transfers;    /* running at once, 0 .. 1024: a bit for each block and each of them */
  uint32_t events;       /* entries of the ring of events: 0, or a power of two up to 2^20 */
  uint32_t reserved;     /* 0 */
} kvl_pool_config;

/* What is kept of blocks that nobody holds, and in which order it is evicted. */
enum {
  KVL_CACHE_OFF = 0,    /* nothing has a name: prefixes are not shared */
  KVL_CACHE_LRU = 1,    /* the least recently released first, children before parents */
  KVL_CACHE_SIEVE = 2,  /* SIEVE (Zhang et al., NSDI 2024) */
  KVL_CACHE_S3_FIFO = 3 /* S3-FIFO (Yang et al., SOSP 2023) */
};

/* Bytes that a pool's memory is aligned to. */
#define KVL_MEMORY_ALIGN 64
#define KVL_POOL_BYTES 4096

/* A view of a pool for this process: written by kvl_init or kvl_attach, then only read. It may be copied, and used from
 * any thread. The pool itself is in the caller's memory and has no addresses inside. */
typedef struct kvl_pool {
  uint64_t opaque[KVL_POOL_BYTES / 8];
} kvl_pool;

/* A configuration with no safety margin, one row a sequence, no shared accounts, one group, one stream of 64 epochs,
 * number 0; no cache, no transfers, no events. Nothing is checked yet.
 * Results: none. Cost: O(1). */
kvl_status kvl_config_new(uint32_t blocks, uint32_t block_tokens, uint32_t sequences, uint32_t table_width,
                          kvl_pool_config *config, kvl_refusal *refusal);
/* Whether every field is in its range. Results: CONFIG. Cost: O(1). */
kvl_status kvl_config_check(const kvl_pool_config *config, kvl_refusal *refusal);
/* Bytes of memory that the pool needs, a multiple of KVL_MEMORY_ALIGN.
 * Results: CONFIG; KVL_ARGUMENT_MEMORY if they would not fit in the address space. Cost: O(1). */
kvl_status kvl_config_bytes(const kvl_pool_config *config, size_t *bytes, kvl_refusal *refusal);
/* Entries of 4 bytes that the block table needs: sequences * rows * table_width.
 * Results: CONFIG; KVL_ARGUMENT_TABLE if they would not fit in the address space. Cost: O(1). */
kvl_status kvl_config_table_entries(const kvl_pool_config *config, size_t *entries, kvl_refusal *refusal);

/* Makes a pool of `memory`, aligned to KVL_MEMORY_ALIGN, with its block table in `table`. Both are overwritten, and the
 * pool's alone from then on: all blocks are free, all entries the null block.
 * Results: CONFIG; KVL_ARGUMENT_MEMORY (not aligned, or less than kvl_config_bytes), _TABLE (fewer than
 * kvl_config_table_entries). Cost: O(memory). */
kvl_status kvl_init(void *memory, size_t memory_bytes, uint32_t *table, size_t table_entries,
                    const kvl_pool_config *config, kvl_pool *pool, kvl_refusal *refusal);
/* A view of a pool that was initialized, by this version of the library, in memory shared with this process, mapped at
 * any address.
 * Results: KVL_BUSY while it is being initialized; KVL_ARGUMENT_HEADER (no pool of this version, or it contradicts
 * itself), _MEMORY (not aligned, or less than the header says), _TABLE (too few entries). Cost: O(1). */
kvl_status kvl_attach(void *memory, size_t memory_bytes, uint32_t *table, size_t table_entries, kvl_pool *pool,
                      kvl_refusal *refusal);
/* What the pool was made of; `safety` is what it was then. Results: none. Cost: O(1). */
kvl_status kvl_config(const kvl_pool *pool, kvl_pool_config *config, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
