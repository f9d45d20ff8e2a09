/*
 * driver.h - the driver's own functions, as this process would find them
 * without us: libcuda.so.1 and libnvidia-ml.so.1.
 */
#ifndef GKL_PRELOAD_DRIVER_H
#define GKL_PRELOAD_DRIVER_H

#include "abi/cuda_abi.h"
#include "abi/nvml_abi.h"

#include <stdbool.h>

/* A pointer for each row; NULL: this driver has no such function. */
struct driver_cuda {
#define CUDA(symbol, base, since, stream, params) __typeof__(symbol) *symbol;
#include "abi/cuda.def"
#undef CUDA
};

struct driver_nvml {
#define NVML(function, params) __typeof__(function) *function;
#include "abi/nvml.def"
#undef NVML
};

/*
 * Filled once, before they return true the first time; never changed after.
 * False: there is no such library (asked again at the next call). No lock is
 * held, so a child of fork finds it usable; dlerror() stays as it was or is
 * cleared.
 *
 * In a hook, the driver of the hook's own row is ready.
 */
bool driver_cuda_ready(void);
bool driver_nvml_ready(void);

extern struct driver_cuda driver_cuda;
extern struct driver_nvml driver_nvml;

/* The driver's function; after driver_*_ready() only. */
#define REAL(function)      driver_cuda.function
#define REAL_NVML(function) driver_nvml.function

/*
 * For what was found at `address` under a name (cuGetProcAddress: the name that
 * it was asked for): what programs get in its place, which is our hook if that
 * is the driver's function, else the address itself.
 */
void *driver_swap(void *address, const char *name);

/* As driver_swap(), where the address may be no driver's at all. */
void *driver_swap_found(void *address, const char *name);

#endif
