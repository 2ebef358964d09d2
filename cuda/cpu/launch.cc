#include "launch.h"

#include <pthread.h>
#include <stdlib.h>

#include <new>

#include "block.h"

namespace kvk {
namespace cpu {

namespace {

// One for each OS thread that has launched: its memory and stacks are kept from launch to launch.
__thread Block *own_block;
pthread_key_t at_thread_exit;
pthread_once_t once = PTHREAD_ONCE_INIT;
bool have_key;

void free_own_block(void *memory) {
  own_block = nullptr;
  static_cast<Block *>(memory)->release();
  free(memory);
}

void make_key() { have_key = pthread_key_create(&at_thread_exit, free_own_block) == 0; }

// Null: there is no memory.
Block *block_of_thread() {
  if (own_block != nullptr) return own_block;
  pthread_once(&once, make_key);
  if (!have_key) return nullptr;
  void *memory = malloc(sizeof(Block));
  if (memory == nullptr) return nullptr;
  if (pthread_setspecific(at_thread_exit, memory) != 0) {
    free(memory);
    return nullptr;
  }
  return own_block = new (memory) Block();
}

bool possible(const Grid &grid) {
  return grid.blocks != 0 && grid.threads != 0 && grid.threads % kLanes == 0 && grid.threads <= kThreadsMax &&
         grid.shared_bytes <= kSharedMax;
}

Order order_of(const kvk_run &run) {
  return run.order < 2 ? static_cast<Order>(run.order) : Order::random;
}

// The thread blocks of a grid in the order in which they run.
class Walk {
 public:
  Walk(uint32_t blocks, Order order, Random &random) : blocks_(blocks) {
    if (order == Order::descending) first_ = step_ = blocks - 1;
    if (order != Order::random) return;
    first_ = random.next() % blocks;
    do {
      step_ = random.next() % blocks + 1;
    } while (!visits_all());
  }
  uint32_t block(uint32_t i) const { return static_cast<uint32_t>((first_ + i * step_) % blocks_); }

 private:
  // Steps around a circle of so many blocks come to each of them when the two have no common divisor.
  bool visits_all() const {
    uint64_t a = blocks_, b = step_;
    while (b != 0) {
      const uint64_t rest = a % b;
      a = b;
      b = rest;
    }
    return a == 1;
  }

  uint64_t blocks_;
  uint64_t first_ = 0;
  uint64_t step_ = 1;
};

void add(kvk_counters &sum, const kvk_counters &launch, uint64_t shared_bytes) {
  sum.launches++;
  sum.blocks += launch.blocks;
  sum.threads += launch.threads;
  sum.switches += launch.switches;
  sum.barriers += launch.barriers;
  sum.collectives += launch.collectives;
  sum.loaded_bytes += launch.loaded_bytes;
  sum.stored_bytes += launch.stored_bytes;
  sum.matrix_loads += launch.matrix_loads;
  sum.bank_conflicts += launch.bank_conflicts;
  sum.matrix_products += launch.matrix_products;
  if (sum.shared_bytes < shared_bytes) sum.shared_bytes = shared_bytes;
}

}  // namespace

uint32_t run_grid(const Grid &grid, void (*run)(const void *kernel), const void *kernel, void *kvk_run_or_null) {
  kvk_run ascending{};
  kvk_run &asked = kvk_run_or_null != nullptr ? *static_cast<kvk_run *>(kvk_run_or_null) : ascending;
  asked.block = asked.thread = 0;
  if (!possible(grid)) return KVK_CPU_SHAPE;
  Block *const block = block_of_thread();
  if (block == nullptr || !block->reserve(grid.threads, grid.shared_bytes)) return KVK_CPU_MEMORY;

  block->blocks = grid.blocks;
  block->counters = kvk_counters{};
  block->schedule().seed(order_of(asked), asked.seed);
  const Walk walk(grid.blocks, order_of(asked), block->schedule().random());
  uint32_t error = 0;
  for (uint32_t i = 0; i < grid.blocks && error == 0; i++) error = block->run(Body{run, kernel}, walk.block(i));
  block->order().join();
  if (error != 0) {
    asked.block = block->block;
    asked.thread = block->faulty_thread();
  }
  if (asked.counters != nullptr) add(*asked.counters, block->counters, grid.shared_bytes);
  return error;
}

}  // namespace cpu
}  // namespace kvk

extern "C" const char *kvk_cpu_error(uint32_t error) {
  switch (error) {
    case KVK_CPU_DEADLOCK:
      return "deadlock: no thread can go on, because a barrier or an operation of a warp is not reached by all";
    case KVK_CPU_DIVERGED:
      return "lanes of a warp have come for different operations";
    case KVK_CPU_IN_FLIGHT:
      return "a thread has ended before its asynchronous copies were waited for";
    case KVK_CPU_MISALIGNED:
      return "an address is not aligned to what is moved";
    case KVK_CPU_OUTSIDE:
      return "an operation on shared memory has an address outside of the block's";
    case KVK_CPU_SHAPE:
      return "no GPU grants a launch of this shape: no blocks, no whole warps, over 1,024 threads or over 227 KiB shared";
    case KVK_CPU_MEMORY:
      return "no memory for the stacks of threads, their shared memory or their copies";
    default:
      return nullptr;
  }
}
