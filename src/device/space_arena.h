/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_arena.h - an arena: a range of addresses from which pieces are
 * allocated, either of a device's memory, of managed memory or of page-locked
 * host memory. It is divided into blocks of 2 MiB, the size in which drivers
 * charge memory. A block in use belongs to a pool. Pieces of up to 1 MiB share
 * blocks, in units of 512 bytes (the alignment of cudaMalloc()); larger pieces
 * have whole blocks.
 *
 * Touched pages are memory of the host but in no file system, because /dev/shm
 * may be full. If a program touches more than the host or its cgroup has, the
 * kernel kills it, as with any other memory.
 */
#ifndef GKF_SPACE_ARENA_H
#define GKF_SPACE_ARENA_H

#include "device/space_fit.h"
#include "device/space_piece.h"

#include <stdatomic.h>
#include <pthread.h>

#define BLOCK_SIZE  (2ULL << 20)
#define UNIT_SIZE   512ULL /* sizes of small pieces are multiples of this */
#define BLOCK_UNITS (BLOCK_SIZE / UNIT_SIZE)
#define SMALL_MAX   (1ULL << 20) /* larger pieces have blocks of their own */

/*
 * Maximum bytes of freed memory whose pages an arena keeps, and the maximum
 * size of a piece whose pages are kept.
 */
#define KEPT_MAX   (256ULL << 20)
#define KEPT_PIECE (64ULL << 20)

/* A block shared by small pieces. The struct is never freed. */
struct shared_block {
	/* one bit for each word of `starts` that is not 0 */
	_Atomic uint64_t words;
	/* one bit for each unit at which a live piece starts */
	_Atomic uint64_t starts[BLOCK_UNITS / 64];
	/* for each unit: the number of the piece that starts there */
	_Atomic uint32_t piece[BLOCK_UNITS];
	struct gkf_mem_pool *pool;
	uint32_t block;
	uint32_t next_free; /* number of the next free shared_block */
	struct fit_note note[BLOCK_UNITS];
};

struct gkf_mem_pool {
	struct arena *arena;
	/* next pool of the arena; arena.pool is first */
	struct gkf_mem_pool *next;
	struct fit small; /* allocates units in the pool's shared blocks */
	uint64_t max, threshold;
	uint64_t blocks; /* bytes of the pool's blocks that are in use */
	struct gkf_mem_pool_usage usage;
	uint64_t owed; /* part of the reserve that must be refunded */
	uint64_t pieces;
	bool released;
};

struct share_row;
struct share_piece;

struct arena {
	uint64_t base, size, want;
	unsigned char *view; /* base + i is accessed at view + i */
	enum gkf_memory_kind kind;
	unsigned device;
	unsigned opens; /* written under space.lock */
	/* the machine whose books are charged; NULL: nothing is charged */
	struct gkf_machine *machine;
	unsigned slot;
	pthread_mutex_t lock;
	struct pieces pieces;
	/*
	 * For each block: 0 if free; piece << 1 or, for a shared block, its
	 * number << 1 | 1.
	 */
	_Atomic uint32_t *block;
	unsigned char *dirty; /* for each block: whether it may have pages */
	uint64_t kept;        /* bytes of free blocks that are dirty */
	struct fit blocks;
	/* indexed by number; the first number is 1 */
	struct shared_block **shared;
	/* pages of notes about the units of shared blocks; page 0 is unused */
	struct fit_note **note;
	uint32_t shared_count, first_shared;
	struct gkf_mem_pool pool; /* for pieces that belong to no other pool */
	_Atomic bool owes;        /* a refund failed and is still due */
	/* For memory shared with other processes (share.c). */
	int file;                    /* the keeper's descriptor; -1: none */
	uint64_t inode, host_device; /* identify the file */
	/* bytes of shared pieces that belong to pools */
	uint64_t pooled;
	struct share_row *rows;
	uint32_t next_row; /* where the search for a free row starts */
	struct share_piece *piece;
	_Atomic uint32_t piece_count;
};

/*
 * Creates an arena over `want` bytes (a power of two) or, if there are not
 * enough addresses, over as many as possible; NULL if not even a small part is
 * possible.
 */
