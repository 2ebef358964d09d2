/* kvledger's devices and kernels: memory, streams, copies, and attention over the rows that the ledger keeps. One face
 * for a GPU and for the CPU device, which runs the same kernel source on threads, so that an engine is tested without a
 * GPU.
 *
 *   kvl_device_open_any                               a GPU if there is one, else the CPU device
 *   kvl_device_allocate, kvl_device_write             memory of the device, in which the pool's blocks are
 *   kvl_device_append, kvl_device_attend              enqueued in a stream; kvl_split_plan says how work is cut
 *   kvl_device_record_event, kvl_device_query_event   events: when one is over, kvl_complete the epoch of that step
 *
 * Conventions:
 *
 *   Status    Every function returns one: KVL_DEVICE_OK, or why nothing was done. `error`, if it is not NULL, is
 *             written on failure only, and says in words what is wrong and how to mend it.
 *   Outputs   come last but for `error` (and `to` of kvl_device_read), and are written on success only. One over
 *             `error` is answered KVL_DEVICE_ARGUMENT, as a misaligned `error` is: by the status alone.
 *   Sizes     A struct with `size` as its first field can grow, and is made by KVL_SIZED(type): as in kvledger.h. The
 *             parameters of kernels, kvk_*_params, may change with any version: compile with the headers of the
 *             library.
 *   Handles   are structs with one number. One that was closed, or never opened, is answered KVL_DEVICE_HANDLE.
 *   Addresses are the device's, 0 is none. On the CPU device too, the host faults when it follows one of device memory.
 *   Threads   Every function may be called from any thread. None may be called from a signal handler: there are locks;
 *             nor by a child of fork, which has not the threads of its parent, before it has become another program.
 *   Work      is enqueued and done later, in the order of its stream. Work that fails loses the device: calls are
 *             answered KVL_DEVICE_LOST from then on, and it is closed and opened anew; kvl_abandon tells the ledger.
 *             With CUDA most such failures are of the whole process: only starting it again helps.
 *   Results   are all that a function answers besides KVL_DEVICE_OK and KVL_DEVICE_ARGUMENT for a pointer (NULL or
 *             misaligned) or the size of a struct. _NAME is one more KVL_DEVICE_. Words in capitals are
 *             these sets:
 *
 *     ALIVE     KVL_DEVICE_HANDLE: the device is closed, or the stream or event is closed or another device's.
 *               KVL_DEVICE_LOST: see Work. KVL_DEVICE_NUMBER: what CUDA says that has no number here; on the CPU
 *               device, the system starts no more threads.
 *     WITHIN    Of addresses. KVL_DEVICE_FOREIGN: in no allocation of the device. KVL_DEVICE_RANGE: less than `bytes`
 *               to its end.
 *     LAUNCH    Of kernels. KVL_DEVICE_REFUSED: parameters that none can be given; `text` names the field.
 *               KVL_DEVICE_INJECTED: as `fail_enqueue` of the CPU device asks, like that of copies.
 *
 * Cost: handles and addresses are looked up, in O(log n) of those that are open, and the driver is asked. Nothing waits
 * for work but what says that it waits; on a CPU device of `at_once` work is done within the call that enqueues it.
 *
 * On a GPU a stream is a cudaStream_t as a number, and an event a cudaEvent_t: kvl_device_adopt_stream takes a stream
 * of the caller's own. */
#ifndef KVLEDGER_CUDA_H
#define KVLEDGER_CUDA_H

#define KVK_STRUCTURES_ONLY
#include "kvledger/kernels/append.h"
#include "kvledger/kernels/attend.h"
#include "kvledger/kernels/blocks.h"
#include "kvledger/kernels/gather.h"
#undef KVK_STRUCTURES_ONLY

#include "kvledger/sized.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t kvl_device_status;

enum {
  KVL_DEVICE_OK = 0,
  KVL_DEVICE_NOT_BUILT = 1,  /* this library has no kernels for CUDA, or none for this GPU */
  KVL_DEVICE_NO_DRIVER = 2,  /* or one that is too old */
  KVL_DEVICE_NO_DEVICE = 3,  /* no GPU of this number */
  KVL_DEVICE_MEMORY = 4,     /* there is not so much */
  KVL_DEVICE_RANGE = 5,      /* beyond the end of an allocation */
  KVL_DEVICE_FOREIGN = 6,    /* an address in no allocation of this device */
  KVL_DEVICE_ELSEWHERE = 7,  /* pinned memory where device memory is wanted, or the other way round */
  KVL_DEVICE_HANDLE = 8,     /* a device, stream or event that is closed or another's */
  KVL_DEVICE_REFUSED = 9,    /* parameters that no kernel can be given: `text` names the field */
  KVL_DEVICE_INJECTED = 10,  /* a failure that was asked for: the next try may succeed */
  KVL_DEVICE_LOST = 11,      /* work that was enqueued before has failed */
  KVL_DEVICE_NUMBER = 12,    /* the device's own: `number` */
  KVL_DEVICE_ARGUMENT = 13,  /* NULL, misaligned, or a number that means nothing: `text` names the argument */
  KVL_DEVICE_OVERLAP = 14    /* a copy between ranges that share bytes */
};

