// What kernels may use of their device, so that one source serves two: a GPU under nvcc, and the CPU device under any
// C++17 compiler. A kernel body uses these names, plain C++ and nothing else:
//
//   KVK_SYMBOL(name)                 the launch function's name for this device
//   KVK_KERNEL(threads) void f(P p)  a kernel, run by blocks of at most so many threads; (threads, resident): so
//                                    many blocks should fit on a multiprocessor, which bounds the registers
//   KVK_LAUNCH(f, blocks, threads, shared_bytes, run, p)   answers 0 or an error number
//   KVK_DEVICE                       a function that kernels call
//   KVK_UNROLL, KVK_UNROLL_BY(n)     before a loop of constant length; n at a time
//   KVK_SHARED(T, name)              the block's shared memory as a T*, aligned to 1,024
//   KVK_PLANT(name)                  false; in a build for the tests of the tests, whether that mistake is asked for
//   kvk::thread() block() threads() blocks()   indices and sizes; launches have one dimension
//   kvk::barrier() barrier_warp()    all threads of the block, of the warp; memory before is seen after
//   kvk::shuffle(v, lane) shuffle_xor(v, mask) ballot(bool)  all lanes of a warp together; no order of memory
//   kvk::copy_async<16>(shared, global, valid)  16 bytes, or zeros if not valid: then nothing is read
//   kvk::commit() wait<N>()          ends a group of copies; waits until all but the newest N groups of this thread
//                                    have landed. Others see what landed after a barrier
//   kvk::load_matrix(r, row) load_matrix_transposed(r, row)  four 8x8 matrices of 16 bits; lane i names row i
//   kvk::multiply<T>(d, a, b0, b1)   d += a * b for 16x16 by 16x8 of T (kvk::f16, kvk::bf16), sums in binary32
//   kvk::load(p) load_once(p) store(p, v)  global memory, up to 16 bytes, counted; `load_once` will not be read again
//   kvk::atomic_or(p, v) atomic_min(p, v) atomic_add(p, v)  global memory: 32, 64 and 64 bits
//   kvk::reciprocal(x)               of a float, rounded to nearest for magnitudes from 2^-126 to 2^126
//   kvk::exp2 log2 tanh              of floats, as exact as the device's fast ones: 2 units in the last place
//   numbers.h                        conversions
#ifndef KVK_DEVICE_H
#define KVK_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__CUDACC__)
#include "device/gpu.h"
#else
#include "../cpu/device.h"
#endif
#include "device/numbers.h"

#endif
