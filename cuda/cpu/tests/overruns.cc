// Kernels that leave their memory, one by name: under AddressSanitizer those of the second half must be reports, and the
// others none.
#include <stdlib.h>
#include <string.h>

#include "check.h"

namespace {

constexpr uint32_t kThreads = 64, kShared = 1040;

struct Params {
  kvk::lane *lanes;  // [threads], on the heap
  uint32_t beyond;
};

KVK_KERNEL(kThreads) void loads(Params p) {
  const kvk::lane lane = kvk::load(&p.lanes[kvk::thread() + p.beyond]);
  kvk::store(&p.lanes[kvk::thread()], lane);
}
KVK_KERNEL(kThreads) void stores(Params p) { kvk::store(&p.lanes[kvk::thread() + p.beyond], kvk::lane{}); }
KVK_KERNEL(kThreads) void copies(Params p) {
  KVK_SHARED(kvk::lane, shared);
  kvk::copy_async<16>(&shared[kvk::thread()], &p.lanes[kvk::thread() + p.beyond], true);
  kvk::commit();
  kvk::wait<0>();
}
// What is not valid is not read, wherever it is.
KVK_KERNEL(kThreads) void copies_nothing(Params p) {
  KVK_SHARED(kvk::lane, shared);
  kvk::copy_async<16>(&shared[kvk::thread()], &p.lanes[kvk::thread() + 1000], false);
  kvk::commit();
  kvk::wait<0>();
}
KVK_KERNEL(kThreads) void shares(Params p) {
  KVK_SHARED(volatile uint32_t, shared);
  shared[kShared / 4 - kThreads + kvk::thread() + p.beyond] = 1;
}
KVK_KERNEL(kThreads) void stacks(Params p) {
  volatile uint32_t own[kThreads];
  for (uint32_t i = 0; i < kThreads; i++) own[i] = i;
  kvk::barrier();
  volatile uint32_t *volatile at = own;  // so that only the address tells
  at[kvk::thread() + p.beyond] = 7;
  kvk::barrier();
  kvk::store(&p.lanes[kvk::thread()].word[0], own[kvk::thread()]);
}
// Frames that are never left must not be in the way of the next launch's.
KVK_KERNEL(kThreads) void stacks_that_stop(Params p) {
  volatile uint32_t own[kThreads];
  for (uint32_t i = 0; i < kThreads; i++) own[i] = i;
  if (kvk::thread() != 5) kvk::barrier();
  kvk::store(&p.lanes[kvk::thread()].word[0], own[kvk::thread()]);
}

const struct {
  const char *name;
  void (*kernel)(Params);
  uint32_t beyond;
} kKernels[] = {
    {"inside-loads", loads, 0},   {"inside-stores", stores, 0},   {"inside-copies", copies, 0},
    {"inside-nothing", copies_nothing, 1}, {"inside-shared", shares, 0}, {"inside-stacks", stacks, 0},
    {"overrun-load", loads, 1},   {"overrun-store", stores, 1},   {"overrun-copy", copies, 1},
    {"overrun-shared", shares, 1}, {"overrun-stack", stacks, 1},
};

}  // namespace

// Without arguments: the names. Else the kernel of that name, after one that was stopped.
int main(int argc, char **argv) {
  for (const auto &the : kKernels) {
    if (argc < 2) printf("%s\n", the.name);
    if (argc < 2 || strcmp(argv[1], the.name) != 0) continue;
    kvk::lane *const lanes = static_cast<kvk::lane *>(aligned_alloc(16, kThreads * sizeof(kvk::lane)));
    memset(lanes, 0, kThreads * sizeof(kvk::lane));
    CHECK_EQUAL(KVK_LAUNCH(stacks_that_stop, 2, kThreads, kShared, nullptr, (Params{lanes, 0})), KVK_CPU_DEADLOCK);
    CHECK_EQUAL(KVK_LAUNCH(the.kernel, 2, kThreads, kShared, nullptr, (Params{lanes, the.beyond})), 0);
    free(lanes);
    return checked();
  }
  return argc < 2 ? 0 : 2;
}
