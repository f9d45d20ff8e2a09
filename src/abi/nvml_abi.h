/*
 * Prototypes of all functions that libnvidia-ml.so.1 exports, from nvml.def.
 *
 * Each name is the exact exported symbol: nothing is renamed, so nvmlInit and
 * nvmlInit_v2 are two functions. Programs that include this file call or
 * define them; a definition that disagrees with its row does not compile.
 */
#ifndef GPUKIT_ABI_NVML_ABI_H
#define GPUKIT_ABI_NVML_ABI_H

#include "nvml_types.h"

/* Who defines functions that are not exported under these names says so. */
#ifndef NVML_EXPORT
#define NVML_EXPORT __attribute__((visibility("default")))
#endif

#define NVML(symbol, params) NVML_EXPORT nvmlReturn_t symbol params;
#include "nvml.def"
#undef NVML

/* Never NULL, for any number; static storage. */
NVML_EXPORT const char *nvmlErrorString(nvmlReturn_t result);

#endif