typedef struct kvl_device_error {
  kvl_device_status status;
  uint32_t number; /* KVL_DEVICE_NUMBER, KVL_DEVICE_LOST: the device's own */
  char text[240];  /* ends with a NUL */
} kvl_device_error;

/* Handles. One of zeros is none. */
typedef struct kvl_device {
  uint64_t id;
} kvl_device;

typedef struct kvl_device_stream {
  uint64_t id;
} kvl_device_stream;

typedef struct kvl_device_event {
  uint64_t id;
} kvl_device_event;

typedef uint64_t kvl_device_address; /* 0 is none */

enum { KVL_SPACE_DEVICE = 0, KVL_SPACE_PINNED = 1 };

/* Of the threads of a thread block, on the CPU device. */
enum { KVL_ORDER_ASCENDING = 0, KVL_ORDER_DESCENDING = 1, KVL_ORDER_RANDOM = 2 };

/* How the CPU device behaves. Zeros: a thread a stream, without pauses, threads of a block in ascending order. */
typedef struct kvl_cpu_options {
  size_t size;              /* KVL_SIZED */
  uint64_t seed;            /* of pauses, of random orders, and of what goes wrong */
  uint32_t at_once;         /* not 0: work is done by the calling thread before the call returns */
  uint32_t order;           /* KVL_ORDER_ */
  uint32_t pause_one_in;    /* a pause before one operation of so many; 0: never */
  uint32_t pause_most_us;   /* the longest, in microseconds */
  uint32_t fail_allocate;   /* chances in 65,536 that an allocation, an enqueueing, */
  uint32_t fail_enqueue;
  uint32_t fail_work;       /* or work that is done fails: the last one loses the device */
  uint32_t reserved;        /* 0 */
} kvl_cpu_options;

typedef struct kvl_device_facts {
  size_t size;             /* KVL_SIZED */
  char name[64];           /* ends with a NUL */
  uint64_t memory_bytes;   /* 0: no end of its own */
  uint32_t compute;        /* 90 for 9.0; 0: the CPU device */
  uint32_t multiprocessors;
  uint32_t shared_bytes;   /* most of one thread block */
  uint32_t reserved;
} kvl_device_facts;

/* ---- Devices --------------------------------------------------------------------------------------------------- */

/* The CPU device, a new one, which shares nothing with others. `options` may be NULL: zeros.
 * Results: KVL_DEVICE_ARGUMENT too for an order that is none, a chance of 65,536 or more, or a `reserved` that is not
 * 0. */
kvl_device_status kvl_device_open_cpu(const kvl_cpu_options *options, kvl_device *device, kvl_device_error *error);
/* GPU number `number`, from 0. Results: KVL_DEVICE_NOT_BUILT, _NO_DRIVER, _NO_DEVICE, _NUMBER. */
kvl_device_status kvl_device_open_cuda(uint32_t number, kvl_device *device, kvl_device_error *error);
/* GPU 0 if it is there and this library has kernels for it, else the CPU device as options of zeros make it.
 * Results: KVL_DEVICE_NUMBER, of a GPU that is there and fails. */
kvl_device_status kvl_device_open_any(kvl_device *device, kvl_device_error *error);
/* Ends it when work that is enqueued is done, for which it waits: on a GPU for all work of the device, streams of
 * others included. Its memory, streams and events go with it. (While a call of another thread is under way, that one
 * ends it.)
 * Results: KVL_DEVICE_HANDLE. */
kvl_device_status kvl_device_close(kvl_device device, kvl_device_error *error);
/* What it is; of a device that is lost, too. Results: KVL_DEVICE_HANDLE. */
kvl_device_status kvl_device_get_facts(kvl_device device, kvl_device_facts *facts, kvl_device_error *error);
/* KVL_DEVICE_OK while it is not lost, as far as is known: on a GPU some call has to have been told.
 * Results: KVL_DEVICE_HANDLE, _LOST. */
kvl_device_status kvl_device_check(kvl_device device, kvl_device_error *error);

/* ---- Memory, streams, events ------------------------------------------------------------------------------------ */

