/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the driver's own functions, as this process would find them
 * without us: libcuda.so.1 and libnvidia-ml.so.1.
 */
#ifndef GKL_PRELOAD_DRIVER_H
#define GKL_PRELOAD_DRIVER_H

#include "abi/cuda/cuda_abi.h"
#include "abi/nvml/nvml_abi.h"
#include "limit/preload/entry/hooks.h"

#include <stdbool.h>

/*
 * A pointer for each row of cuda_symbols.def; NULL: this driver lacks the
 * function.
 */
struct driver_cuda {
#define CUDA_SYMBOL(symbol, ...) __typeof__(symbol) *symbol;
#include "abi/cuda/cuda_symbols.def"
};

struct driver_nvml {
#define NVML(symbol, ...) __typeof__(symbol) *symbol;
#include "abi/nvml/nvml.def"
#undef NVML
};

/*
 * The pointers are filled once, before these functions return true for the
 * first time, and never change. False: there is no such library; the next call
 * searches again. No lock is held, so a child of fork can call them; dlerror()
 * stays as it was or is cleared.
 *
 * In a hook, the driver of the hook's own row is ready.
 */
bool driver_cuda_ready(void);
bool driver_nvml_ready(void);

extern struct driver_cuda driver_cuda;
extern struct driver_nvml driver_nvml;

/* The driver's function; valid after driver_*_ready(). */
#define REAL(function)      driver_cuda.function
#define REAL_NVML(function) driver_nvml.function

/*
 * The hook for the driver's function at an address; HOOKS if there is none. A
 * driver may export one function under two names, which have two hooks: then
 * the hook whose name begins with `name` is returned.
 */
enum hook driver_find_hook(const void *address, const char *name);

/*
 * Returns the driver's function for an address that was found under a name. If
 * the address is in a second copy of the driver, loaded from another file,
 * returns the first copy's function of that name, if it has one. NULL: the
 * address is not a driver's.
 */
void *driver_first_at(const void *address, const char *name);

/*
 * Returns what programs get for an address that was found under a name (for
 * cuGetProcAddress: the name asked for): our hook, if the address is a hooked
 * function of the driver, else the address itself.
 */
void *driver_swap(void *address, const char *name);

/* Like driver_swap(), for an address that may not be a driver's. */
void *driver_swap_found(void *address, const char *name);

#endif
