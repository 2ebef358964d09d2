/* Cache events: what a router that sends requests to the server with the longest cached prefix must hear of. Part of
 * kvledger.h. */
#ifndef KVLEDGER_EVENTS_H
#define KVLEDGER_EVENTS_H

#include "answer.h"
#include "identity.h"
#include "pool.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  KVL_EVENT_STORED = 1,  /* the first copy of an identity can be hit */
  KVL_EVENT_REMOVED = 2, /* the last copy of an identity is gone */
  KVL_EVENT_CLEARED = 3  /* all identities of the group are gone; of all groups, if it is UINT32_MAX */
};

typedef struct kvl_event {
  uint64_t number;       /* its place in the order of all events of the pool, from 1 */
  uint32_t kind;         /* KVL_EVENT_ */
  uint32_t block;        /* that holds the copy; 0 in KVL_EVENT_CLEARED */
  uint32_t group;        /* trust group */
  kvl_identity identity; /* zeros in KVL_EVENT_CLEARED */
} kvl_event;

/* How far a reader has come. Zeroed: before the first event. Any number of readers, each with its own, read side by
 * side, and all of them get all events. */
typedef struct kvl_event_cursor {
  uint64_t next;
} kvl_event_cursor;

typedef struct kvl_events_read {
  uint32_t count;   /* events that were written */
  uint64_t dropped; /* numbers passed whose events, if they had any, are gone: what the reader knows of the cache may be
                     * wrong in both directions now */
} kvl_events_read;

/* The events from `cursor` on, by increasing numbers, as many as are there and `events_max` has room for; `cursor`
 * moves behind them. Nothing comes from a pool without a ring (`events` of its configuration). Wait-free.
 * Results: none. Threads: any number, each with its own cursor. Cost: O(events read), at most those of the ring. */
kvl_status kvl_events(const kvl_pool *pool, kvl_event_cursor *cursor, kvl_event *events, size_t events_max,
                      kvl_events_read *read, kvl_refusal *refusal);
/* Where a reader begins that does not care for the past. Wait-free. Results: none. Cost: O(1). */
kvl_status kvl_events_now(const kvl_pool *pool, kvl_event_cursor *cursor, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
