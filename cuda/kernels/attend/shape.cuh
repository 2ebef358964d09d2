// What is constant in one instance of attention, and the plan of its shared memory.
//
// A tile of rows meets the keys tile by tile, a tile of keys being in work while the next ones are on their way. All
// instances fit into the 99 KiB that the smallest targets grant.
#ifndef KVK_ATTEND_SHAPE_CUH
#define KVK_ATTEND_SHAPE_CUH

#include "../attend.h"
#include "../place.cuh"

namespace kvk {

// How a type of cache is stored and multiplied. Eight bits are unpacked to binary16, which holds each of them exactly;
// their tiles are half as large, so one more is kept on its way.
template <class Cache>
struct Stored {
  using Product = Cache;
  static constexpr int kBytes = 2;
  static constexpr int kStages = 2;
};
struct StoredByte {
  using Product = f16;
  static constexpr int kBytes = 1;
  static constexpr int kStages = 3;
};
template <>
struct Stored<e4m3> : StoredByte {};
template <>
struct Stored<e5m2> : StoredByte {};
template <>
struct Stored<int8> : StoredByte {};

// `Dim` is the head dimension rounded up to what there are instances for; elements beyond the real one are zeros.
template <class C, int Dim, unsigned Rows>
struct Shape {
  using Cache = C;
  using Product = typename Stored<C>::Product;
  static constexpr int kDim = Dim;
  static constexpr int kRows = Rows;
  static constexpr int kBytes = Stored<C>::kBytes;
  static constexpr int kStages = Stored<C>::kStages;
  static constexpr int kKeys = Dim <= 128 ? 64 : 32;
  // Few rows: warps share the keys of a tile, 16 each, and join at the end. Many: each has 16 rows and sees all keys.
  static constexpr bool kSharesKeys = Rows == KVK_DECODE_ROWS;
  static constexpr int kWarps = kSharesKeys ? kKeys / 16 : kRows / 16;
  static constexpr int kWarpKeys = kSharesKeys ? 16 : kKeys;
  static constexpr int kThreads = 32 * kWarps;
  // Places are known one tile ahead of the loads.
  static constexpr int kAhead = kStages + 1;
  // Four 16-bit rows of queries at 256 elements would not leave registers for the sums.
  static constexpr bool kKeepsQueries = Dim <= 128;
  static constexpr int kTileBytes = kKeys * Dim * kBytes;
  // Sums of the warps, one row apart in banks.
  static constexpr int kPitch = Dim + 8;

  struct Loaded {
    alignas(1024) unsigned char queries[kRows * Dim * 2];
    alignas(1024) unsigned char keys[kStages][kTileBytes];
    alignas(1024) unsigned char values[kStages][kTileBytes];
  };
  struct Shared {
    // Queries and tiles; when all keys are done, the sums of the warps: [kWarps * 16][kPitch].
    union {
      Loaded loaded;
      float sums[kWarps * 16 * kPitch];
    };
    int64_t elements[kAhead][kKeys];     // of each key of a tile; -1: it is not read
    uint32_t readable[kAhead][kKeys / 32];  // the same as bits
    float key_scale[kAhead][kBytes == 1 ? kKeys : 1];
    float value_scale[kAhead][kBytes == 1 ? kKeys : 1];
    int32_t position[kRows];  // place of each row's token in its sequence; -1: the tile has no such row
    float slope[kRows];
    float peak[kWarps * 16];
    float mass[kWarps * 16];
  };
  static_assert(sizeof(Shared) <= 99 * 1024, "fits on every target");
};

// 16-byte chunks of a row of 16-bit elements change places, so that eight rows of one column lie in different banks.
template <class S>
KVK_DEVICE int chunk_at(int row, int chunk) {
  return row * (S::kDim / 8) + (chunk ^ (row & 7));
}

// The same for rows of bytes, where one or one and a half rows are a line of all banks.
template <class S>
KVK_DEVICE int byte_chunk_at(int row, int chunk) {
  const int turn = S::kDim % 128 == 0 ? row & 7 : row >> 1 & 3;
  return row * (S::kDim / 16) + (chunk ^ turn);
}

KVK_DEVICE int lane_of() { return static_cast<int>(thread() & 31); }
KVK_DEVICE int warp_of() { return static_cast<int>(thread() >> 5); }

}  // namespace kvk

#endif
