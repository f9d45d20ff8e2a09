/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.h - the code images that programs have registered, and their kernels
 * and variables, by host address.
 *
 * Registering only stores the arguments. An image is loaded once, for all
 * contexts, when a call first needs something in it; the driver gives each
 * context its own copy.
 */
#ifndef GKF_CUDART_REGISTRY_H
#define GKF_CUDART_REGISTRY_H

#include "fronts/cudart/runtime.h"

#include <stddef.h>

enum entry_kind { ENTRY_KERNEL, ENTRY_VARIABLE, ENTRY_MANAGED };

struct image;

/* One kernel or variable; lives as long as its image is registered. */
struct entry {
	enum entry_kind kind;
	/* the host address that stands for the kernel or variable */
	const void *host;
	const char *name; /* its name in the image; not a copy */
	size_t size;      /* size of a variable */
	struct image *image;
	struct entry *next; /* next entry of the same image */
	_Atomic(CUkernel) kernel;
};

/* The entry registered at a host address; NULL if there is none. Takes no lock.
 */
struct entry *registry_find(const void *host);

/* The entry of a kernel, or NULL. Takes no lock, but is slow. */
struct entry *registry_of_kernel(CUkernel kernel);

/* Loads the kernel of an entry. A context must be current. */
cudaError_t registry_kernel(struct entry *entry, CUkernel *ret_kernel);

/* Loads the library of an entry. A context must be current. */
cudaError_t registry_library(struct entry *entry, CUlibrary *ret_library);

/*
 * Finds the address at `offset` in a variable; the `count` bytes from there
 * must lie inside the variable. `kind` must be cudaMemcpyDeviceToDevice,
 * cudaMemcpyDefault or other_kind. Leaves a context current. Defined in
 * symbol.c.
 */
cudaError_t symbol_find_part(char **ret_at, const void *symbol, size_t count,
			     size_t offset, enum cudaMemcpyKind kind,
			     enum cudaMemcpyKind other_kind);

/*
 * The handle that __cudaGetKernel returns: the entry itself, marked by an odd
 * address. The code that nvcc generates requests each kernel only once, so the
 * kernel is looked up at each launch, which then reports what is wrong with it.
 */
static inline cudaKernel_t entry_handle(struct entry *entry)
{
	return (cudaKernel_t)((uintptr_t)entry | 1);
}

static inline struct entry *handle_entry(cudaKernel_t kernel)
{
	return (uintptr_t)kernel & 1
		   ? (struct entry *)((uintptr_t)kernel & ~(uintptr_t)1)
		   : NULL;
}

#endif
