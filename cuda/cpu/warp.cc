// Operations of a warp but for the product of matrices.
#include "warp.h"

#include <string.h>

#include "operations.h"

namespace kvk {
namespace cpu {

void barrier() { block_of_self().barrier(); }

void barrier_warp() {
  Block &block = block_of_self();
  const unsigned object = MemoryOrder::of_warp(self->warp(), block.warp().barriers);
  block.order().release(object);
  meet(kBarrierWarp, nullptr, nullptr, [](Block &, Warp &warp) { warp.barriers++; });
  block.order().acquire(object);
}

namespace {

struct Shuffled {
  uint64_t bits;
  unsigned from;  // which lane's bits are wanted
};

uint64_t shuffle_as(Operation operation, uint64_t bits, unsigned from) {
  const Shuffled in{bits, from % kLanes};
  uint64_t out;
  meet(operation, &in, &out, [](Block &, Warp &warp) {
    for (const Operand &lane : warp.operands) {
      const unsigned source = static_cast<const Shuffled *>(lane.in)->from;
      *static_cast<uint64_t *>(lane.out) = static_cast<const Shuffled *>(warp.operands[source].in)->bits;
    }
  });
  return out;
}

}  // namespace

uint64_t shuffle(uint64_t bits, unsigned lane) { return shuffle_as(kShuffle, bits, lane); }
uint64_t shuffle_xor(uint64_t bits, unsigned mask) { return shuffle_as(kShuffleXor, bits, self->lane() ^ mask); }

uint32_t ballot(bool value) {
  uint32_t out;
  meet(kBallot, &value, &out, [](Block &, Warp &warp) {
    uint32_t votes = 0;
    for (unsigned i = 0; i < kLanes; i++) votes |= uint32_t{*static_cast<const bool *>(warp.operands[i].in)} << i;
    for (const Operand &lane : warp.operands) *static_cast<uint32_t *>(lane.out) = votes;
  });
  return out;
}

namespace {

constexpr unsigned kMatrices = 4;
constexpr unsigned kRows = 8;  // of a matrix, and columns: 8x8 halves of 16 bytes a row
constexpr unsigned kRowBytes = 16;
constexpr unsigned kBankGroups = 8;  // of shared memory: 32 banks of 4 bytes, 4 of which serve a row

// Passes over the banks, beyond the one that there must be, to read the rows of one matrix: rows in the same banks go
// one after the other, but for those that are one and the same.
unsigned conflicts(const unsigned char *const (&rows)[kRows]) {
  unsigned groups = 0;
  for (const unsigned char *row : rows) groups |= 1u << reinterpret_cast<uintptr_t>(row) / kRowBytes % kBankGroups;
  if (groups == (1u << kBankGroups) - 1) return 0;
  unsigned most = 1;
  for (unsigned i = 0; i < kRows; i++) {
    unsigned passes = 1;
    for (unsigned j = 0; j < i; j++) {
      if (rows[j] == rows[i]) {
        passes = 0;  // read with it
        break;
      }
      const uintptr_t apart = reinterpret_cast<uintptr_t>(rows[j]) - reinterpret_cast<uintptr_t>(rows[i]);
      passes += apart / kRowBytes % kBankGroups == 0;
    }
    if (passes > most) most = passes;
  }
  return most - 1;
}

// Element (row, column) goes to lane row * 4 + column / 2, its lower or upper half by column % 2.
void spread(const unsigned char *const (&rows)[kRows], const Operand (&lanes)[kLanes], unsigned matrix, bool turned) {
  uint16_t in[kRows][kRows];
  for (unsigned row = 0; row < kRows; row++) memcpy(in[row], rows[row], kRowBytes);
  for (unsigned i = 0; i < kLanes; i++) {
    const unsigned row = i / 4, column = i % 4 * 2;
    const uint32_t low = turned ? in[column][row] : in[row][column];
    const uint32_t high = turned ? in[column + 1][row] : in[row][column + 1];
    static_cast<uint32_t *>(lanes[i].out)[matrix] = high << 16 | low;
  }
}

}  // namespace

void load_matrix(uint32_t *r, const void *row, bool transposed) {
  if (reinterpret_cast<uintptr_t>(row) % kRowBytes != 0) fault(KVK_CPU_MISALIGNED);
  if (!block_of_self().has_shared(row, kRowBytes)) fault(KVK_CPU_OUTSIDE);
  announce_read(row, kRowBytes);
  meet(transposed ? kLoadMatrixTransposed : kLoadMatrix, row, r, [transposed](Block &block, Warp &warp) {
    block.counters.matrix_loads++;
    for (unsigned matrix = 0; matrix < kMatrices; matrix++) {
      const unsigned char *rows[kRows];
      for (unsigned i = 0; i < kRows; i++) {
        rows[i] = static_cast<const unsigned char *>(warp.operands[matrix * kRows + i].in);
      }
      block.counters.bank_conflicts += conflicts(rows);
      spread(rows, warp.operands, matrix, transposed);
    }
  });
}

}  // namespace cpu
}  // namespace kvk
