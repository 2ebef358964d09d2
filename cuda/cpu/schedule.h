// Which thread of a block runs next. A thread runs until it must wait, a warp until none of its threads can run: so one
// warp is as far ahead of another as barriers let it, which is what a missing barrier does not survive. Who comes last to
// where others wait goes on; that saves a switch.
#ifndef KVK_CPU_SCHEDULE_H
#define KVK_CPU_SCHEDULE_H

#include <stdint.h>

#include "thread.h"

namespace kvk {
namespace cpu {

// 64 bits that look random: xorshift, for tests only.
class Random {
 public:
  // Any seed will do, 0 too.
  void seed(uint64_t seed) { state_ = (seed ^ 0x9E3779B97F4A7C15u) * 0xD1342543DE82EF95u | 1; }
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  uint64_t state_ = 1;
};

// The orders that `kvk_run` may ask for.
enum class Order : uint32_t { ascending, descending, random };

class Schedule {
 public:
  void seed(Order order, uint64_t seed) {
    order_ = order;
    random_.seed(seed);
  }
  Random &random() { return random_; }

  // All of a block can run, before its first thread does.
  void fill(unsigned threads) {
    warps_ = 0;
    for (unsigned warp = 0; warp < kWarpsMax; warp++) lanes_[warp] = 0;
    for (unsigned warp = 0; warp < threads / kLanes; warp++) wake(warp, kAllLanes);
    warp_ = pick(warps_);
  }
  // These lanes of a warp, at least one, can run again.
  void wake(unsigned warp, uint32_t lanes) {
    lanes_[warp] |= lanes;
    warps_ |= 1u << warp;
  }

  bool empty() const { return warps_ == 0; }
  // Takes the next thread. There must be one.
  __attribute__((always_inline)) unsigned take() {
    if (!(warps_ >> warp_ & 1) || (order_ == Order::random && leaves())) warp_ = pick(warps_);
    const unsigned thread = warp_ * kLanes + pick(lanes_[warp_]);
    remove(thread);
    return thread;
  }

  // This one runs: it is not to be taken.
  void remove(unsigned thread) {
    uint32_t &lanes = lanes_[thread / kLanes];
    lanes &= ~(1u << thread % kLanes);
    if (lanes == 0) warps_ &= ~(1u << thread / kLanes);
  }

 private:
  // A random order now and then leaves a warp that could go on.
  bool leaves() { return random_.next() % 64 == 0; }

  // One of the bits that are set; there must be one.
  unsigned pick(uint32_t set) {
    if (order_ == Order::ascending) return static_cast<unsigned>(__builtin_ctz(set));
    if (order_ == Order::descending) return 31u - static_cast<unsigned>(__builtin_clz(set));
    const unsigned turn = random_.next() >> 32 & 31;
    const uint32_t turned = set >> turn | set << ((32 - turn) & 31);
    return (static_cast<unsigned>(__builtin_ctz(turned)) + turn) & 31;
  }

  Order order_ = Order::ascending;
  Random random_;
  uint32_t warps_ = 0;             // that have a thread that can run
  uint32_t lanes_[kWarpsMax] = {};  // that can run, of each
  unsigned warp_ = 0;              // the one that runs
};

}  // namespace cpu
}  // namespace kvk

#endif
