/*
 * memory.h - memory as the driver API knows it: pieces of space.h, and what is
 * noted of some of them.
 */
#ifndef GKF_CUDA_MEMORY_H
#define GKF_CUDA_MEMORY_H

#include "device/space.h"
#include "fronts/cuda/front.h"

/*
 * In the flags of a piece: it belongs to an array or a module, and cuMemFree
 * must not touch it.
 */
#define MEMORY_FIXED 0x80000000u

/* The value of CU_DEVICE_ATTRIBUTE_MAX_PITCH. */
#define MEMORY_MAX_PITCH 0x7fffffffu

/* Counts the call if r is CUDA_ERROR_NOT_SUPPORTED; answers r. */
CUresult memory_counted(enum cuda_row row, CUresult r);

/*
 * The name of an error of gkf_space_alloc(): a device that the process has no
 * more (its MIG instance is gone) is CUDA_ERROR_DEVICE_UNAVAILABLE.
 */
CUresult memory_error(int gk_err);

/* Does somebody want an allocation on the device to find no memory? */
bool memory_fault(const struct cuda_device *d);

/* Memory of a context's device that goes away with the context. */
CUresult memory_alloc(CUcontext ctx, size_t size, size_t align, unsigned flags,
		      CUdeviceptr *ret_address);

/*
 * The piece that begins at an address, is of one of the kinds (bits) and was
 * not freed in the order of a stream.
 */
#define MEMORY_BIT(kind) (1u << (kind))
bool memory_base(CUdeviceptr address, unsigned kinds,
		 struct gkf_extent *ret_extent);

/* May kernels of a context use a piece? As peers or pools have it. */
bool memory_reaches(CUcontext ctx, const struct gkf_extent *e);

/*
 * The same of memory that was mapped (cuMemMap): as cuMemSetAccess has it. The
 * second one: may they write there?
 */
bool memory_writes(CUcontext ctx, const struct gkf_extent *e);

/*
 * What an address belongs to, as programs are told of it: of memory that was
 * mapped the single mapping, whether or not anybody may use it.
 */
bool memory_known(CUdeviceptr address, struct gkf_extent *ret_extent);

/* Waits for all work that may use a piece; answers the sticky error. */
CUresult memory_quiet(CUcontext ctx, const struct gkf_extent *e);

/* Frees a piece and what is noted of it. */
CUresult memory_free(const struct gkf_extent *e);

/* The advice that belongs to a stretch of managed memory. */
struct memory_advice {
	bool read_mostly, accessed_by_host;
	uint64_t accessed_by; /* a bit for each device's number */
	/* CU_MEM_LOCATION_TYPE_INVALID: none. */
	CUmemLocation preferred, prefetched;
};

/* Notes about a piece, by its id; made at the first need. */
struct memory_tag {
	uint64_t id;
	bool leaving;     /* cuMemFreeAsync was called */
	bool sync_memops; /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
	/* Advice by stretches of pages; the last one ends at the piece's end */
	unsigned count;
	struct memory_stretch {
		uint64_t end;
		struct memory_advice advice;
	} * stretch;
};

/*
 * The tag of a piece, locked, until tag_close(); NULL when there is none, or
 * none can be made (make). tag_drop() forgets the notes of a piece that ends.
 */
struct memory_tag *tag_open(const struct gkf_extent *e, bool make);
void tag_close(void);
void tag_drop(const struct gkf_extent *e);

/* Do all synchronous copies to and from the piece wait until they are done? */
bool note_is_sync(const struct gkf_extent *e);

/* Is it to be freed when its stream comes to it? */
bool note_is_leaving(const struct gkf_extent *e);

#endif
