/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space.h - all memory that CUDA knows in this process, in one address space
 * (unified addressing): memory of the devices, and host memory that CUDA has
 * allocated or registered.
 *
 * A device's memory has two fixed views, in which the same bytes of a memfd
 * appear. Programs get addresses of the public view, which is PROT_NONE: an
 * access by the host faults, as on a real GPU. Copies and kernels use the
 * private view. Both views are reserved when the device is opened; nothing is
 * mapped afterwards. Untouched pages cost nothing. Managed and host memory have
 * one address for both sides. Memory is charged to this process's slot in the
 * device's books, the record in the machine file of who holds how much
 * (machine/store/process/books.h).
 *
 * Any thread may call any function. Addresses are CUdeviceptr values.
 */
#ifndef GKF_SPACE_H
#define GKF_SPACE_H

#include "base/export.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;

enum gkf_memory_kind {
	GKF_MEMORY_DEVICE,
	GKF_MEMORY_MANAGED,    /* host and device use the same address */
	GKF_MEMORY_HOST,       /* page-locked, allocated here */
	GKF_MEMORY_REGISTERED, /* memory of the program, page-locked */
	GKF_MEMORY_PHYSICAL,   /* has no address until gkf_space_map() */
	/* a stretch of addresses mapped to physical memory */
	GKF_MEMORY_MAPPED,
};

/* The properties of a new piece of memory. */
struct gkf_memory_ask {
	enum gkf_memory_kind kind;
	/* index in the machine; this device is charged */
	unsigned device;
	uint64_t size;             /* bytes, more than 0 */
	uint64_t align;            /* a power of two up to 2 MiB; 0 means 512 */
	void *host;                /* where registered memory begins */
	void *owner;               /* the caller's context */
	unsigned flags;            /* chosen by the caller */
	struct gkf_mem_pool *pool; /* for GKF_MEMORY_DEVICE; NULL: no pool */
};

/* A copy of the facts about one piece. */
struct gkf_extent {
	uint64_t base, size; /* as requested */
	enum gkf_memory_kind kind;
	unsigned device, flags;
	void *owner;
	struct gkf_mem_pool *pool; /* NULL: no pool */
	void *view;                /* where this process accesses `base` */
	uint64_t id;               /* never reused in a process */
	/* GKF_MEMORY_MAPPED: the devices that have access, one bit each. */
	uint64_t readers, writers;
};

/* Begins the slow part of opening a device; call it early. */
GKF_API void gkf_space_prepare(void);

/*
 * Makes a device's memory usable. `slot` is this process's slot on the device;
 * allocations are charged to it. May be called repeatedly; each call needs a
 * gkf_space_close(). If not all addresses can be reserved (RLIMIT_AS), the
 * device has less memory, and the log says so; GK_ERR_NOMEM if not even a small
 * part can be reserved. The last close refunds all charged bytes; those that
 * cannot be refunded even then stay charged to the slot until gkf_detach().
 */
GKF_API int gkf_space_open(struct gkf_machine *m, unsigned device,
			   unsigned slot);
GKF_API void gkf_space_close(unsigned device);

/*
 * Refunds further bytes that were charged to an open device's slot, now or as
 * soon as the books can be changed.
 */
GKF_API void gkf_space_repay(unsigned device, uint64_t bytes);

/*
 * Allocates a piece. Memory is zero unless this process has written to it
 * before.
 *
 * Memory is charged in whole blocks (2 MiB), as real drivers do. Host memory is
 * not charged, and managed memory only while it is on a device.
 *
 * GK_ERR_NO_SPACE: the device (for page-locked memory: the host) does not have
 * that much left; GK_ERR_NOT_FOUND: the device is not open; GK_ERR_EXISTS: the
 * range is page-locked already, wholly or in part.
 */
GKF_API int gkf_space_alloc(const struct gkf_memory_ask *ask,
			    uint64_t *ret_address);

/* Frees the piece that starts at `base`; GK_ERR_NOT_FOUND if none does. */
GKF_API int gkf_space_free(uint64_t base);

/*
 * The number of bytes that a piece of this size occupies at the default
 * alignment.
 */
GKF_API uint64_t gkf_space_room(uint64_t size);

/*
 * Replaces the piece at `base` by a new piece of the same owner, with a new id
 * and another size that occupies the same space. GK_ERR_NOT_FOUND: there is no
 * such piece; GK_ERR_RANGE: the size would occupy more or less.
 */
GKF_API int gkf_space_renew(uint64_t base, uint64_t size);

/*
 * Moves managed memory to a device or back to the host. The device is charged
 * for all blocks of the range until they move again or are freed. Blocks that
 * do not fit stay on the host. Blocks on a device leave it when the device
 * needs the memory.
 */
