#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

// What a call keeps: general registers, and on aarch64 the lower halves of eight vector registers. Rounding modes are
// those of the OS thread, which no kernel changes. Left by a jump, not by a return that would be predicted wrong.
// Shadow stacks (CET) are not switched: a program that turns them on cannot run this.
#if defined(__x86_64__)
asm(R"(
  .pushsection .text
  .p2align 4
  .globl kvk_cpu_switch
  .hidden kvk_cpu_switch
  .type kvk_cpu_switch, @function
kvk_cpu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size kvk_cpu_switch, . - kvk_cpu_switch
  .popsection
)");
// The registers, the address to go on at, and no address to return to: a function begins 8 above a multiple of 16.
constexpr size_t kFrameWords = 8;
constexpr size_t kFrameAddress = 6;  // which of them is the address
#elif defined(__aarch64__)
asm(R"(
  .pushsection .text
  .p2align 4
  .globl kvk_cpu_switch
  .hidden kvk_cpu_switch
  .type kvk_cpu_switch, %function
kvk_cpu_switch:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size kvk_cpu_switch, . - kvk_cpu_switch
  .popsection
)");
constexpr size_t kFrameWords = 20;
constexpr size_t kFrameAddress = 11;
#else
#error "the CPU device switches fibers on x86-64 and aarch64: add the switch and the frame of this machine here"
#endif

namespace kvk {
namespace cpu {

namespace {

constexpr size_t kStackBytes = 64 * 1024;
// Sanitizers make frames larger, and run their own code on them.
constexpr size_t kWatchedStackBytes = 256 * 1024;
// Stacks begin at different places of their pages, or the same variable of every thread would want the same few lines
// of the first cache.
constexpr size_t kStagger = 5 * 64;
constexpr size_t kStaggerRange = 4096;

size_t stack_bytes() { return races_watched() || addresses_watched() ? kWatchedStackBytes : kStackBytes; }

}  // namespace

bool Stacks::reserve(unsigned count) {
  if (count <= count_) return true;
  release();
  const size_t guard = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t stride = guard + stack_bytes();
  void *memory =
      mmap(nullptr, stride * count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<unsigned char *>(memory);
  stride_ = stride;
  count_ = count;
  for (unsigned i = 0; i < count; i++) {
    if (mprotect(memory_ + i * stride, guard, PROT_NONE) != 0) {
      release();
      return false;
    }
  }
  return true;
}

void Stacks::release() {
  if (memory_ != nullptr) munmap(memory_, stride_ * count_);
  memory_ = nullptr;
  count_ = 0;
}

void Stacks::clean() const { allow(memory_, stride_ * count_); }

void Stacks::prepare(Context &context, unsigned i, void (*entry)()) const {
  const size_t bytes = stack_bytes();
  unsigned char *const end = memory_ + (i + 1) * stride_;
  context.stack = end - bytes;
  context.stack_bytes = bytes;
  context.fake_stack = nullptr;
  context.ended = false;
  void **frame = reinterpret_cast<void **>(end - i * kStagger % kStaggerRange) - kFrameWords;
  for (size_t word = 0; word < kFrameWords; word++) frame[word] = nullptr;
  frame[kFrameAddress] = reinterpret_cast<void *>(entry);
  context.stack_pointer = frame;
}

}  // namespace cpu
}  // namespace kvk
