// Checks that say where they failed and go on; `main` of a test answers `checked()`.
#ifndef KVK_CPU_TESTS_CHECK_H
#define KVK_CPU_TESTS_CHECK_H

#include <inttypes.h>
#include <stdio.h>

#include "../../kernels/device.h"
#include "../../kernels/run.h"

static unsigned failures = 0;
static unsigned checks = 0;

#define CHECK(holds)                                                   \
  do {                                                                 \
    checks++;                                                          \
    if (!(holds)) {                                                    \
      failures++;                                                      \
      printf("%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds); \
    }                                                                  \
  } while (0)

#define CHECK_EQUAL(left, right)                                                                                  \
  do {                                                                                                            \
    checks++;                                                                                                     \
    const uint64_t is_ = (left), wanted_ = (right);                                                               \
    if (is_ != wanted_) {                                                                                         \
      failures++;                                                                                                 \
      printf("%s:%d: %s is %" PRIu64 " (0x%" PRIx64 "), not %s = %" PRIu64 " (0x%" PRIx64 ")\n", __FILE__, __LINE__, \
             #left, is_, is_, #right, wanted_, wanted_);                                                          \
    }                                                                                                             \
  } while (0)

static inline int checked() {
  printf("%u checks, %u failed\n", checks, failures);
  return failures != 0 || checks == 0;
}

// Every order in which threads may run.
struct Schedule {
  const char *name;
  uint32_t order;
  uint64_t seed;
};
static const Schedule kSchedules[] = {{"ascending", 0, 0}, {"descending", 1, 0}, {"random 0", 2, 0},
                                      {"random 1", 2, 1},  {"random 2", 2, 2}};

static inline kvk_run run_of(const Schedule &schedule, kvk_counters *counters = nullptr) {
  kvk_run run{};
  run.order = schedule.order;
  run.seed = schedule.seed;
  run.counters = counters;
  return run;
}

#endif
