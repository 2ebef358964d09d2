// A mistake is made when it is asked for by its name, by no other, and not before or after. Compiled with KVK_PLANTS.
#include "check.h"

namespace {

struct Params {
  uint32_t *made;
};
KVK_KERNEL(32) void mistakes(Params p) {
  if (KVK_PLANT(window_by_one)) kvk::atomic_or(p.made, 1);
  if (KVK_PLANT(empty_row)) kvk::atomic_or(p.made, 2);
}

uint32_t made() {
  uint32_t bits = 0;
  CHECK_EQUAL(KVK_LAUNCH(mistakes, 1, 32, 0, nullptr, Params{&bits}), 0);
  return bits;
}

}  // namespace

int main() {
  CHECK_EQUAL(made(), 0);
  CHECK_EQUAL(kvk_cpu_plant("window_by_one"), 0);
  CHECK_EQUAL(made(), 1);
  CHECK_EQUAL(kvk_cpu_plant("empty_row"), 0);
  CHECK_EQUAL(made(), 2);
  CHECK_EQUAL(kvk_cpu_plant("nothing_of_the_kind"), 1);
  CHECK_EQUAL(kvk_cpu_plant("none"), 1);
  CHECK_EQUAL(made(), 2);
  CHECK_EQUAL(kvk_cpu_plant("barrier_in_loop"), 0);
  CHECK_EQUAL(made(), 0);
  CHECK_EQUAL(kvk_cpu_plant(nullptr), 0);
  CHECK_EQUAL(made(), 0);
  return checked();
}
