/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - memory as the driver API knows it: the pieces of space.h, each of
 * which is one allocation. A few pieces have tags.
 */
#ifndef GKF_CUDA_MEMORY_H
#define GKF_CUDA_MEMORY_H

#include "device/space.h"
#include "fronts/cuda/context/front.h"

/*
 * A flag of a piece: cuMemFree() must not free the piece, because it belongs to
 * an array, a module or a graph.
 */
#define MEMORY_FIXED 0x80000000u

/* The value of CU_DEVICE_ATTRIBUTE_MAX_PITCH. */
#define MEMORY_MAX_PITCH 0x7fffffffu

/* Counts a refused call if r is CUDA_ERROR_NOT_SUPPORTED. Returns r. */
CUresult memory_counted(enum cuda_row row, CUresult r);

/*
 * Converts an error of gkf_space_alloc(). The result is
 * CUDA_ERROR_DEVICE_UNAVAILABLE if the process has lost the device because its
 * MIG instance no longer exists.
 */
CUresult memory_error(int gk_err);

/* Whether an injected fault makes this allocation on the device fail. */
bool memory_fault(const struct cuda_device *d);

/*
 * Allocates device memory, which is freed at the latest when the context ends.
 */
CUresult memory_alloc(CUcontext ctx, size_t size, size_t align, unsigned flags,
		      CUdeviceptr *ret_address);

/*
 * Finds the piece that starts at an address, if its kind is among `kinds` (an
 * OR of MEMORY_BIT()) and if it was not passed to cuMemFreeAsync().
 */
#define MEMORY_BIT(kind) (1u << (kind))
bool memory_base(CUdeviceptr address, unsigned kinds,
		 struct gkf_extent *ret_extent);

/*
 * Whether kernels of a context may use a piece. This depends on peer access,
 * pools and cuMemSetAccess().
 */
bool memory_reaches(CUcontext ctx, const struct gkf_extent *e);

/*
 * Whether kernels of a context that may use a piece may also write to it. Only
 * mapped memory (cuMemMap()) can be read-only.
 */
bool memory_writes(CUcontext ctx, const struct gkf_extent *e);

/*
 * Finds what queries report about an address: its piece or, for mapped memory,
 * its mapping, even if no device may access the mapping.
 */
bool memory_known(CUdeviceptr address, struct gkf_extent *ret_extent);

/*
 * Waits for all work that may use a piece; returns the context's sticky error.
 */
CUresult memory_quiet(CUcontext ctx, const struct gkf_extent *e);

/* Frees a piece and its tag. */
CUresult memory_free(const struct gkf_extent *e);

/* The advice that a program gave about a stretch of managed memory. */
struct memory_advice {
	bool read_mostly, accessed_by_host;
	uint64_t accessed_by; /* one bit for each CUdevice */
	/* CU_MEM_LOCATION_TYPE_INVALID: no location. */
	CUmemLocation preferred, prefetched;
};

/* Facts about a piece; only a few pieces have any. */
struct memory_tag {
	uint64_t id;
	bool leaving;     /* cuMemFreeAsync was called */
	bool sync_memops; /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS is set */
	/*
	 * Advice by stretches; the last stretch ends at the end of the piece.
	 */
	unsigned count;
	struct memory_stretch {
		uint64_t end;
		struct memory_advice advice;
	} * stretch;
};

/*
 * tag_open() returns the tag of a piece and locks it until tag_close(). If the
 * piece has no tag, it makes one if `make` is true, else returns NULL. NULL
 * with `make`: out of memory. tag_drop() frees the tag of a piece that is
 * freed.
 */
struct memory_tag *tag_open(const struct gkf_extent *e, bool make);
void tag_close(void);
void tag_drop(const struct gkf_extent *e);

/*
 * Whether synchronous copies to and from the piece always wait (SYNC_MEMOPS).
 */
bool tag_is_sync(const struct gkf_extent *e);

/*
 * Whether the piece was passed to cuMemFreeAsync() in a stream that has not yet
 * reached the free.
 */
bool tag_is_leaving(const struct gkf_extent *e);

#endif
