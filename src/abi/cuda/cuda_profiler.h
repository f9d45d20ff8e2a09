/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's profiler switches.
 */
#ifndef GPUKIT_ABI_CUDA_PROFILER_H
#define GPUKIT_ABI_CUDA_PROFILER_H

typedef enum CUoutput_mode_enum {
	CU_OUT_KEY_VALUE_PAIR = 0,
	CU_OUT_CSV = 1,
} CUoutput_mode;

#endif
