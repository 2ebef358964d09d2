/* The version, of these headers and of the library that is linked. Part of kvledger.h.
 *
 * Programs and libraries go together while major and minor version are the same, from 1.0 on while the major version is:
 * then structs that can grow only grow, as sized.h says, all others stay as they are, and no function and no number is
 * taken away or used for something else. */
#ifndef KVLEDGER_VERSION_H
#define KVLEDGER_VERSION_H

#include "answer.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVL_VERSION_MAJOR 0
#define KVL_VERSION_MINOR 1
#define KVL_VERSION_PATCH 0
#define KVL_VERSION (KVL_VERSION_MAJOR * 1000000 + KVL_VERSION_MINOR * 1000 + KVL_VERSION_PATCH)

/* KVL_VERSION as it was when the library was made: of use where that is a shared one. Results: none. Cost: O(1). */
kvl_status kvl_version(uint32_t *version, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
