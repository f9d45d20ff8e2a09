/*
 * space.h - the memory that CUDA knows in this process: that of its devices
 * and the host's that it was told of, under one set of addresses (unified
 * addressing).
 *
 * The memory of a device has two fixed views. The public one, whose addresses
 * programs get, is PROT_NONE: a host access faults as on a real GPU. The
 * private one shows the same bytes, of a memfd, to copies and kernels. Both
 * are reserved when the device is opened; nothing is mapped afterwards. What
 * is not touched costs nothing. Managed and host memory have one address for
 * both sides.
 *
 * Any thread may call anything. Addresses are CUdeviceptr values.
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
	GKF_MEMORY_REGISTERED, /* the caller's own, page-locked */
	GKF_MEMORY_PHYSICAL,   /* without addresses; for gkf_space_map() */
	GKF_MEMORY_MAPPED,     /* a stretch that shows such memory */
};

/* The properties of a new piece of memory. */
struct gkf_memory_ask {
	enum gkf_memory_kind kind;
	unsigned device;           /* of the machine; who pays for it */
	uint64_t size;             /* bytes, more than 0 */
	uint64_t align;            /* a power of two up to 2 MiB; 0: 512 */
	void *host;                /* GKF_MEMORY_REGISTERED: where it lies */
	void *owner;               /* of the caller: the context */
	unsigned flags;            /* of the caller */
	struct gkf_mem_pool *pool; /* GKF_MEMORY_DEVICE; NULL: in none */
};

/* One piece, copied out. */
struct gkf_extent {
	uint64_t base, size; /* as asked for */
	enum gkf_memory_kind kind;
	unsigned device, flags;
	void *owner;
	struct gkf_mem_pool *pool; /* NULL: in none */
	void *view;                /* where this process reads `base` */
	uint64_t id;               /* never used twice in a process */
	/* GKF_MEMORY_MAPPED: who may, a bit for each device's number. */
	uint64_t readers, writers;
};

/* A device is to be opened soon: what takes a while is begun. */
GKF_API void gkf_space_prepare(void);

/*
 * Makes a device's memory usable; `slot` of the ledger pays. Again and again
 * is fine: each open wants a close. GK_ERR_NOMEM when not even a small part of
 * the addresses can be reserved (RLIMIT_AS): else the device is smaller, and
 * the log says so. The last close gives back what is charged; what the books
 * do not take even then is the slot's, until gkf_detach().
 */
GKF_API int gkf_space_open(struct gkf_machine *m, unsigned device,
			   unsigned slot);
GKF_API void gkf_space_close(unsigned device);

/*
 * Gives back bytes that the slot of an open device was charged for besides,
 * now or as soon as the books take them.
 */
GKF_API void gkf_space_repay(unsigned device, uint64_t bytes);

/*
 * GK_ERR_NO_SPACE: the device has not that much left (of page-locked memory:
 * the host); GK_ERR_NOT_FOUND: the device is not open; GK_ERR_EXISTS: that is
 * page-locked already, in part or whole. The memory is zero where nobody wrote
 * before in this process. The ledger is charged in whole blocks (2 MiB), as a
 * driver does it; for host memory it is not, for managed memory where it was
 * moved to a device.
 */
GKF_API int gkf_space_alloc(const struct gkf_memory_ask *ask,
			    uint64_t *ret_address);

/* Only the base itself; GK_ERR_NOT_FOUND for anything else. */
GKF_API int gkf_space_free(uint64_t base);

/*
 * The bytes that a piece of that size takes, unless it was asked to be aligned.
 */
GKF_API uint64_t gkf_space_room(uint64_t size);

/*
 * The piece that begins there ends, and another one of the same owner begins,
 * with another id, of a size that takes as much. GK_ERR_NOT_FOUND, and
 * GK_ERR_RANGE for another room.
 */
GKF_API int gkf_space_renew(uint64_t base, uint64_t size);

/*
 * Managed memory moves to a device, or back: the device's ledger is charged
 * for the blocks that it lies in, until they move on or are freed. What has no
 * room there stays on the host; and what a device was given gives way when its
 * memory is asked for.
 */
#define GKF_SPACE_HOST UINT32_MAX
GKF_API void gkf_space_move(uint64_t address, uint64_t size, unsigned device);