/* `bytes` in `space`, aligned to 16 bytes, contents undefined (on the CPU device NaN). Of 0 bytes is an address, too.
 * Results: ALIVE; KVL_DEVICE_MEMORY, also as `fail_allocate` asks; KVL_DEVICE_ARGUMENT too for a space that is
 * neither. */
kvl_device_status kvl_device_allocate(kvl_device device, uint32_t space, size_t bytes, kvl_device_address *address,
                                      kvl_device_error *error);
/* Gives it back; work that was enqueued before may still use it. 0 does nothing. On a GPU it waits for all work of the
 * device, streams of others included, and must not be called while a stream is being captured.
 * Results: KVL_DEVICE_HANDLE; _FOREIGN for what no allocation begins with. */
kvl_device_status kvl_device_free(kvl_device device, kvl_device_address address, kvl_device_error *error);
/* Pinned memory as the host sees it. Results: KVL_DEVICE_HANDLE, _FOREIGN; _ELSEWHERE for device memory. */
kvl_device_status kvl_device_host_pointer(kvl_device device, kvl_device_address address, void **host,
                                          kvl_device_error *error);

/* A new queue of work. On a GPU it does not wait for the default stream. Results: ALIVE. */
kvl_device_status kvl_device_open_stream(kvl_device device, kvl_device_stream *stream, kvl_device_error *error);
/* Takes a stream that was opened elsewhere: a cudaStream_t of yours, as a number, of this GPU, until it is closed here,
 * which leaves it as it is.
 * Results: ALIVE; KVL_DEVICE_HANDLE too for the default streams, and on the CPU device. */
kvl_device_status kvl_device_adopt_stream(kvl_device device, kvl_device_stream stream, kvl_device_error *error);
/* Ends a stream when its work is done. On the CPU device it waits for that. Results: KVL_DEVICE_HANDLE. */
kvl_device_status kvl_device_close_stream(kvl_device device, kvl_device_stream stream, kvl_device_error *error);
/* Waits until its work is done: cudaStreamSynchronize. Results: ALIVE. */
kvl_device_status kvl_device_synchronize_stream(kvl_device device, kvl_device_stream stream, kvl_device_error *error);

/* An event without a mark yet. Results: ALIVE. */
kvl_device_status kvl_device_open_event(kvl_device device, kvl_device_event *event, kvl_device_error *error);
/* Gives an event back. Streams that wait for it still do. Results: KVL_DEVICE_HANDLE. */
kvl_device_status kvl_device_close_event(kvl_device device, kvl_device_event event, kvl_device_error *error);
/* Enqueues a mark, which is over when all that the stream has now is done. A newer one takes its place.
 * Results: ALIVE. */
kvl_device_status kvl_device_record_event(kvl_device device, kvl_device_event event, kvl_device_stream stream,
                                          kvl_device_error *error);
/* `over`: 1 if the newest mark is over or there is none, else 0. cudaEventQuery. Results: ALIVE. */
kvl_device_status kvl_device_query_event(kvl_device device, kvl_device_event event, uint32_t *over,
                                         kvl_device_error *error);
/* Waits until it is over: cudaEventSynchronize. Results: ALIVE. */
kvl_device_status kvl_device_synchronize_event(kvl_device device, kvl_device_event event, kvl_device_error *error);
/* What is enqueued in `stream` from now on begins when the newest mark of `event` is over: cudaStreamWaitEvent.
 * Results: ALIVE. */
kvl_device_status kvl_device_wait_event(kvl_device device, kvl_device_stream stream, kvl_device_event event,
                                        kvl_device_error *error);

/* Enqueues a copy of `bytes` between allocations of the device, pinned or not.
 * Results: ALIVE, WITHIN; KVL_DEVICE_OVERLAP if the two share bytes; KVL_DEVICE_INJECTED. */
kvl_device_status kvl_device_copy(kvl_device device, kvl_device_stream stream, kvl_device_address to,
                                  kvl_device_address from, size_t bytes, kvl_device_error *error);
/* Enqueues that each of `bytes` becomes `value`.
 * Results: ALIVE, WITHIN; KVL_DEVICE_ARGUMENT too for a value above 255; KVL_DEVICE_INJECTED. */
kvl_device_status kvl_device_set(kvl_device device, kvl_device_stream stream, kvl_device_address to, uint32_t value,
                                 size_t bytes, kvl_device_error *error);
/* Waits for the stream, and copies `bytes` from memory of the host, which may be NULL for none.
 * Results: ALIVE, WITHIN; KVL_DEVICE_OVERLAP if that is pinned memory and shares bytes with what is written;
 * KVL_DEVICE_ARGUMENT too for more bytes than half of the address space. */
kvl_device_status kvl_device_write(kvl_device device, kvl_device_stream stream, kvl_device_address to, const void *from,
                                   size_t bytes, kvl_device_error *error);
