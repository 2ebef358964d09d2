// What lanes of a warp do together, against plain loops.
#include <math.h>
#include <string.h>

#include "check.h"

namespace {

constexpr uint32_t kThreads = 96, kLanes = 32;

template <class T>
struct Shuffles {
  T *from_lane;
  T *from_xor;
  uint32_t *votes;
};

template <class T>
T value_of(uint32_t thread) {
  return static_cast<T>(thread * 3) / 2 - 7;
}
// Some other lane for each, and the same for several.
KVK_DEVICE uint32_t source_of(uint32_t thread) { return thread * 7 % 29; }
KVK_DEVICE bool vote_of(uint32_t thread) { return thread % 5 == 0 || thread == 95; }

template <class T>
KVK_KERNEL(kThreads) void shuffles(Shuffles<T> p) {
  const uint32_t thread = kvk::thread();
  p.from_lane[thread] = kvk::shuffle(value_of<T>(thread), source_of(thread));
  p.from_xor[thread] = kvk::shuffle_xor(value_of<T>(thread), 21);
  p.votes[thread] = kvk::ballot(vote_of(thread));
}

template <class T>
void shuffles_are_exact(const Schedule &schedule) {
  static T from_lane[kThreads], from_xor[kThreads];
  static uint32_t votes[kThreads];
  kvk_run run = run_of(schedule);
  const Shuffles<T> p{from_lane, from_xor, votes};
  CHECK_EQUAL(KVK_LAUNCH(shuffles<T>, 1, kThreads, 0, &run, p), 0);
  for (uint32_t thread = 0; thread < kThreads; thread++) {
    const uint32_t first = thread / kLanes * kLanes;
    CHECK(from_lane[thread] == value_of<T>(first + source_of(thread)));
    CHECK(from_xor[thread] == value_of<T>(thread ^ 21));
    uint32_t wanted = 0;
    for (uint32_t lane = 0; lane < kLanes; lane++) wanted |= uint32_t{vote_of(first + lane)} << lane;
    CHECK_EQUAL(votes[thread], wanted);
  }
}

// Rows of 16 bytes, 8 to a matrix of a tile whose rows are `pitch` lanes apart and whose lanes are turned by `turn`.
struct Matrices {
  uint32_t *r;  // [2][32][4]
  uint32_t pitch;
  bool swizzled;
};

KVK_DEVICE uint32_t lane_at(const Matrices &p, uint32_t row, uint32_t column) {
  return row * p.pitch + (p.swizzled ? column ^ row % 8 : column);
}
uint16_t element(uint32_t row, uint32_t column) { return static_cast<uint16_t>(row * 64 + column); }

KVK_KERNEL(kLanes) void matrices(Matrices p) {
  KVK_SHARED(uint16_t, tile);
  const uint32_t lane = kvk::thread();
  for (uint32_t i = lane; i < 32 * 64; i += kLanes) {
    const uint32_t row = i / 64, column = i % 64;
    tile[lane_at(p, row, column / 8) * 8 + column % 8] = element(row, column);
  }
  kvk::barrier();
  // Matrix m is rows 8m..8m + 8, columns 24..32.
  uint32_t r[4];
  kvk::load_matrix(r, &tile[lane_at(p, lane, 3) * 8]);
  memcpy(p.r + lane * 4, r, sizeof r);
  kvk::load_matrix_transposed(r, &tile[lane_at(p, lane, 3) * 8]);
  memcpy(p.r + (kLanes + lane) * 4, r, sizeof r);
}

void matrices_are_exact(const Schedule &schedule, bool swizzled, uint64_t conflicts) {
  static uint32_t r[2][kLanes][4];
  kvk_counters counters{};
  kvk_run run = run_of(schedule, &counters);
  CHECK_EQUAL(KVK_LAUNCH(matrices, 1, kLanes, 32 * 64 * 2, &run, (Matrices{r[0][0], 8, swizzled})), 0);
  for (uint32_t lane = 0; lane < kLanes; lane++) {
    for (uint32_t matrix = 0; matrix < 4; matrix++) {
      const uint32_t row = matrix * 8 + lane / 4, column = 24 + lane % 4 * 2;
      CHECK_EQUAL(r[0][lane][matrix], element(row, column) | static_cast<uint32_t>(element(row, column + 1)) << 16);
      const uint32_t across = matrix * 8 + lane % 4 * 2, along = 24 + lane / 4;
      CHECK_EQUAL(r[1][lane][matrix], element(across, along) | static_cast<uint32_t>(element(across + 1, along)) << 16);
    }
  }
  CHECK_EQUAL(counters.matrix_loads, 2);
  CHECK_EQUAL(counters.bank_conflicts, 2 * 4 * conflicts);
}

struct Rows {
  const uint32_t *lanes;  // [32] which 16 bytes of shared memory
};
KVK_KERNEL(kLanes) void rows(Rows p) {
  KVK_SHARED(kvk::lane, shared);
  uint32_t r[4];
  kvk::load_matrix(r, &shared[p.lanes[kvk::thread()]]);
}

uint64_t conflicts_of(const uint32_t (&eight)[8]) {
  uint32_t lanes[kLanes];
  for (uint32_t i = 0; i < kLanes; i++) lanes[i] = i < 8 ? eight[i] : i % 8;
  kvk_counters counters{};
  kvk_run run = run_of(kSchedules[0], &counters);
  CHECK_EQUAL(KVK_LAUNCH(rows, 1, kLanes, 1024 * 16, &run, Rows{lanes}), 0);
  return counters.bank_conflicts;
}

void conflicts_are_passes() {
  CHECK_EQUAL(conflicts_of({0, 1, 2, 3, 4, 5, 6, 7}), 0);
  CHECK_EQUAL(conflicts_of({7, 14, 21, 28, 35, 42, 49, 56}), 0);
  CHECK_EQUAL(conflicts_of({0, 8, 16, 24, 32, 40, 48, 56}), 7);
  CHECK_EQUAL(conflicts_of({0, 0, 0, 0, 0, 0, 0, 0}), 0);           // one and the same
  CHECK_EQUAL(conflicts_of({0, 8, 0, 8, 0, 8, 0, 8}), 1);           // two
  CHECK_EQUAL(conflicts_of({0, 8, 1, 9, 2, 10, 3, 11}), 1);         // four pairs, side by side
  CHECK_EQUAL(conflicts_of({0, 8, 16, 1, 2, 3, 4, 5}), 2);
}

// 16x16 by 16x8, once in plain loops over double.
struct Product {
  const uint16_t *a;  // [16][16]
  const uint16_t *b;  // [16][8]
  float *d;           // [16][8]
};

KVK_DEVICE uint32_t two(const uint16_t *low, const uint16_t *high) { return static_cast<uint32_t>(*high) << 16 | *low; }

template <class T>
KVK_KERNEL(kLanes) void product(Product p) {
  const uint32_t g = kvk::thread() / 4, t = kvk::thread() % 4 * 2;
  uint32_t a[4], b[2];
  for (uint32_t i = 0; i < 4; i++) {
    const uint16_t *const first = p.a + (g + i % 2 * 8) * 16 + t + i / 2 * 8;
    a[i] = two(first, first + 1);
  }
  for (uint32_t i = 0; i < 2; i++) b[i] = two(p.b + (t + i * 8) * 8 + g, p.b + (t + 1 + i * 8) * 8 + g);
  float d[4];
  for (uint32_t i = 0; i < 4; i++) d[i] = p.d[(g + i / 2 * 8) * 8 + t + i % 2];
  kvk::multiply<T>(d, a, b[0], b[1]);
  for (uint32_t i = 0; i < 4; i++) p.d[(g + i / 2 * 8) * 8 + t + i % 2] = d[i];
}

uint64_t random_state = 88172645463325252u;
uint64_t random() {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}
template <class T>
uint16_t of_float(double value) {
  return kvk::from_float<T>(static_cast<float>(value)).bits;
}

template <class T>
void product_is_near(const Schedule &schedule, double scale, uint16_t special) {
  static uint16_t a[16][16], b[16][8];
  static float d[16][8];
  static double wanted[16][8], size[16][8];
  const auto draw = [scale] { return of_float<T>((static_cast<double>(random() % 4097) / 2048 - 1) * scale); };
  for (auto &row : a) for (uint16_t &number : row) number = draw();
  for (auto &row : b) for (uint16_t &number : row) number = draw();
  if (special != 0) a[3][5] = special;
  for (uint32_t i = 0; i < 16; i++) {
    for (uint32_t j = 0; j < 8; j++) {
      d[i][j] = static_cast<float>(scale * scale * static_cast<double>(random() % 9));
      wanted[i][j] = size[i][j] = static_cast<double>(d[i][j]);
      for (uint32_t k = 0; k < 16; k++) {
        const double one = static_cast<double>(kvk::to_float(T{a[i][k]})) * static_cast<double>(kvk::to_float(T{b[k][j]}));
        wanted[i][j] += one;
        size[i][j] += fabs(one);
      }
    }
  }
  kvk_counters counters{};
  kvk_run run = run_of(schedule, &counters);
  CHECK_EQUAL(KVK_LAUNCH(product<T>, 1, kLanes, 0, &run, (Product{a[0], b[0], d[0]})), 0);
  CHECK_EQUAL(counters.matrix_products, 1);
  for (uint32_t i = 0; i < 16; i++) {
    for (uint32_t j = 0; j < 8; j++) {
      const double is = static_cast<double>(d[i][j]);
      if (isfinite(wanted[i][j])) {
        CHECK(fabs(is - wanted[i][j]) <= 16 * 0x1p-24 * size[i][j] + 0x1p-149);
      } else {
        CHECK(isnan(wanted[i][j]) ? isnan(is) : is == wanted[i][j]);
      }
    }
  }
}

template <class T>
void products_are_near(const Schedule &schedule, uint16_t infinity) {
  product_is_near<T>(schedule, 1.0, 0);
  product_is_near<T>(schedule, 0x1p-14, 0);  // subnormal halves among them
  product_is_near<T>(schedule, 0x1p-22, 0);
  product_is_near<T>(schedule, 100.0, infinity);
  product_is_near<T>(schedule, 1.0, infinity | 0x8000);
  product_is_near<T>(schedule, 1.0, infinity | 1);
}

}  // namespace

int main() {
  for (const Schedule &schedule : kSchedules) {
    shuffles_are_exact<uint32_t>(schedule);
    shuffles_are_exact<float>(schedule);
    shuffles_are_exact<int64_t>(schedule);
    shuffles_are_exact<double>(schedule);
    matrices_are_exact(schedule, true, 0);
    matrices_are_exact(schedule, false, 7);
    products_are_near<kvk::f16>(schedule, 0x7C00);
    products_are_near<kvk::bf16>(schedule, 0x7F80);
  }
  conflicts_are_passes();
  return checked();
}
