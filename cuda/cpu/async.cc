// Asynchronous copies, as late as a GPU may be: what is copied to is NaN from the copy on, and what is copied is read
// and written in the wait that covers it.
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "operations.h"

namespace kvk {
namespace cpu {

namespace {

constexpr size_t kCopyBytes = 16;

// What was landed is dropped when the list is empty, so that it grows to what is in flight at once.
bool make_room(Copies &copies) {
  if (copies.first == copies.end) copies.first = copies.end = 0;
  if (copies.end < copies.room) return true;
  const uint32_t room = copies.room == 0 ? 64 : copies.room * 2;
  void *const list = realloc(copies.list, room * sizeof(Copy));
  if (list == nullptr) return false;
  copies.list = static_cast<Copy *>(list);
  copies.room = room;
  return true;
}

void land(const Copy &copy) {
  announce_write(copy.shared, kCopyBytes);
  if (copy.global == nullptr) {
    memset(copy.shared, 0, kCopyBytes);
  } else {
    announce_read(copy.global, kCopyBytes);
    memcpy(copy.shared, copy.global, kCopyBytes);
  }
}

}  // namespace

void copy_async(void *shared, const void *global, bool valid) {
  Block &block = block_of_self();
  const uintptr_t source = valid ? reinterpret_cast<uintptr_t>(global) : 0;
  if ((reinterpret_cast<uintptr_t>(shared) | source) % kCopyBytes != 0) fault(KVK_CPU_MISALIGNED);
  if (!block.has_shared(shared, kCopyBytes)) fault(KVK_CPU_OUTSIDE);
  announce_write(shared, kCopyBytes);
  memset(shared, 0xFF, kCopyBytes);
  if (valid) {
    announce_read(global, kCopyBytes);
    block.counters.loaded_bytes += kCopyBytes;
  }
  Copies &copies = fiber_of_self().copies;
  if (!make_room(copies)) fault(KVK_CPU_MEMORY);
  copies.list[copies.end++] = Copy{static_cast<unsigned char *>(shared),
                                   valid ? static_cast<const unsigned char *>(global) : nullptr, copies.group};
}

void commit() { fiber_of_self().copies.group++; }

void wait(uint32_t groups) {
  Copies &copies = fiber_of_self().copies;
  while (!copies.empty() && copies.group - copies.list[copies.first].group > groups) {
    land(copies.list[copies.first++]);
  }
}

}  // namespace cpu
}  // namespace kvk
