// A CUDA thread as its own code sees it: all that the inlined operations of `device.h` read. Kernels and executor are
// compiled apart, the one possibly watched by ThreadSanitizer: only the executor writes here, but for the counters.
#ifndef KVK_CPU_THREAD_H
#define KVK_CPU_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include "../kernels/run.h"

namespace kvk {
namespace cpu {

constexpr unsigned kLanes = 32;
constexpr uint32_t kAllLanes = ~0u;
constexpr unsigned kWarpsMax = 32;
constexpr unsigned kThreadsMax = kLanes * kWarpsMax;
// What a thread block of sm_90 and sm_100 may ask for; no GPU grants more.
constexpr unsigned kSharedMax = 227 * 1024;
// Shared memory begins at a multiple of this.
constexpr unsigned kSharedAlignment = 1024;

// What the threads of a block have in common.
struct Place {
  uint32_t block;
  uint32_t blocks;
  uint32_t threads;
  uint32_t shared_bytes;
  unsigned char *shared;
  kvk_counters counters;
};

struct Thread {
  Place *place;
  uint32_t index;  // in its block

  uint32_t warp() const { return index / kLanes; }
  uint32_t lane() const { return index % kLanes; }
};

// The CUDA thread that runs on this OS thread; a launch never leaves its OS thread. The model is the fast one, which a
// library that is loaded late can have for so few bytes.
extern __thread Thread *self __attribute__((tls_model("initial-exec")));

// Ends the launch with one of KVK_CPU_*: no other thread of the block runs on.
[[noreturn]] void fault(uint32_t error);

// Counts from inside of a kernel. Relaxed atomics are plain memory to the machine, and no race to ThreadSanitizer.
inline void count(uint64_t &counter, uint64_t more) {
  __atomic_store_n(&counter, __atomic_load_n(&counter, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
}

}  // namespace cpu
}  // namespace kvk

#endif