/* The same to memory of the host. After KVL_DEVICE_LOST and KVL_DEVICE_NUMBER what is there means nothing.
 * Results: ALIVE, WITHIN; KVL_DEVICE_OVERLAP, _ARGUMENT as above. */
kvl_device_status kvl_device_read(kvl_device device, kvl_device_stream stream, void *to, kvl_device_address from,
                                  size_t bytes, kvl_device_error *error);

/* ---- Kernels --------------------------------------------------------------------------------------------------- *
 *
 * Each enqueues one, with the parameters of its header in kvledger/kernels: pointers there are addresses of the device.
 * Parameters are checked. What is in device memory is not: kernels with a kvk_status leave block ids and slots that are
 * wrong, and report them. Lists of block ids of those without one (copy_blocks, fill, checksum) are followed wherever
 * they lead, and so are the plan of attend and merge, which must be one of these parameters and this batch
 * (kvl_split_read looks at it before it is copied there), the ranges of gather, and the rows of a table.
 * On a GPU a pointer to memory that was not allocated here is taken as it is; it stays until the work is done. */

/* An address as a pointer of a kernel's parameters. */
#ifdef __cplusplus
#define KVL_POINTER(type, address) reinterpret_cast<type *>(static_cast<uintptr_t>(address))
#else
#define KVL_POINTER(type, address) ((type *)(uintptr_t)(address))
#endif

/* What the host knows of a batch and the parameters do not say. */
typedef struct kvl_attend_sizes {
  size_t size;           /* KVL_SIZED */
  uint32_t table_rows;   /* in memory */
  uint32_t longest;      /* keys of the longest sequence */
  uint32_t query_tokens; /* of all sequences */
  uint32_t items;        /* room in the plan for items, joins and parts */
  uint32_t joins;
  uint32_t parts;
} kvl_attend_sizes;

/* Keys and values of new tokens into their blocks: append.h. Results: ALIVE, LAUNCH. */
kvl_device_status kvl_device_append(kvl_device device, kvl_device_stream stream, const kvk_append_params *params,
                                    kvl_device_error *error);
/* Attention of a batch through a plan: attend.h. Parts that the plan has cut are left for kvl_device_merge.
 * Results: ALIVE, LAUNCH. */
kvl_device_status kvl_device_attend(kvl_device device, kvl_device_stream stream, const kvk_attend_params *params,
                                    const kvl_attend_sizes *sizes, kvl_device_error *error);
/* Joins them: after kvl_device_attend, with the same arguments. Results: ALIVE, LAUNCH. */
kvl_device_status kvl_device_merge(kvl_device device, kvl_device_stream stream, const kvk_attend_params *params,
                                   const kvl_attend_sizes *sizes, kvl_device_error *error);
/* Joins two results of attention: attend.h. Results: ALIVE, LAUNCH. */
kvl_device_status kvl_device_merge_two(kvl_device device, kvl_device_stream stream, const kvk_merge_two_params *params,
                                       kvl_device_error *error);
/* Blocks to blocks, of one pool or of two: blocks.h. `source_blocks`, `destination_blocks`: the usable blocks of the
 * pools.
 * Results: ALIVE, LAUNCH. */
kvl_device_status kvl_device_copy_blocks(kvl_device device, kvl_device_stream stream, const kvk_copy_params *params,
                                         uint32_t source_blocks, uint32_t destination_blocks, kvl_device_error *error);
/* Blocks that become one pattern: blocks.h. `blocks`: the usable blocks of the pool. Results: ALIVE, LAUNCH. */
kvl_device_status kvl_device_fill(kvl_device device, kvl_device_stream stream, const kvk_fill_params *params,
                                  uint32_t blocks, kvl_device_error *error);
/* Sums of blocks: blocks.h. `blocks`: the usable blocks of the pool. Results: ALIVE, LAUNCH. */
kvl_device_status kvl_device_checksum(kvl_device device, kvl_device_stream stream, const kvk_checksum_params *params,
                                      uint32_t blocks, kvl_device_error *error);
/* Block ids of a table become others: blocks.h. Results: ALIVE, LAUNCH. */
kvl_device_status kvl_device_rewrite(kvl_device device, kvl_device_stream stream, const kvk_rewrite_params *params,
                                     kvl_device_error *error);
/* Keys and values out of their blocks: gather.h. `table_rows`: in memory. `longest`: where the keys that are wanted
 * end, of the sequence where that is highest.
 * Results: ALIVE, LAUNCH. */
kvl_device_status kvl_device_gather(kvl_device device, kvl_device_stream stream, const kvk_gather_params *params,
                                    uint32_t table_rows, uint32_t longest, kvl_device_error *error);

#ifdef __cplusplus
}
#endif
#endif
