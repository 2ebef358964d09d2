// The product of matrices that a warp makes: d += a * b for 16x16 by 16x8, sums in binary32.
#include <string.h>

#include "operations.h"
#include "warp.h"

namespace kvk {
namespace cpu {

namespace {

constexpr unsigned kM = 16, kN = 8, kK = 16;
// Vectors of four are there on every machine that this runs on, and no compiler has to find the loops.
constexpr unsigned kVector = 4;
typedef float Floats __attribute__((vector_size(4 * kVector)));
typedef uint32_t Words __attribute__((vector_size(4 * kVector)));

struct Factors {
  const uint32_t *a;
  uint32_t b[2];
};

// Both factors of a warp and their product.
struct Tile {
  alignas(16) float a[kM][kK];
  alignas(16) float b[kK][kN];
  alignas(16) float d[kM][kN];
};

Words widen_bf16(Words bits) { return bits << 16; }

// The exponent moves by 112; that of infinities and NaN becomes full. Subnormals are read as the mantissa of a larger
// number, which is then taken away: that is exact, and meets no subnormal of binary32, which many machines are slow at.
Words widen_f16(Words bits) {
  const Words magnitude = (bits & 0x7FFF) << 13;
  const Words moved = magnitude + (112u << 23);
  const Words full = magnitude + (224u << 23);
  const Words tiny = (Words)((Floats)(magnitude + (113u << 23)) - 0x1p-14f);
  const Words finite = magnitude < (1u << 23) ? tiny : moved;
  return (bits & 0x8000) << 16 | (magnitude >= (31u << 23) ? full : finite);
}

// What lane i = 4g + t brings: of a, columns 2t and 2t + 1 of row g, of the row 8 below, and of both 8 columns on; of b,
// rows 2t and 2t + 1 of column g, and 8 rows on.
template <Words widen(Words)>
void collect(Tile &tile, const Warp &warp) {
  for (unsigned i = 0; i < kLanes; i++) {
    const Factors &in = *static_cast<const Factors *>(warp.operands[i].in);
    const unsigned g = i / 4, t = i % 4 * 2;
    Words pairs;
    memcpy(&pairs, in.a, sizeof pairs);
    const Floats left = (Floats)widen(pairs & 0xFFFF), right = (Floats)widen(pairs >> 16);
    for (unsigned j = 0; j < 4; j++) {
      float *const two = &tile.a[g + j % 2 * 8][t + j / 2 * 8];
      two[0] = left[j];
      two[1] = right[j];
    }
    const Words column{in.b[0] & 0xFFFF, in.b[0] >> 16, in.b[1] & 0xFFFF, in.b[1] >> 16};
    const Floats numbers = (Floats)widen(column);
    tile.b[t][g] = numbers[0];
    tile.b[t + 1][g] = numbers[1];
    tile.b[t + 8][g] = numbers[2];
    tile.b[t + 9][g] = numbers[3];
  }
}

void multiply(Tile &tile) {
  for (unsigned row = 0; row < kM; row++) {
    Floats left{}, right{};
    for (unsigned k = 0; k < kK; k++) {
      const Floats *const columns = reinterpret_cast<const Floats *>(tile.b[k]);
      left += tile.a[row][k] * columns[0];
      right += tile.a[row][k] * columns[1];
    }
    Floats *const sums = reinterpret_cast<Floats *>(tile.d[row]);
    sums[0] = left;
    sums[1] = right;
  }
}

// Lane 4g + t has columns 2t and 2t + 1 of row g, and of the row 8 below.
void add(const Tile &tile, const Warp &warp) {
  for (unsigned i = 0; i < kLanes; i++) {
    float *const d = static_cast<float *>(warp.operands[i].out);
    const unsigned g = i / 4, t = i % 4 * 2;
    d[0] += tile.d[g][t];
    d[1] += tile.d[g][t + 1];
    d[2] += tile.d[g + 8][t];
    d[3] += tile.d[g + 8][t + 1];
  }
}

template <Words widen(Words)>
void multiply_as(Operation operation, float *d, const uint32_t *a, uint32_t b0, uint32_t b1) {
  const Factors in{a, {b0, b1}};
  meet(operation, &in, d, [](Block &block, Warp &warp) {
    block.counters.matrix_products++;
    Tile tile;
    collect<widen>(tile, warp);
    multiply(tile);
    add(tile, warp);
  });
}

}  // namespace

void multiply_f16(float *d, const uint32_t *a, uint32_t b0, uint32_t b1) {
  multiply_as<widen_f16>(kMultiplyF16, d, a, b0, b1);
}
void multiply_bf16(float *d, const uint32_t *a, uint32_t b0, uint32_t b1) {
  multiply_as<widen_bf16>(kMultiplyBf16, d, a, b0, b1);
}

}  // namespace cpu
}  // namespace kvk
