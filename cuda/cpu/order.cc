#include "order.h"

#include <stdlib.h>

namespace kvk {
namespace cpu {

// Objects are made anew for each block, because what was released into one stays there until it is freed.
bool MemoryOrder::begin() {
  launcher_ = __tsan_get_current_fiber();
  objects_ = static_cast<uint64_t *>(malloc((2 + 2 * kWarpsMax) * sizeof *objects_));
  return objects_ != nullptr;
}

void MemoryOrder::begin(Context &fiber) const { fiber.race_fiber = __tsan_create_fiber(0); }

void MemoryOrder::end(Context &fiber) {
  __tsan_switch_to_fiber(fiber.race_fiber, kSwitchWithoutOrder);
  __tsan_release(&joined_);
  __tsan_switch_to_fiber(launcher_, kSwitchWithoutOrder);
  __tsan_destroy_fiber(fiber.race_fiber);
}

void MemoryOrder::end() {
  free(objects_);
  objects_ = nullptr;
}

}  // namespace cpu
}  // namespace kvk
