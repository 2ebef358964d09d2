#include "plants.h"

#if defined(KVK_PLANTS)

#include <string.h>

kvk::plant kvk::cpu::asked_for = kvk::plant::none;

extern "C" uint32_t kvk_cpu_plant(const char *name) {
  const char *const names[] = {
#define KVK_PLANT_NAME(name) #name,
      KVK_PLANT_LIST(KVK_PLANT_NAME)
#undef KVK_PLANT_NAME
  };
  uint32_t found = 0;
  if (name != nullptr) {
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
      if (strcmp(name, names[i]) == 0) found = i + 1;
    }
    if (found == 0) return 1;
  }
  __atomic_store_n(&kvk::cpu::asked_for, static_cast<kvk::plant>(found), __ATOMIC_RELAXED);
  return 0;
}

#endif
