#include "plants.h"

#if defined(KVK_PLANTS)

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

namespace {

// KVL_PLANT=name asks any program with these kernels for a mistake, so that programs are tested as they are. A name that
// is none ends it: a test that plants nothing must not pass.
__attribute__((constructor)) void ask_environment() {
  const char *const name = getenv("KVL_PLANT");
  if (name == nullptr || *name == '\0' || kvk_cpu_plant(name) == 0) return;
  fprintf(stderr, "KVL_PLANT=%s: no such mistake; cuda/cpu/plants.h has them all\n", name);
  _exit(2);
}

}  // namespace

#endif
