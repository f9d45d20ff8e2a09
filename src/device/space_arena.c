/* SPDX-License-Identifier: Apache-2.0 */
/* space_arena.c - creates arenas, and finds pieces in them by address. */
#include "device/space_arena.h"
#include "base/calls.h"
#include "base/log.h"
#include "device/share_file.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define SMALLEST (64ULL << 20)

static void *map_memory(void *at, uint64_t size, int prot, int flags, int fd)
{
	void *p = mmap(at, size, prot, flags | MAP_NORESERVE, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Allocates a zeroed table, of which only touched pages use memory. */
static void *map_table(uint64_t size)
{
	return map_memory(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

/*
 * Reserves inaccessible addresses that begin at a multiple of the block size.
 */
static void *map_aligned(uint64_t size)
{
	unsigned char *p = map_memory(NULL, size + BLOCK_SIZE, PROT_NONE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1);
	uint64_t before;

	if (!p)
		return NULL;
	before = -(uintptr_t)p & (BLOCK_SIZE - 1);
	if (before)
		munmap(p, before);
	if (before < BLOCK_SIZE)
		munmap(p + before + size, BLOCK_SIZE - before);
	return p + before;
}

/*
 * Creates an unnamed file of this size. Returns -1 if that would exceed
 * RLIMIT_FSIZE and so kill the program; then anonymous memory is used.
 */
static int open_memory_file(uint64_t size)
{
	struct rlimit bound;
	int fd;

	if (getrlimit(RLIMIT_FSIZE, &bound) || bound.rlim_cur < size)
		return -1;
	fd = gk_memfd("gpukit", MFD_CLOEXEC);
	if (fd >= 0 && ftruncate(fd, (off_t)size)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void hide_bytes(void *at, uint64_t size)
{
	madvise(at, size, MADV_DONTFORK);
	madvise(at, size, MADV_DONTDUMP);
}

/*
 * Maps memory at addresses from map_aligned(). Only the mapping refers to the
 * file, so a program may close all its descriptors. A child process does not
 * inherit the mapping, because it must not change its parent's memory.
 */
static bool show_file(void *at, uint64_t size)
{
	int fd = open_memory_file(size);
	bool ok = map_memory(
	    at, size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0), fd);

	if (fd >= 0)
		close(fd);
	if (ok)
		hide_bytes(at, size);
	return ok;
}

/*
 * Maps the memory of an arena. Only memory of devices can be shared with other
 * processes.
 */
static bool show_bytes(struct arena *a)
{
	if (a->kind == GKF_MEMORY_DEVICE)
		a->file = share_file(a->view, a->size);
	if (a->file < 0)
		return show_file(a->view, a->size);
	hide_bytes(a->view, a->size);
	return true;
}

static bool show_arena(struct arena *a)
{
	void *at = (void *)(uintptr_t)a->base;
	bool ok;

	if (a->kind == GKF_MEMORY_HOST) {
		a->view = at;
		ok = !mprotect(at, a->size, PROT_READ | PROT_WRITE);
	} else if (is_reserved_arena(a)) {
		a->view = map_aligned(a->size);
		return a->view;
	} else {
		a->view =
		    a->kind == GKF_MEMORY_DEVICE ? map_aligned(a->size) : at;
		ok = a->view && show_bytes(a);
	}
	if (ok)
		madvise(a->view, a->size, MADV_HUGEPAGE);
	return ok;
}

static void unmap_range(struct arena *a)
{
	if (a->file >= 0)
		share_file_close(a->file);
	a->file = -1;
	if (a->view && a->view != (void *)(uintptr_t)a->base)
		munmap(a->view, a->size);
	if (a->base)
		munmap((void *)(uintptr_t)a->base, a->size);
	a->view = NULL;
	a->base = 0;
}

static bool map_range(struct arena *a, uint64_t size)
{
	a->size = size;
	a->base = (uintptr_t)map_aligned(size);
	if (a->base && show_arena(a))
		return true;
	unmap_range(a);
	return false;
}

/*
 * If addresses are scarce, takes only a part of them and leaves most of them to
 * the program.
 */
static bool map_what_fits(struct arena *a, uint64_t want)
{
	uint64_t size = want;

	while (!map_range(a, size)) {
		if (size <= SMALLEST)
			return false;
		size /= 2;
	}
	if (size == want)
		return true;
	if (size > SMALLEST) {
		unmap_range(a);
		size = size / 4 > SMALLEST ? size / 4 : SMALLEST;
		if (!map_range(a, size))
			return false;
	}
	gk_log(GK_LOG_WARN,
	       "only %llu of %llu MiB of addresses reserved for CUDA memory "
	       "(RLIMIT_AS?)",
	       (unsigned long long)(size >> 20),
	       (unsigned long long)(want >> 20));
	return true;
}

/* Maps all tables that have an entry for each block, in one mapping. */
static bool map_tables(struct arena *a)
{
	uint64_t blocks = a->size / BLOCK_SIZE;
	uint64_t pages = (blocks >> FIT_PAGE_SHIFT) + 1;
	uint64_t each = sizeof(*a->block) + sizeof(*a->dirty) +
			sizeof(*a->shared) + sizeof(*a->note) +
			sizeof(struct fit_note);
	struct fit_note *notes = map_table(
	    (blocks + 1) * each + pages * sizeof(*a->blocks.page) + 64);
	uint32_t first, length, *block;

	if (!notes)
		return false;
	a->note = (struct fit_note **)(notes + blocks + 1);
	a->shared = (struct shared_block **)(a->note + blocks + 1);
	a->blocks.page = (struct fit_note **)(a->shared + blocks + 1);
	block = (uint32_t *)(a->blocks.page + pages);
	a->block = (_Atomic uint32_t *)block;
	a->dirty = (unsigned char *)(block + blocks + 1);
	for (uint64_t i = 0; i < pages; i++)
		a->blocks.page[i] = notes + (i << FIT_PAGE_SHIFT);
	a->blocks.units = (uint32_t)blocks;
	fit_give(&a->blocks, 0, (uint32_t)blocks, &first, &length);
	return true;
}

void pool_init(struct gkf_mem_pool *pool, struct arena *arena)
{
	pool->arena = arena;
	pool->small.page = arena->note;
	pool->small.units = UINT32_MAX;
	pool->small.apart = BLOCK_UNITS;
}

struct arena *arena_new(enum gkf_memory_kind kind, uint64_t want)
{
	struct arena *a = map_table(sizeof(*a));

	if (!a)
		return NULL;
	a->kind = kind;
	a->want = want;
	a->file = -1;
	if (map_what_fits(a, want)) {
		if (map_tables(a)) {
			pthread_mutex_init(&a->lock, NULL);
			pool_init(&a->pool, a);
			return a;
		}
		unmap_range(a);
	}
	munmap(a, sizeof(*a));
	return NULL;
}

void arena_wipe(struct arena *a)
{
	uint64_t blocks = a->size / BLOCK_SIZE;

	pthread_mutex_lock(&a->lock);
	madvise(a->view, a->size,
		a->kind == GKF_MEMORY_HOST ? MADV_DONTNEED : MADV_REMOVE);
	memset(a->dirty, 0, blocks);
	a->kept = 0;
	pthread_mutex_unlock(&a->lock);
}

/*
 * Returns the number of the last live piece in a shared block that starts at or
 * before a unit. Other threads may change other pieces of the block at the same
 * time, but not the piece returned.
 */
static uint32_t find_shared(const struct shared_block *s, unsigned unit)
{
	unsigned word = unit / 64;
	uint64_t bits =
	    atomic_load_explicit(&s->starts[word], memory_order_acquire) &
	    (~0ULL >> (63 - unit % 64));
	uint64_t words;

	if (!bits) {
		words = atomic_load_explicit(&s->words, memory_order_acquire) &
			((1ULL << word) - 1);
		if (!words)
			return 0;
		word = 63 - (unsigned)__builtin_clzll(words);
		bits = atomic_load_explicit(&s->starts[word],
					    memory_order_acquire);
		if (!bits)
			return 0;
	}
	unit = word * 64 + 63 - (unsigned)__builtin_clzll(bits);
	return atomic_load_explicit(&s->piece[unit], memory_order_acquire);
}

bool arena_find(const struct arena *a, uint64_t address,
		struct piece_words *ret_words)
{
	uint64_t offset = address - a->base;
	uint32_t entry = atomic_load_explicit(&a->block[offset / BLOCK_SIZE],
					      memory_order_acquire);
	uint32_t piece = entry >> 1;

	if (entry & 1)
		piece = find_shared(
		    __atomic_load_n(&a->shared[entry >> 1], __ATOMIC_ACQUIRE),
		    (unsigned)(offset % BLOCK_SIZE / UNIT_SIZE));
	return piece_read(&a->pieces, piece, ret_words) &&
	       address - ret_words->base < ret_words->size;
}
