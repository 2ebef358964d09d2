// Mistakes that kernels can be told to make, so that tests can prove that they would be found. Compiled in with
// KVK_PLANTS only: ordinarily `KVK_PLANT(name)` is the constant false, and nothing of this is there.
#ifndef KVK_CPU_PLANTS_H
#define KVK_CPU_PLANTS_H

#include <stdint.h>

// PLANT(name) /* which kernel: what is wrong with it */, one a line: plants.sh reads them. Those of the first list are
// races, which ThreadSanitizer must see; all of them must be seen by who compares results.
#define KVK_PLANTED_RACES(PLANT)                                                                 \
  PLANT(barrier_in_loop)     /* attend: a tile is used before all have seen it land */           \
  PLANT(wait_in_loop)        /* attend: a tile is used before its copies have landed */          \
  PLANT(one_stage_too_far)   /* attend: a tile is fetched over one that is still in use */       \
  PLANT(barrier_before_join) /* attend: warps are joined before all have written their part */   \
  PLANT(barrier_before_sum)  /* checksum: warps are added before all have their sum */

#define KVK_PLANTED_FAULTS(PLANT)                                                                \
  PLANT(tail_predicate)      /* attend: values of keys that are not there are loaded */          \
  PLANT(window_by_one)       /* attend: one key less than the window */                          \
  PLANT(empty_row)           /* attend: rows that see no key are not written */                  \
  PLANT(merge_of_nothing)    /* merge: arithmetic on -infinity where all parts are empty */      \
  PLANT(offset_32_bits)      /* append: offsets of blocks are cut, here and in other kernels */  \
  PLANT(whole_blocks)        /* copy_blocks: blocks are copied beyond their tokens */

#define KVK_PLANT_LIST(PLANT) KVK_PLANTED_RACES(PLANT) KVK_PLANTED_FAULTS(PLANT)

#if defined(KVK_PLANTS)

// Asks for one mistake in all launches from now on; NULL: for none. 1 if there is none of that name, else 0.
extern "C" uint32_t kvk_cpu_plant(const char *name);

namespace kvk {

enum class plant : uint32_t {
  none,
#define KVK_PLANT_ENTRY(name) name,
  KVK_PLANT_LIST(KVK_PLANT_ENTRY)
#undef KVK_PLANT_ENTRY
};

namespace cpu {
extern plant asked_for;
}

inline bool planted(plant mistake) { return __atomic_load_n(&cpu::asked_for, __ATOMIC_RELAXED) == mistake; }

}  // namespace kvk

#define KVK_PLANT(name) ::kvk::planted(::kvk::plant::name)

#else
#define KVK_PLANT(name) false
#endif

#endif
