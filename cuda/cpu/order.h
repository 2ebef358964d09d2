// What orders memory between the threads of a launch, for ThreadSanitizer: barriers, the launch and its end; nothing
// else. Each CUDA thread of each block is a fiber of its own to it, so that blocks are as unordered as on a GPU although
// they run one after the other. Does nothing in a program without ThreadSanitizer.
#ifndef KVK_CPU_ORDER_H
#define KVK_CPU_ORDER_H

#include <stdint.h>

#include "fiber.h"
#include "thread.h"

namespace kvk {
namespace cpu {

class MemoryOrder {
 public:
  // Barrier number `round` of the block, or of one of its warps, as an object. There are two of each: with one alone, a
  // thread that is slow to leave would be ordered after what others did since.
  static unsigned of_block(uint32_t round) { return round & 1; }
  static unsigned of_warp(unsigned warp, uint32_t round) { return 2 + 2 * warp + (round & 1); }

  // A block begins: after all that its launcher has done, and unordered with the blocks before. False: no memory.
  bool begin();
  void *launcher() const { return launcher_; }
  void begin(Context &fiber) const;
  // Every fiber of the block, whether it has ended or was left.
  void end(Context &fiber);
  void end();
  // The launch ends: after all that its blocks have done.
  void join() {
    if (races_watched()) __tsan_acquire(&joined_);
  }

  // What the running thread did before is seen by those that acquire the object after this.
  void release(unsigned object) const {
    if (races_watched()) __tsan_release(&objects_[object]);
  }
  void acquire(unsigned object) const {
    if (races_watched()) __tsan_acquire(&objects_[object]);
  }

 private:
  uint64_t *objects_ = nullptr;
  uint64_t joined_ = 0;
  void *launcher_ = nullptr;
};

}  // namespace cpu
}  // namespace kvk

#endif
