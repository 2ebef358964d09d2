// A thread block: its threads are fibers of one OS thread, each of which runs until it must wait for others.
#ifndef KVK_CPU_BLOCK_H
#define KVK_CPU_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "fiber.h"
#include "order.h"
#include "schedule.h"
#include "thread.h"

namespace kvk {
namespace cpu {

// An asynchronous copy of 16 bytes that has not landed.
struct Copy {
  unsigned char *shared;
  const unsigned char *global;  // null: zeros
  uint32_t group;
};

// Those of one thread, in the order of their issue; see async.cc.
struct Copies {
  Copy *list;
  uint32_t first;
  uint32_t end;
  uint32_t room;
  uint32_t group;  // that copies join now: the number of groups before it

  bool empty() const { return first == end; }
};

struct Fiber : Thread {
  Context context;
  Copies copies;
};

// What a lane brings to an operation of its warp, and where it wants the result: variables of its own, which stay where
// they are while it waits.
struct Operand {
  const void *in;
  void *out;
};

// Where the lanes of a warp meet; see warp.cc.
struct Warp {
  uint32_t arrived;    // which lanes
  uint32_t operation;  // that the first of them came for
  uint32_t barriers;   // of this warp, that are over
  Operand operands[kLanes];
};

// A kernel with its parameters.
struct Body {
  void (*run)(const void *kernel);
  const void *kernel;
};

class Block : public Place {
 public:
  // For blocks of so many threads and shared bytes, or false: there is no memory.
  bool reserve(unsigned threads, unsigned shared_bytes);
  // Gives all memory back but its own.
  void release();
  // Runs thread block number `block` to its end, or to the error that is returned, if it is not 0.
  uint32_t run(const Body &body, uint32_t block);
  uint32_t faulty_thread() const { return faulty_thread_; }
  Schedule &schedule() { return schedule_; }
  MemoryOrder &order() { return order_; }

  // In the name of the running thread:

  // Until all threads of the block are here.
  void barrier();
  // Lets others run until one of them has woken this one.
  void wait();
  Warp &warp() { return warps_[self->warp()]; }
  bool has_shared(const void *address, size_t bytes) const;
  // Ends the launch: nothing of the block runs any more.
  [[noreturn]] void stop(uint32_t error) { stop(error, self->index); }

 private:
  static void enter();
  [[noreturn]] void end_thread();
  [[noreturn]] void stop(uint32_t error, uint32_t thread);
  [[noreturn]] void leave();
  uint32_t first_that_waits() const;
  bool map_shared();
  void unmap_shared();
  bool begin(uint32_t block);
  bool forget_past();
  void watch();
  void end();

  Fiber fibers_[kThreadsMax];
  Warp warps_[kWarpsMax];
  Schedule schedule_;
  MemoryOrder order_;
  Stacks stacks_;
  Context launcher_;
  Body body_;
  uint32_t running_;  // threads that have not ended
  uint32_t at_barrier_;
  uint32_t barriers_;  // that are over
  uint32_t error_;
  uint32_t faulty_thread_;
};

inline Fiber &fiber_of_self() { return *static_cast<Fiber *>(self); }
inline Block &block_of_self() { return *static_cast<Block *>(self->place); }

}  // namespace cpu
}  // namespace kvk

#endif
