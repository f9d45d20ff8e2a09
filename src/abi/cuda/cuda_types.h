/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All types and constants of the CUDA 13.0 driver API, by topic, and those that
 * functions of later versions use.
 */
#ifndef GPUKIT_ABI_CUDA_TYPES_H
#define GPUKIT_ABI_CUDA_TYPES_H

#include "cuda_base.h"
#include "cuda_device.h"
#include "cuda_context.h"
#include "cuda_stream.h"
#include "cuda_array.h"
#include "cuda_memory.h"
#include "cuda_copy.h"
#include "cuda_module.h"
#include "cuda_launch.h"
#include "cuda_graph.h"
#include "cuda_newer.h"
#include "cuda_external.h"
#include "cuda_v1.h"
#include "cuda_profiler.h"
#include "cuda_layout.h"

#endif
