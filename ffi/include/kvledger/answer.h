/* The answers of every function: a status, and the details of a refusal. Part of kvledger.h. */
#ifndef KVLEDGER_ANSWER_H
#define KVLEDGER_ANSWER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t kvl_status;

enum {
  KVL_OK = 0,
  KVL_WOULD_BLOCK = 1,  /* not now: ask again when kvl_release_number has changed */
  KVL_RETRY_AFTER = 2,  /* not now, but once the frontier has reached `after` */
  KVL_NEVER_FITS = 3,   /* not in this pool, as it is set now */
  KVL_OVER_PROMISE = 4, /* beyond what was promised */
  KVL_CANCELLED = 5,    /* end the sequence */
  KVL_STALE = 6,        /* handle or epoch over, repeated or foreign */
  KVL_INVALID = 7,      /* an argument is wrong: `argument` says which */
  KVL_FULL = 8,         /* no free slot, no epoch left on a stream, or no room for another holder of a block */
  KVL_BUSY = 9,         /* another thread drives it, it is in flight, or an unfinished order is in the way: later */
  KVL_CORRUPT = 10      /* memory was changed under the pool: `place` says where */
};

enum { KVL_SCOPE_POOL = 0, KVL_SCOPE_GROUP = 1 };

enum { KVL_PLACE_TABLE = 1, KVL_PLACE_FREE_LIST = 2 };

enum {
  KVL_ARGUMENT_MEMORY = 1,
  KVL_ARGUMENT_TABLE = 2,
  KVL_ARGUMENT_BLOCKS = 3,
  KVL_ARGUMENT_SAFETY = 4,
  KVL_ARGUMENT_BLOCK_TOKENS = 5,
  KVL_ARGUMENT_SEQUENCES = 6,
  KVL_ARGUMENT_TABLE_WIDTH = 7,
  KVL_ARGUMENT_ACCOUNTS = 8,
  KVL_ARGUMENT_GROUPS = 9,
  KVL_ARGUMENT_STREAMS = 10,
  KVL_ARGUMENT_EPOCHS = 11,
  KVL_ARGUMENT_ROWS = 12,
  KVL_ARGUMENT_GROUP = 13,
  KVL_ARGUMENT_STREAM = 14,
  KVL_ARGUMENT_TOKENS = 15,
  KVL_ARGUMENT_COUNT = 16,
  KVL_ARGUMENT_SEQUENCE = 17,
  KVL_ARGUMENT_ACCOUNT = 18,
  KVL_ARGUMENT_OUTPUT = 19,
  KVL_ARGUMENT_HEADER = 20,
  KVL_ARGUMENT_POINTER = 21, /* NULL, misaligned, no array in memory, or an output over another */
  KVL_ARGUMENT_GEOMETRY = 22,
  KVL_ARGUMENT_OVERFLOW = 23,
  KVL_ARGUMENT_LENGTH = 24,
  KVL_ARGUMENT_BUDGET = 25,
  KVL_ARGUMENT_EPOCH = 26,
  KVL_ARGUMENT_CACHE = 27, /* no number of a cache, or the pool has none */
  KVL_ARGUMENT_TOKEN_CHECK = 28,
  KVL_ARGUMENT_TRANSFERS = 29,
  KVL_ARGUMENT_EVENTS = 30,
  KVL_ARGUMENT_WINDOW = 31,
  KVL_ARGUMENT_IDENTITY = 32, /* the block has another name already */
  KVL_ARGUMENT_BLOCK = 33,    /* not the caller's, named twice, covered in part, or not full */
  KVL_ARGUMENT_HEADS = 34,
  KVL_ARGUMENT_TILE = 35, /* rows, keys or overhead */
  KVL_ARGUMENT_THREAD_BLOCKS = 36,
  KVL_ARGUMENT_CHUNK = 37,
  KVL_ARGUMENT_QUERIES = 38, /* query starts that descend, or too few positions */
  KVL_ARGUMENT_RANGES = 39,  /* not in C, where one count is that of all arrays */
  KVL_ARGUMENT_SIZE = 40,    /* `size` of a struct: not set, or with something in fields that are not known here */
  KVL_ARGUMENT_NUMBER = 41,  /* two pools have the same */
  KVL_ARGUMENT_PROMISE = 42, /* below what the prompt needs, or of neither kind */
  KVL_ARGUMENT_ACCESS = 43,
  KVL_ARGUMENT_REGION = 44,
  KVL_ARGUMENT_TRIALS = 45,
  KVL_ARGUMENT_PROBABILITY = 46,
  KVL_ARGUMENT_SALT = 47,
  KVL_ARGUMENT_RING = 48 /* the handle does not record */
};

/* Fields that an answer does not have are 0. */
typedef struct kvl_refusal {
  kvl_status code;
  uint32_t argument;    /* KVL_INVALID */
  uint32_t scope;       /* KVL_WOULD_BLOCK: the resource that refused */
  uint32_t place;       /* KVL_CORRUPT */
  uint32_t short_by;    /* KVL_WOULD_BLOCK, KVL_OVER_PROMISE: blocks missing */
  uint32_t reclaimable; /* KVL_RETRY_AFTER: blocks that will have come back */
  uint32_t needed;      /* KVL_NEVER_FITS: blocks at the request's peak */
  uint32_t ceiling;     /* KVL_NEVER_FITS: the most that could be given */
  uint64_t after;       /* KVL_RETRY_AFTER: an epoch that is not over yet */
} kvl_refusal;

#ifdef __cplusplus
}
#endif
#endif