/* Frees all that an owner has. */
GKF_API void gkf_space_drop(const void *owner);

/* The piece that an address lies in. False: in none. */
GKF_API bool gkf_space_find(uint64_t address, struct gkf_extent *ret_extent);

/*
 * Where this process reads and writes [address, address + size): NULL unless
 * all of it lies in one piece.
 */
GKF_API void *gkf_space_view(uint64_t address, uint64_t size);

/*
 * The same of memory that gkf_space_map() showed there, which may lie in
 * several stretches; ret_extent is the first one, as long as all of them.
 */
GKF_API bool gkf_space_find_all(uint64_t address, uint64_t size,
				struct gkf_extent *ret_extent);

/* Is it an address that only a device may have, alive or not? */
GKF_API bool gkf_space_is_reserved(uint64_t address);

/*
 * Addresses without memory, and memory (GKF_MEMORY_PHYSICAL) that is shown
 * there, both in whole blocks. All reservations lie in one range, so what is
 * shown side by side can be used as one; neighbours with the same rights are
 * one stretch (GKF_MEMORY_MAPPED), whichever memory they are.
 *
 * reserve: at `near` if that is free, else anywhere. GK_ERR_NOMEM: no addresses
 * left. unreserve: one whole reservation; GK_ERR_INVALID when it is none,
 * GK_ERR_IN_USE when something is shown in it.
 */
GKF_API int gkf_space_reserve(uint64_t size, uint64_t align, uint64_t near,
			      uint64_t *ret_address);
GKF_API int gkf_space_unreserve(uint64_t address, uint64_t size);

struct gkf_mapping {
	uint64_t base, size, id;
	void *tag;                 /* of the caller */
	unsigned device;           /* of the machine, where the memory lies */
	uint64_t readers, writers; /* a bit for each device's number */
};

/*
 * Shows memory that lies at `source` of this process, nobody may use it yet.
 * GK_ERR_INVALID: these addresses are not all reserved; GK_ERR_EXISTS: there
 * is some already; GK_ERR_NOMEM. `id` and rights of the mapping are not read.
 */
GKF_API int gkf_space_map(const struct gkf_mapping *mapping, void *source);

/*
 * Where physical memory that gkf_space_alloc() gave is read by this process.
 */
GKF_API void *gkf_space_source(uint64_t physical);

/* The next three: GK_ERR_INVALID unless these are whole mappings. */
GKF_API int gkf_space_check_mapped(uint64_t address, uint64_t size);
GKF_API int gkf_space_unmap(uint64_t address, uint64_t size);
/* Devices of a bit in `whose` may from now on what the others say. */
GKF_API int gkf_space_allow(uint64_t address, uint64_t size, uint64_t whose,
			    uint64_t readers, uint64_t writers);

/* The mapping that an address lies in. */
GKF_API bool gkf_space_mapping(uint64_t address,
			       struct gkf_mapping *ret_mapping);

/*
 * A pool keeps blocks charged that are free, for its next pieces: as many as
 * are in use, or its threshold if that is more. GK_ERR_NOT_FOUND: the device
 * is not open. max_size: bytes it may ever have; 0: no bound. A released pool
 * goes away with its last piece.
 */
struct gkf_mem_pool;
struct gkf_mem_pool_usage {
	uint64_t reserved, reserved_high; /* charged, in blocks */
	uint64_t used, used_high;         /* by pieces */
};
GKF_API int gkf_mem_pool_new(unsigned device, uint64_t max_size,
			     struct gkf_mem_pool **ret_pool);
GKF_API void gkf_mem_pool_release(struct gkf_mem_pool *pool);
GKF_API void gkf_mem_pool_keep(struct gkf_mem_pool *pool, uint64_t threshold);

/* Gives back what is free, as long as it has more than `keep` bytes. */
GKF_API void gkf_mem_pool_trim(struct gkf_mem_pool *pool, uint64_t keep);
GKF_API void gkf_mem_pool_read(struct gkf_mem_pool *pool,
			       struct gkf_mem_pool_usage *ret_usage);

/* The highest values are from now on those of now. */
GKF_API void gkf_mem_pool_reset(struct gkf_mem_pool *pool, bool reserved,
				bool used);

/* After fork(), in the child: forgets what the parent had. */
GKF_API void gkf_space_forget(void);

#endif
