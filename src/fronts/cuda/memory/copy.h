/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.h - copies: finds the memory that a copy call describes, and decides
 * when the call returns.
 */
#ifndef GKF_CUDA_COPY_H
#define GKF_CUDA_COPY_H

#include "fronts/cuda/memory/memory.h"
#include "fronts/cuda/stream/stream.h"

/* The stream in which a call puts its work, and whether the call waits. */
struct way {
	CUcontext ctx;
	CUstream stream;
	bool per_thread;
	bool async; /* an ...Async call, which may return early */
};

/*
 * Begins a call that accepts a stream of any context, because a copy is not
 * bound to the current device.
 */
CUresult copy_enter(enum cuda_row row, struct way *w);

/*
 * The same for a batch call, which does not accept the legacy default stream.
 */
CUresult copy_enter_batch(enum cuda_row row, struct way *w);

/* The kinds of memory that an address may point to. */
enum copy_place {
	COPY_HOST,   /* host memory, page-locked or not */
	COPY_DEVICE, /* memory known to CUDA */
	COPY_ANY,
};

/* One side of a copy: memory that this process can access. */
struct copy_side {
	unsigned char *at;
	size_t pitch, slice; /* bytes between rows, and between slices */
	bool device;         /* memory on a device, or managed memory */
	bool exact;          /* device memory that the host cannot access */
	bool paged;          /* pageable host memory */
	bool sync;           /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS is set */
	bool at_once;   /* the source must be read before the call returns */
	bool read_only; /* no device may write to the memory */
	/*
	 * The memory in the program's own terms: an address, or a position in
	 * an array.
	 */
	uint64_t address;
	CUarray array;
	size_t x, y, z; /* x in bytes, y in rows, z in slices */
};

struct copy {
	struct copy_side dst, src;
	/* width in bytes, height in rows, depth in slices; more than 0 */
	size_t width, height, depth;
};

/* The number of bytes copied. */
static inline uint64_t copy_size(const struct copy *c)
{
	return (uint64_t)c->width * c->height * c->depth;
}

/*
 * Finds the memory [address, address + size) for a copy. Fails with
 * CUDA_ERROR_INVALID_VALUE if it is not within one allocation, or not in the
 * expected kind of memory.
 */
CUresult copy_find(uint64_t address, size_t size, enum copy_place place,
		   struct copy_side *ret_side);

/* Copies contiguous bytes; size 0 does nothing. */
CUresult copy_bytes(const struct way *w, uint64_t dst,
		    enum copy_place dst_place, uint64_t src,
		    enum copy_place src_place, size_t size);

/*
 * Called before and after a copy between the contexts of dst and src, which
 * must be alive. The copy runs in the current context. A copy call without a
 * stream runs after all earlier work and before all later work of these three
 * contexts.
 */
CUresult copy_peer_begin(const struct way *w, const CUcontext contexts[2]);
void copy_peer_end(const struct way *w, const CUcontext contexts[2]);

/* Does a copy at once, or puts it in its stream. */
CUresult copy_go(const struct way *w, const struct copy *copy);

/*
 * The `run` function of tasks that would write to read-only memory: it fails.
 */
int copy_fault(struct gkf_task *task);

/*
 * Make the task of a copy; copy_make_staged() reads the source immediately.
 * NULL: out of memory.
 */
struct gkf_task *copy_make(const struct copy *copy);
struct gkf_task *copy_make_staged(const struct copy *copy);

/*
 * Copies the box described by the struct of cuMemcpy2D(), cuMemcpy3D() and so
 * on.
 */
CUresult copy_3d(const struct way *w, const CUDA_MEMCPY3D *p);

/* A memset. The width is in values, the height in rows, the pitch in bytes. */
struct memset_ask {
	CUdeviceptr at;
	size_t pitch, width, height;
	unsigned size; /* bytes of a value: 1, 2 or 4 */
	uint32_t value;
};

/*
 * Checks a memset, whose width and height must not be 0, and makes its task,
 * which the caller owns (memset.c).
 */
CUresult memset_make(const struct memset_ask *a, struct copy_side *ret_side,
		     struct gkf_task **ret_task);

/*
 * Finds the source and destination memory of a copied box, whose width, height
 * and depth must not be 0.
 */
CUresult copy_3d_find(const CUDA_MEMCPY3D *p, struct copy *ret_copy);

/*
 * Finds `size` bytes in the first row of an array, beginning at byte `offset`.
 */
CUresult copy_array_row(CUarray array, size_t offset, size_t size,
			struct copy_side *ret_side);

#endif
