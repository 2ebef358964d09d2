#include "block.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

namespace kvk {
namespace cpu {

__thread Thread *self __attribute__((tls_model("initial-exec")));

void fault(uint32_t error) { block_of_self().stop(error); }

bool Block::reserve(unsigned threads_of_block, unsigned bytes) {
  if (!map_shared() || !stacks_.reserve(threads_of_block)) return false;
  threads = threads_of_block;
  shared_bytes = bytes;
  allow(shared, kSharedMax);
  forbid(shared + bytes, kSharedMax - bytes);
  launcher_ = Context{};
  return true;
}

void Block::release() {
  unmap_shared();
  stacks_.release();
  for (Fiber &fiber : fibers_) free(fiber.copies.list);
}

// Mapped, and so aligned to pages: kSharedAlignment is less.
bool Block::map_shared() {
  if (shared != nullptr) return true;
  void *memory = mmap(nullptr, kSharedMax, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  shared = static_cast<unsigned char *>(memory);
  return true;
}

void Block::unmap_shared() {
  if (shared == nullptr) return;
  allow(shared, kSharedMax);
  munmap(shared, kSharedMax);
  shared = nullptr;
}

uint32_t Block::run(const Body &body, uint32_t index) {
  body_ = body;
  if (!begin(index)) return KVK_CPU_MEMORY;
  Fiber &first = fibers_[schedule_.take()];
  counters.switches++;
  self = &first;
  go(launcher_, first.context);
  self = nullptr;
  end();
  return error_;
}

bool Block::begin(uint32_t index) {
  block = index;
  running_ = threads;
  at_barrier_ = 0;
  error_ = 0;
  faulty_thread_ = 0;
  if (races_watched() && !forget_past()) return false;
  memset(shared, 0xFF, shared_bytes);
  for (unsigned i = 0; i < threads / kLanes; i++) warps_[i].arrived = 0;
  for (unsigned i = 0; i < threads; i++) {
    Fiber &fiber = fibers_[i];
    fiber.place = this;
    fiber.index = i;
    fiber.copies.first = fiber.copies.end = fiber.copies.group = 0;
    stacks_.prepare(fiber.context, i, enter);
  }
  schedule_.fill(threads);
  if (races_watched()) watch();
  return true;
}

// What the block before has done with its stacks and shared memory, a block that is not ordered after it must not meet:
// memory that is mapped anew has no past.
bool Block::forget_past() {
  unmap_shared();
  stacks_.release();
  return map_shared() && stacks_.reserve(threads) && order_.begin();
}

// The last that is done before threads run: they are ordered after all that was done until now.
void Block::watch() {
  launcher_.race_fiber = order_.launcher();
  for (unsigned i = 0; i < threads; i++) order_.begin(fibers_[i].context);
}

void Block::end() {
  counters.blocks++;
  counters.threads += threads;
  if (error_ != 0) stacks_.clean();
  if (!races_watched()) return;
  for (unsigned i = 0; i < threads; i++) order_.end(fibers_[i].context);
  order_.end();
}

void Block::enter() {
  Block &block = block_of_self();
  arrive(block.launcher_);
  block.body_.run(block.body_.kernel);
  block.end_thread();
}

void Block::end_thread() {
  Fiber &fiber = fiber_of_self();
  if (!fiber.copies.empty()) stop(KVK_CPU_IN_FLIGHT);
  fiber.context.ended = true;
  if (--running_ != 0) wait();
  leave();
}

void Block::barrier() {
  counters.barriers++;
  const unsigned object = MemoryOrder::of_block(barriers_);
  order_.release(object);
  if (++at_barrier_ != threads) {
    wait();
  } else {
    at_barrier_ = 0;
    barriers_++;
    for (unsigned warp = 0; warp < threads / kLanes; warp++) schedule_.wake(warp, kAllLanes);
    schedule_.remove(self->index);
  }
  order_.acquire(object);
}

void Block::wait() {
  if (schedule_.empty()) stop(KVK_CPU_DEADLOCK, first_that_waits());
  Fiber &from = fiber_of_self();
  Fiber &to = fibers_[schedule_.take()];
  counters.switches++;
  self = &to;
  go(from.context, to.context);
}

uint32_t Block::first_that_waits() const {
  uint32_t thread = 0;
  while (fibers_[thread].context.ended) thread++;
  return thread;
}

bool Block::has_shared(const void *address, size_t bytes) const {
  const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(shared);
  return offset <= shared_bytes && bytes <= shared_bytes - offset;
}

void Block::stop(uint32_t error, uint32_t thread) {
  error_ = error;
  faulty_thread_ = thread;
  leave();
}

void Block::leave() {
  go(fiber_of_self().context, launcher_);
  __builtin_unreachable();
}

}  // namespace cpu
}  // namespace kvk
