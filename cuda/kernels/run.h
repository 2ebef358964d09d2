// What a launch on the CPU device is told beside its parameters, and what it tells: the `run` of `kvk_cpu_*`. The
// launch has happened when it returns; streams are made of this elsewhere.
#ifndef KVK_RUN_H
#define KVK_RUN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Exact counts of one or more launches, added up.
typedef struct kvk_counters {
  uint64_t launches;
  uint64_t blocks;           // thread blocks
  uint64_t threads;
  uint64_t switches;         // from one fiber to another
  uint64_t barriers;         // arrivals of a thread at a barrier of its block
  uint64_t collectives;      // arrivals of a lane at an operation of its warp
  uint64_t loaded_bytes;     // from global memory, asynchronous copies included
  uint64_t stored_bytes;     // to global memory
  uint64_t matrix_loads;     // ldmatrix, a warp each
  uint64_t bank_conflicts;   // extra passes that those took over their 16-byte rows
  uint64_t matrix_products;  // mma, a warp each
  uint64_t shared_bytes;     // the most that a launch asked for: not added up
} kvk_counters;

// The order in which thread blocks, the warps of each and their threads run: 0 ascending, 1 descending, else random
// from `seed`.
typedef struct kvk_run {
  uint64_t seed;
  kvk_counters *counters;  // or NULL
  uint32_t order;
  uint32_t block;          // of an error: the thread block; else 0
  uint32_t thread;         // and the thread in it; of a deadlock, the first of those that wait
  uint32_t reserved;
} kvk_run;

// Errors of the CPU device: what a kernel did that would hang, corrupt or fault a GPU. The launch stops there.
#define KVK_CPU_DEADLOCK 0x4B560101u    // no thread can go on: a barrier or warp operation that not all reach
#define KVK_CPU_DIVERGED 0x4B560102u    // lanes of a warp have come for different operations
#define KVK_CPU_IN_FLIGHT 0x4B560103u   // a thread has ended before its asynchronous copies
#define KVK_CPU_MISALIGNED 0x4B560104u  // an address that the operation cannot have
#define KVK_CPU_OUTSIDE 0x4B560105u     // an operation on shared memory that is outside of the block's
#define KVK_CPU_SHAPE 0x4B560106u       // no blocks, no whole warps, over 1,024 threads or over 227 KiB shared
#define KVK_CPU_MEMORY 0x4B560107u      // no memory for stacks, shared memory or copies in flight

// What an error number of the CPU device means, in static English; NULL if it is none of its own.
const char *kvk_cpu_error(uint32_t error);

#ifdef __cplusplus
}
static_assert(sizeof(kvk_counters) == 96 && sizeof(kvk_run) == 32, "no hidden padding");
#endif

#endif
