// How a kernel says what was wrong: `kvk_status`.
#ifndef KVK_REPORT_CUH
#define KVK_REPORT_CUH

#include "device.h"
#include "types.h"

namespace kvk {

KVK_DEVICE void report(kvk_status *status, uint32_t fault, uint32_t row, uint32_t index) {
  atomic_or(&status->faults, fault);
  atomic_min(&status->first, static_cast<uint64_t>(row) << 32 | index);
}

}  // namespace kvk

#endif