struct arena *arena_new(enum gkf_memory_kind kind, uint64_t want);

/* Initialises a pool that has no pieces. */
void pool_init(struct gkf_mem_pool *pool, struct arena *arena);

/*
 * Charge the books for a pool's blocks, and refund the charges. The caller
 * holds the arena's lock. If bytes cannot be refunded because a stopped process
 * holds the lock of the books, they stay charged and are counted in pool->owed.
 * The next charge, repayment or trim that finds the books free refunds them.
 *
 * pool_charge() charges for `bytes` more bytes of blocks; it fails with
 * GK_ERR_NO_SPACE or an error of gkf_books_charge(). pool_repay() is called
 * when blocks have become free; it keeps as many bytes charged as the threshold
 * allows. pool_trim() leaves at most `keep` bytes in reserve. pool_owe() adds
 * bytes to the reserve that must be refunded. pool_bequeath() is called when
 * the pool ends: the pool's reserve must then be refunded by the arena's own
 * pool.
 */
int pool_charge(struct gkf_mem_pool *pool, uint64_t bytes);
void pool_repay(struct gkf_mem_pool *pool, uint64_t bytes);
void pool_trim(struct gkf_mem_pool *pool, uint64_t keep);
void pool_owe(struct gkf_mem_pool *pool, uint64_t bytes);
void pool_bequeath(struct gkf_mem_pool *pool);

/*
 * Called when all pieces are free. Bytes that cannot be refunded now are
 * refunded when the slot is freed.
 */
void arena_close(struct arena *a);

/*
 * Whether this result of a refund means that the bytes are still charged
 * (space_resident.c).
 */
bool arena_still_charged(int error);

/*
 * Allocates a piece from a pool; may fail with GK_ERR_NO_SPACE or GK_ERR_NOMEM.
 */
int arena_alloc(struct gkf_mem_pool *pool, const struct gkf_memory_ask *ask,
		uint64_t *ret_address);

/* Frees the piece that starts at `base`; GK_ERR_NOT_FOUND if none does. */
int arena_free(struct arena *a, uint64_t base);

/*
 * Replaces a piece by a new one in the same space; errors as in
 * gkf_space_renew().
 */
int arena_renew(struct arena *a, uint64_t base, uint64_t size);

/* Finds the piece that contains an address of the arena. */
bool arena_find(const struct arena *a, uint64_t address,
		struct piece_words *ret_words);

/* Returns all pages of an arena to the host; no piece may be live. */
void arena_wipe(struct arena *a);

/* The arena of reserved addresses; created on first use. */
struct arena *reserved_arena(void);
static inline bool is_reserved_arena(const struct arena *a)
{
	return a->kind == GKF_MEMORY_MAPPED;
}
void space_map_forget(void);

/* Returns a new id for a piece, unique in the process. */
uint64_t space_id(void);

/* The arena of a device; NULL if the device was never opened. */
struct arena *device_arena(unsigned device);

/*
 * Managed memory on devices. resident_move() moves memory to a device, or to
 * the host (NULL). resident_free() is called when blocks of managed memory are
 * free again. resident_evict() moves up to `bytes` off a device; it returns
 * false if the device has no more free memory than before.
 */
void resident_move(const struct arena *managed, uint64_t address, uint64_t size,
		   const struct arena *device);
void resident_free(uint32_t block, uint32_t n);
bool resident_evict(const struct arena *device, uint64_t bytes);
void resident_forget(void);

/*
 * resident_settle() and resident_close() refund, if the books allow it, memory
 * that has left a device but is still charged. After resident_close(), memory
 * that could not be refunded stays charged to the slot.
 */
void resident_settle(const struct arena *device);
void resident_close(const struct arena *device);

/*
 * Host memory registered by the program, at any address; the caller has checked
 * it.
 */
int registered_add(const struct gkf_memory_ask *ask, uint64_t *ret_address);
int registered_remove(uint64_t base);
bool registered_find(uint64_t address, struct piece_words *ret_words);
void registered_drop(const void *owner);
void registered_forget(void);

#endif
