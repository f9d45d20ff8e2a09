/*
 * registry.h - what programs registered: images of code, and the kernels and
 * variables in them by their addresses on the host.
 *
 * Registering takes notes only. An image is loaded when a call first needs
 * something of it, once for all contexts: the driver gives each its own copy.
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
	const void *host; /* by which the program knows it */
	const char *name; /* in the image; the program's memory */
	size_t size;      /* of a variable */
	struct image *image;
	struct entry *next; /* of the same image */
	_Atomic(CUkernel) kernel;
};

/* Around a fork: nobody is in the middle of registering. */
void registry_hold(void);
void registry_release(void);

/* NULL: nothing is registered there. Any thread, without a lock. */
struct entry *registry_find(const void *host);

/* The entry of a kernel that was looked up; NULL: of none. No lock, but slow.
 */
struct entry *registry_of_kernel(CUkernel kernel);

/* The kernel of an entry, loaded; a context is current. */
cudaError_t registry_kernel(struct entry *entry, CUkernel *ret_kernel);

/* The library of an entry, loaded; a context is current. */
cudaError_t registry_library(struct entry *entry, CUlibrary *ret_library);

/*
 * Where in a variable: [offset, offset + count) must lie in it. A context is
 * current afterwards. symbol.c.
 */
cudaError_t find_variable_part(char **ret_at, const void *symbol, size_t count,
			       size_t offset, enum cudaMemcpyKind kind,
			       enum cudaMemcpyKind other_kind);

/*
 * __cudaGetKernel gives the entry itself to the code that nvcc emits, which
 * asks for each kernel once and never again: so a kernel is looked up when it
 * is launched, and says then what is wrong with it. Real kernels are even.
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
