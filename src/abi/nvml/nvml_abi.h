/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prototypes of all functions that libnvidia-ml.so.1 exports, made from
 * nvml.def.
 *
 * Each name is exactly the exported symbol: nothing is renamed, so nvmlInit and
 * nvmlInit_v2 are two functions. Programs that include this file call the
 * functions or define them; a definition that differs from its row does not
 * compile.
 */
#ifndef GPUKIT_ABI_NVML_ABI_H
#define GPUKIT_ABI_NVML_ABI_H

#include "nvml_types.h"

/*
 * Files that do not export these names define NVML_EXPORT before the #include.
 */
#ifndef NVML_EXPORT
#define NVML_EXPORT __attribute__((visibility("default")))
#endif

#define NVML(symbol, major, minor, core, mig, limit, refused, params)          \
	NVML_EXPORT nvmlReturn_t symbol params;
#include "nvml.def"
#undef NVML

/* Returns a static text for any number; never NULL. */
NVML_EXPORT const char *nvmlErrorString(nvmlReturn_t result);

#endif
