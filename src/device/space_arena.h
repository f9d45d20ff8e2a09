/*
 * space_arena.h - a range of addresses that is given out: of a device, of
 * managed memory, of page-locked host memory. Cut in blocks of 2 MiB, which
 * belong to a pool while they are in use; small pieces share a block.
 *
 * What is touched is memory of the host, in no file system: /dev/shm may be
 * full. A program that touches more than the host, or its cgroup, has is ended
 * by the kernel as with any other memory.
 */
#ifndef GKF_SPACE_ARENA_H
#define GKF_SPACE_ARENA_H

#include "device/space_fit.h"
#include "device/space_piece.h"

#include <stdatomic.h>
#include <pthread.h>

#define BLOCK_SIZE  (2ULL << 20)
#define UNIT_SIZE   512ULL /* what small pieces are rounded to */
#define BLOCK_UNITS (BLOCK_SIZE / UNIT_SIZE)
#define SMALL_MAX   (1ULL << 20) /* above it a piece has blocks of its own */

/* Freed memory that the host keeps for an arena, and what is never kept. */
#define KEPT_MAX   (256ULL << 20)
#define KEPT_PIECE (64ULL << 20)

/* A block that small pieces share. Its memory is never given back. */
struct shared_block {
	_Atomic uint64_t words; /* which of `starts` have bits */
	_Atomic uint64_t starts[BLOCK_UNITS / 64]; /* a live piece begins */
	_Atomic uint32_t piece[BLOCK_UNITS];       /* its number */
	struct gkf_mem_pool *pool;
	uint32_t block;
	uint32_t next_free; /* number */
	struct fit_note note[BLOCK_UNITS];
};

struct gkf_mem_pool {
	struct arena *arena;
	struct gkf_mem_pool *next; /* of the arena; its own is the first */
	struct fit small;          /* units of its shared blocks */
	uint64_t max, threshold;
	uint64_t blocks; /* bytes of blocks in use */
	struct gkf_mem_pool_usage usage;
	uint64_t owed; /* of what is in reserve: to be given back */
	uint64_t pieces;
	bool released;
};

struct share_row;
struct share_piece;

struct arena {
	uint64_t base, size, want;
	unsigned char *view; /* base + i is what view + i shows */
	enum gkf_memory_kind kind;
	unsigned device;
	unsigned opens;              /* under the lock of all arenas */
	struct gkf_machine *machine; /* who pays; NULL: nobody */
	unsigned slot;
	pthread_mutex_t lock;
	struct pieces pieces;
	/* For each block: 0 free, piece << 1, or shared block << 1 | 1. */
	_Atomic uint32_t *block;
	unsigned char *dirty; /* for each block: the host may keep pages */
	uint64_t kept;        /* bytes of free blocks that are dirty */
	struct fit blocks;
	struct shared_block **shared; /* by number, from 1 */
	struct fit_note **note;       /* theirs; page 0 is not used */
	uint32_t shared_count, first_shared;
	struct gkf_mem_pool pool; /* what is in no other */
	_Atomic bool owes;        /* the books would not take something back */
	/* What is shared of a device; share.c. */
	int file; /* the keeper's descriptor; -1: none */
	uint64_t inode;
	struct share_row *rows;
	uint32_t next_row; /* to be looked at for a free one */
	struct share_piece *piece;
	_Atomic uint32_t piece_count;
};

/*
 * An arena of a kind over as much of `want` bytes (a power of two) as there
 * are addresses for; NULL when there is not even a small part.
 */
struct arena *arena_new(enum gkf_memory_kind kind, uint64_t want);

/* Sets the words of a pool, before any piece is in it. */
void pool_init(struct gkf_mem_pool *pool, struct arena *arena);

/*
 * Charge pools for blocks and pay back; the arena's lock is held. Bytes that
 * the books would not take back (a stopped process holds them) stay charged,
 * are owed, and are given back with the next charge, repayment or trim that
 * finds the books free.
 *
 * pool_charge(): for more bytes of blocks; GK_ERR_NO_SPACE and what
 * gkf_books_charge says. pool_repay(): they are free; the pool keeps what its
 * threshold says. pool_trim(): no more than `keep` stays in reserve.
 * pool_owe(): it has so much in reserve that is to go. pool_bequeath(): the
 * pool ends; what it owes is the arena's. arena_close(): everything is free;
 * what is owed even now goes with the slot.
 */
int pool_charge(struct gkf_mem_pool *pool, uint64_t bytes);
void pool_repay(struct gkf_mem_pool *pool, uint64_t bytes);
void pool_trim(struct gkf_mem_pool *pool, uint64_t keep);
void pool_owe(struct gkf_mem_pool *pool, uint64_t bytes);
void pool_bequeath(struct gkf_mem_pool *pool);
void arena_close(struct arena *a);

/* Is it charged even now, if giving it back ended like this? */
bool is_still_charged(int error);

/* A piece of `pool`; GK_ERR_NO_SPACE, GK_ERR_NOMEM. */
int arena_alloc(struct gkf_mem_pool *pool, const struct gkf_memory_ask *ask,
		uint64_t *ret_address);

/* The piece that begins at an address; GK_ERR_NOT_FOUND when none does. */
int arena_free(struct arena *a, uint64_t base);

/* The same address with a new piece; GK_ERR_NOT_FOUND, GK_ERR_RANGE. */
int arena_renew(struct arena *a, uint64_t base, uint64_t size);

/* The piece that an address of the arena lies in. */
bool arena_find(const struct arena *a, uint64_t address,
		struct piece_words *ret_words);

/* Nothing is alive in it: the host gets back all of its memory. */
void arena_wipe(struct arena *a);

/* The addresses of reservations, made when they are first needed. */
struct arena *reserved_arena(void);
bool is_reserved_arena(const struct arena *a);
void map_forget(void);

/* A number for a new piece that no other of the process has. */
uint64_t space_id(void);

/* The arena of a device that has been opened. */
struct arena *device_arena(unsigned device);

/*
 * Managed memory that was moved to devices. resident_move(): to a device, or to
 * the host (NULL). resident_free(): the blocks are nobody's any more.
 * resident_evict(): so much leaves a device, or all that is there; false: the
 * device has no more room than before.
 */
void resident_move(const struct arena *managed, uint64_t address, uint64_t size,
		   const struct arena *device);
void resident_free(uint32_t block, uint32_t n);
bool resident_evict(const struct arena *device, uint64_t bytes);
void resident_forget(void);

/*
 * Memory that has left a device and is charged even now is given back, if the
 * books can be had; resident_close() leaves the rest to go with the slot.
 */
void resident_settle(const struct arena *device);
void resident_close(const struct arena *device);

/* Host memory of the program, wherever it lies. */
int registered_add(const struct gkf_memory_ask *ask, uint64_t *ret_address);
int registered_remove(uint64_t base);
bool registered_find(uint64_t address, struct piece_words *ret_words);
void registered_drop(const void *owner);
void registered_forget(void);

#endif
