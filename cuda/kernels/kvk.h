// Everything that Rust and C call: parameters and launches of all kernels, and the CPU device's own face.
#ifndef KVK_H
#define KVK_H

#include "append.h"
#include "attend.h"
#include "blocks.h"
#include "gather.h"
#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

// 0 if the GPU of the calling thread can run the kernels, else the runtime's error: they were compiled for others.
uint32_t kvk_cuda_fits(void);

#ifdef __cplusplus
}
#endif

#endif
