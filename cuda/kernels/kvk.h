// Everything that Rust and C call: parameters and launches of all kernels, and the CPU device's own face.
#ifndef KVK_H
#define KVK_H

#include "append.h"
#include "attend.h"
#include "blocks.h"
#include "gather.h"
#include "run.h"

#endif
