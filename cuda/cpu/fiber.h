// Fibers: stacks and the switch between them. A CUDA thread is one.
#ifndef KVK_CPU_FIBER_H
#define KVK_CPU_FIBER_H

#include <stddef.h>
#include <stdint.h>

#include "sanitizer.h"

// Puts the registers that a call keeps on the stack, the stack pointer into `*save`, and goes on where `load` was left.
extern "C" void kvk_cpu_switch(void **save, void *load);

namespace kvk {
namespace cpu {

// Where a fiber, or the code that launched, goes on; and how sanitizers know it.
struct Context {
  void *stack_pointer;
  const void *stack;  // its lowest byte
  size_t stack_bytes;
  void *race_fiber;
  void *fake_stack;
  bool ended;  // nobody comes back to it
};

// Stacks of equal size, each above a page that must not be touched; kept from launch to launch.
class Stacks {
 public:
  // Has `count` of them, or says that there is no memory. Those that it had before may be gone.
  bool reserve(unsigned count);
  void release();
  // Forgets what functions that never returned have said to AddressSanitizer of their frames.
  void clean() const;
  // Makes `context` a fiber that begins with `entry`, on stack number i. It must never return.
  void prepare(Context &context, unsigned i, void (*entry)()) const;

 private:
  unsigned char *memory_ = nullptr;
  size_t stride_ = 0;
  unsigned count_ = 0;
};

// To be called first by a fiber that runs for the first time. `launcher` learns its own stack here: the first fiber of
// a block was come to from there.
inline void arrive(Context &launcher) {
  if (!addresses_watched()) return;
  const void *stack;
  size_t bytes;
  __sanitizer_finish_switch_fiber(nullptr, &stack, &bytes);
  if (launcher.stack_bytes != 0) return;
  launcher.stack = stack;
  launcher.stack_bytes = bytes;
}

// Leaves `from`, which is the running one, for `to`; returns when somebody comes back.
inline void go(Context &from, Context &to) {
  if (races_watched()) __tsan_switch_to_fiber(to.race_fiber, kSwitchWithoutOrder);
  if (addresses_watched()) {
    __sanitizer_start_switch_fiber(from.ended ? nullptr : &from.fake_stack, to.stack, to.stack_bytes);
  }
  kvk_cpu_switch(&from.stack_pointer, to.stack_pointer);
  if (addresses_watched()) __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
}

}  // namespace cpu
}  // namespace kvk

#endif
