// What the executor tells ThreadSanitizer and AddressSanitizer. Their functions are weak: where a program is linked
// without the one or the other, its calls are not made, so that the executor is the same object in every build.
//
// The executor must not be compiled with `-fsanitize=thread` itself: its own bookkeeping is shared by fibers that
// ThreadSanitizer takes for concurrent threads. What it reads and writes in the name of a kernel it announces here.
// Kernels are compiled with it as they are.
#ifndef KVK_CPU_SANITIZER_H
#define KVK_CPU_SANITIZER_H

#if defined(__SANITIZE_THREAD__)
#error "compile cuda/cpu/*.cc without -fsanitize=thread: they announce what they do for a kernel"
#endif

#include <stddef.h>

#define KVK_WEAK extern "C" __attribute__((weak))

KVK_WEAK void *__tsan_get_current_fiber(void);
KVK_WEAK void *__tsan_create_fiber(unsigned flags);
KVK_WEAK void __tsan_destroy_fiber(void *fiber);
KVK_WEAK void __tsan_switch_to_fiber(void *fiber, unsigned flags);
KVK_WEAK void __tsan_acquire(void *object);
KVK_WEAK void __tsan_release(void *object);
KVK_WEAK void __tsan_read_range(const void *address, unsigned long bytes);
KVK_WEAK void __tsan_write_range(void *address, unsigned long bytes);

KVK_WEAK void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t bytes);
KVK_WEAK void __sanitizer_finish_switch_fiber(void *fake_stack, const void **old_bottom, size_t *old_bytes);
KVK_WEAK void __asan_poison_memory_region(const volatile void *address, size_t bytes);
KVK_WEAK void __asan_unpoison_memory_region(const volatile void *address, size_t bytes);
KVK_WEAK void __asan_loadN(const void *address, unsigned long bytes);
KVK_WEAK void __asan_storeN(void *address, unsigned long bytes);

#undef KVK_WEAK

namespace kvk {
namespace cpu {

inline bool races_watched() { return __tsan_create_fiber != nullptr; }
inline bool addresses_watched() { return __sanitizer_start_switch_fiber != nullptr; }

// A switch of fibers orders no memory: only barriers do.
constexpr unsigned kSwitchWithoutOrder = 1;

// The running CUDA thread reads or writes these bytes.
inline void announce_read(const void *address, size_t bytes) {
  if (__tsan_read_range) __tsan_read_range(address, bytes);
  if (__asan_loadN) __asan_loadN(address, bytes);
}
inline void announce_write(void *address, size_t bytes) {
  if (__tsan_write_range) __tsan_write_range(address, bytes);
  if (__asan_storeN) __asan_storeN(address, bytes);
}

// From here on every access to these bytes is a report, or none is.
inline void forbid(const void *address, size_t bytes) {
  if (__asan_poison_memory_region) __asan_poison_memory_region(address, bytes);
}
inline void allow(const void *address, size_t bytes) {
  if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(address, bytes);
}

}  // namespace cpu
}  // namespace kvk

#endif