#define GKF_SPACE_HOST UINT32_MAX
GKF_API void gkf_space_move(uint64_t address, uint64_t size, unsigned device);

/* Frees all pieces of an owner. */
GKF_API void gkf_space_drop(const void *owner);

/* Finds the piece that contains an address; false: none does. */
GKF_API bool gkf_space_find(uint64_t address, struct gkf_extent *ret_extent);

/*
 * Returns where this process accesses [address, address + size); NULL unless
 * the range is within one piece, or within adjacent mapped stretches.
 */
GKF_API void *gkf_space_view(uint64_t address, uint64_t size);

/*
 * Like gkf_space_view(), but returns an extent. If the range spans several
 * adjacent stretches, the extent has the properties of the first and the length
 * of all.
 */
GKF_API bool gkf_space_find_all(uint64_t address, uint64_t size,
				struct gkf_extent *ret_extent);

/* Whether the address is in a range reserved for devices, used or not. */
GKF_API bool gkf_space_is_reserved(uint64_t address);

/*
 * Reserved addresses, and the physical memory (GKF_MEMORY_PHYSICAL) mapped to
 * them, both in whole blocks. All reservations are in one range, so adjacent
 * mappings can be used as one. Adjacent mappings with the same rights form one
 * stretch (GKF_MEMORY_MAPPED), whatever memory is mapped there.
 *
 * gkf_space_reserve() reserves addresses at `near` if these are free, else
 * anywhere; GK_ERR_NOMEM: no addresses are left. gkf_space_unreserve() accepts
 * exactly one reservation, else GK_ERR_INVALID; GK_ERR_IN_USE while something
 * is mapped in it.
 */
GKF_API int gkf_space_reserve(uint64_t size, uint64_t align, uint64_t near,
			      uint64_t *ret_address);
GKF_API int gkf_space_unreserve(uint64_t address, uint64_t size);

struct gkf_mapping {
	uint64_t base, size, id;
	void *tag; /* chosen by the caller */
	/* the device that has the memory; index in the machine */
	unsigned device;
	uint64_t readers, writers; /* one bit per device */
};

/*
 * Maps the memory that this process accesses at `source`; no device has access
 * to the mapping yet. Ignores `id` and the rights in `mapping`. GK_ERR_INVALID:
 * not all of the addresses are reserved; GK_ERR_EXISTS: something is mapped
 * there already; GK_ERR_NOMEM.
 */
GKF_API int gkf_space_map(const struct gkf_mapping *mapping, void *source);

/*
 * Returns where this process accesses physical memory from gkf_space_alloc().
 */
GKF_API void *gkf_space_source(uint64_t physical);

/*
 * The next three functions return GK_ERR_INVALID unless the range consists of
 * whole mappings.
 */
GKF_API int gkf_space_check_mapped(uint64_t address, uint64_t size);
GKF_API int gkf_space_unmap(uint64_t address, uint64_t size);
/*
 * Sets the rights of the devices in `whose` to those in `readers` and
 * `writers`.
 */
GKF_API int gkf_space_allow(uint64_t address, uint64_t size, uint64_t whose,
			    uint64_t readers, uint64_t writers);

/* Finds the mapping that contains an address. */
GKF_API bool gkf_space_mapping(uint64_t address,
			       struct gkf_mapping *ret_mapping);

/*
 * Pools. A pool keeps free blocks charged for its next pieces, up to its
 * threshold or to the bytes in use, whichever is more. GK_ERR_NOT_FOUND: the
 * device is not open. max_size: the maximum size of the pool in bytes; 0: no
 * limit. A released pool is freed with its last piece.
 */
struct gkf_mem_pool;
struct gkf_mem_pool_usage {
	uint64_t reserved, reserved_high; /* bytes charged, in whole blocks */
	uint64_t used, used_high;         /* bytes in pieces */
};
GKF_API int gkf_mem_pool_new(unsigned device, uint64_t max_size,
			     struct gkf_mem_pool **ret_pool);
GKF_API void gkf_mem_pool_release(struct gkf_mem_pool *pool);
GKF_API void gkf_mem_pool_keep(struct gkf_mem_pool *pool, uint64_t threshold);

/* Refunds free blocks until at most `keep` bytes remain. */
GKF_API void gkf_mem_pool_trim(struct gkf_mem_pool *pool, uint64_t keep);
GKF_API void gkf_mem_pool_read(struct gkf_mem_pool *pool,
			       struct gkf_mem_pool_usage *ret_usage);

/* Resets high-water marks to the current values. */
GKF_API void gkf_mem_pool_reset(struct gkf_mem_pool *pool, bool reserved,
				bool used);

/* Called after fork() in the child: forgets the parent's memory. */
GKF_API void gkf_space_forget(void);

#endif
