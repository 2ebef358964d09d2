// Heads that are moved by strips of a warp: each lane takes eight elements, and a warp as many heads as fit.
#ifndef KVK_STRIP_CUH
#define KVK_STRIP_CUH

#include "place.cuh"

namespace kvk {

constexpr unsigned kStripThreads = 256;

// Lanes for one head: its elements by eights, rounded up to a power of two so that shuffles stay within it.
inline unsigned strip_lanes(uint32_t head_dim) {
  unsigned lanes = 1;
  while (lanes * 8 < head_dim) lanes *= 2;
  return lanes;
}

// Heads that a launch moves; what is 32 bits is divided without a call.
constexpr uint64_t kHeadsMax = UINT32_MAX;

// Thread blocks for so many heads: enough to fill any GPU, the rest is walked.
inline unsigned strip_blocks(uint64_t heads, unsigned lanes) {
  constexpr uint64_t kBlocksMax = 8192;
  const uint64_t wanted = (heads * lanes + kStripThreads - 1) / kStripThreads;
  return static_cast<unsigned>(wanted < kBlocksMax ? wanted : kBlocksMax);
}

// How a thread walks the heads: it begins with `first`, and each round goes `step` further. Every lane of a warp makes
// as many rounds, so that they can work together; in the last one some have no head.
struct Walk {
  uint32_t first;
  uint32_t step;
  uint32_t rounds;
  int first_element;  // of the lane's eight
};

KVK_DEVICE Walk walk_of(uint32_t heads, unsigned lanes) {
  Walk walk;
  walk.first = (block() * kStripThreads + thread()) / lanes;
  walk.step = blocks() * kStripThreads / lanes;
  walk.rounds = heads / walk.step + (heads % walk.step != 0);
  walk.first_element = static_cast<int>(thread() % lanes) * 8;
  return walk;
}

// The eight elements of a lane.
struct Eight {
  float value[8];
};

KVK_DEVICE Eight widen(const lane &packed, uint32_t type) {
  Eight eight;
  KVK_UNROLL
  for (int i = 0; i < 4; ++i) {
    eight.value[i * 2] = type == KVK_F16 ? low<f16>(packed.word[i]) : low<bf16>(packed.word[i]);
    eight.value[i * 2 + 1] = type == KVK_F16 ? high<f16>(packed.word[i]) : high<bf16>(packed.word[i]);
  }
  return eight;
}

KVK_DEVICE lane narrow(const Eight &eight, uint32_t type) {
  lane packed;
  KVK_UNROLL
  for (int i = 0; i < 4; ++i)
    packed.word[i] = type == KVK_F16 ? pack<f16>(eight.value[i * 2], eight.value[i * 2 + 1])
                                     : pack<bf16>(eight.value[i * 2], eight.value[i * 2 + 1]);
  return packed;
}

}  // namespace kvk

#endif
