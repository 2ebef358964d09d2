/* The flight recorder: what a handle was asked and what it answered. Part of kvledger.h. */
#ifndef KVLEDGER_RECORDING_H
#define KVLEDGER_RECORDING_H

#include "pool.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 *   kvl_pool recording;                           one for each thread, with a ring of its own
 *   kvl_recording(&pool, ring, sizeof ring, &recording, NULL);
 *   ...                                           calls through `recording` that may change something are recorded
 *   fwrite(ring, sizeof ring, 1, file);           the ring is the dump: from a signal handler or a core file, too
 *
 * `kvledger rerun FILE` lists a dump, and makes its calls again on a fresh pool to compare answers and block ids. */

typedef struct kvl_ring_state {
  uint64_t written;    /* words that were ever written */
  uint64_t capacity;   /* words that it holds: what was written before the last so many is gone */
  uint64_t lost;       /* calls not recorded: another thread had the ring, or the batch was too long for it */
  uint64_t dump_words; /* words of kvl_dump */
} kvl_ring_state;

/* The same pool through a handle that records in `ring`, which is aligned to KVL_MEMORY_ALIGN, at least 15 lines of 64
 * bytes, and the handle's alone from then on. A call costs two locked instructions more and a store for each word of
 * its record: 2 to 18 words (kvl_advance up to 7, kvl_admit 18) and what its lists need; of a batch 9, and half a word
 * a row, or three if a row was refused (a batch of more rows than a third of the ring's words is not recorded). A call
 * that finds the ring in use by another thread is made all the same, and counted as lost.
 * Results: KVL_ARGUMENT_MEMORY if the ring is too small or not aligned. Cost: O(ring) and that of kvl_snapshot, and
 * O(groups). */
kvl_status kvl_recording(const kvl_pool *pool, void *ring, size_t ring_bytes, kvl_pool *recording,
                         kvl_refusal *refusal);
/* What the ring of this handle has in it; zeros without one. Wait-free. Results: none. Cost: O(1). */
kvl_status kvl_ring(const kvl_pool *pool, kvl_ring_state *state, kvl_refusal *refusal);
/* Copies the ring of this handle, as it is in memory: `count` words. Calls that meet this one are lost to the record.
 * Results: KVL_ARGUMENT_OUTPUT if `words_max` is below `dump_words`, _RING if the handle does not record; KVL_BUSY
 * while another thread is in a call with this handle. Cost: O(ring). */
kvl_status kvl_dump(const kvl_pool *pool, uint64_t *words, size_t words_max, size_t *count, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
