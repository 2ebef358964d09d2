// The meeting of a warp: every operation of a whole warp is one.
#ifndef KVK_CPU_WARP_H
#define KVK_CPU_WARP_H

#include "block.h"

namespace kvk {
namespace cpu {

// Lanes that come for different ones of these have diverged.
enum Operation : uint32_t {
  kBarrierWarp,
  kShuffle,
  kShuffleXor,
  kBallot,
  kLoadMatrix,
  kLoadMatrixTransposed,
  kMultiplyF16,
  kMultiplyBf16,
};

// Waits until all lanes of the warp have come. The last of them does the work for all, from the operands of all, and
// goes on; then the others may.
template <class Work>
void meet(Operation operation, const void *in, void *out, const Work &work) {
  Block &block = block_of_self();
  Warp &warp = block.warp();
  block.counters.collectives++;
  if (warp.arrived == 0) {
    warp.operation = operation;
  } else if (warp.operation != operation) {
    block.stop(KVK_CPU_DIVERGED);
  }
  const uint32_t lane = self->lane();
  warp.operands[lane] = Operand{in, out};
  warp.arrived |= 1u << lane;
  if (warp.arrived != kAllLanes) return block.wait();
  work(block, warp);
  warp.arrived = 0;
  block.schedule().wake(self->warp(), ~(1u << lane));
}

}  // namespace cpu
}  // namespace kvk

#endif
