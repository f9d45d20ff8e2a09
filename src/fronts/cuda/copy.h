/*
 * copy.h - copies: from what a caller describes to bytes of this process, and
 * the rules of when a call returns.
 */
#ifndef GKF_CUDA_COPY_H
#define GKF_CUDA_COPY_H

#include "fronts/cuda/memory.h"
#include "fronts/cuda/stream.h"

/* Where a call puts its work. */
struct way {
	CUcontext ctx;
	CUstream stream;
	bool per_thread;
	bool async; /* it returns as soon as it may */
};

/*
 * Enters a call whose stream may be of any context: copies are not bound to
 * the current device.
 */
CUresult copy_enter(enum cuda_row row, struct way *w);

/* The same for a batch, which the legacy default stream does not take. */
CUresult copy_enter_batch(enum cuda_row row, struct way *w);

/* The kinds of memory that an address may point to. */
enum copy_place {
	COPY_HOST,   /* any of the host's, page-locked or not */
	COPY_DEVICE, /* known to CUDA */
	COPY_ANY,
};

/* One side of a copy: bytes that this process can reach. */
struct copy_side {
	unsigned char *at;
	size_t pitch, slice; /* bytes from row to row, from slice to slice */
	bool device;         /* on a device, or managed */
	bool exact;          /* device memory, of which nobody else reads */
	bool paged;          /* host memory that CUDA does not know */
	bool sync;           /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
	bool at_once;        /* read before the call returns */
	bool read_only;      /* no device may write there */
	/* As the caller named it: an address, or cells of an array. */
	uint64_t address;
	CUarray array;
	size_t x, y, z; /* bytes, rows, slices */
};

struct copy {
	struct copy_side dst, src;
	size_t width, height, depth; /* bytes, rows, slices; more than 0 */
};

/*
 * Finds [address, address + size) for a copy; CUDA_ERROR_INVALID_VALUE when it
 * is not all in one piece, or not where it should be.
 */
CUresult copy_find(uint64_t address, size_t size, enum copy_place place,
		   struct copy_side *ret_side);

/* Bytes in a row from one place to another; size 0 is nothing. */
CUresult copy_bytes(const struct way *w, uint64_t dst,
		    enum copy_place dst_place, uint64_t src,
		    enum copy_place src_place, size_t size);

/*
 * Before and after a copy between contexts, dst and src: both must live, and
 * the work is the current one's. One that names no stream comes between all
 * that these three contexts were given and what they are given from now on.
 */
CUresult copy_peer_begin(const struct way *w, const CUcontext contexts[2]);
void copy_peer_end(const struct way *w, const CUcontext contexts[2]);

/* Does a copy, or puts it into its stream. */
CUresult copy_go(const struct way *w, const struct copy *copy);

/* `run` of work that writes where its device may only read. */
int copy_fault(struct gkf_task *task);

/* The task of a copy that reads and writes when it runs; NULL: no memory. */
struct gkf_task *copy_make(const struct copy *copy);

/* Copies the box that cuMemcpy2D, 3D and their kin describe. */
CUresult copy_3d(const struct way *w, const CUDA_MEMCPY3D *p);

/* Filling memory: sizes and the pitch count values and bytes. */
struct set_ask {
	CUdeviceptr at;
	size_t pitch, width, height;
	unsigned size; /* bytes of a value: 1, 2 or 4 */
	uint32_t value;
};

/*
 * Checks it, neither of whose lengths is 0, and makes its task, the caller's;
 * memset.c.
 */
CUresult set_make(const struct set_ask *a, struct copy_side *ret_side,
		  struct gkf_task **ret_task);

/* Finds the two sides of such a box, none of whose lengths is 0. */
CUresult copy_3d_find(const CUDA_MEMCPY3D *p, struct copy *ret_copy);

/* Finds size bytes of an array's first row, from byte `offset` on. */
CUresult copy_array_row(CUarray array, size_t offset, size_t size,
			struct copy_side *ret_side);

#endif
