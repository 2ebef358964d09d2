/* Structs that can grow begin with their size. C11 or C++14. Part of kvledger.h and of kvledger_cuda.h.
 *
 *   kvl_pool_config config = KVL_SIZED(kvl_pool_config);     all zeros, but for the size
 *
 * (In C, what is `static` is initialized with {.size = sizeof(kvl_pool_config)}: it wants a constant.)
 *
 * `size` is sizeof the struct when the caller was compiled; it is set before any call that gets the struct, to read it
 * or to write it, and no call changes it. A size below the first version's, above 4096, or no multiple of the struct's
 * alignment was not set: KVL_INVALID, KVL_ARGUMENT_SIZE, and by the device functions KVL_DEVICE_ARGUMENT. By the size,
 * programs and libraries of different versions go together:
 *
 *   an older program  gives no newer fields: they are 0, which means "as before"; and it gets none
 *   a newer program   gives 0 in the fields that the library does not have, or is refused as above; it gets 0 in them
 *
 * `reserved` is room for such a field, and 0 until then. */
#ifndef KVLEDGER_SIZED_H
#define KVLEDGER_SIZED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C++" { /* wherever it is included */
template <class T>
constexpr T kvl_sized() noexcept {
  T sized{};
  sized.size = sizeof(T);
  return sized;
}
}
#define KVL_SIZED(type) kvl_sized<type>()
#else
#define KVL_SIZED(type) ((type){.size = sizeof(type)})
#endif

#endif
