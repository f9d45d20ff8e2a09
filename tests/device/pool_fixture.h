/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_fixture.h - an arena that is charged to nobody, and pools in it.
 */
#ifndef TESTS_POOL_FIXTURE_H
#define TESTS_POOL_FIXTURE_H

#include "base/err.h"
#include "base/units.h"
#include "device/held_locks.h"
#include "device/no_memory.h"
#include "device/space_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define BLOCKS 256 /* of the arena */
#define BLOCK  BLOCK_SIZE

static struct arena *arena;
static int owner; /* an address */

static inline int open_arena(void **state)
{
	(void)state;
	arena = arena_new(GKF_MEMORY_DEVICE, BLOCKS * BLOCK);
	arena->device = 1;
	return 0;
}

static inline int close_arena(void **state)
{
	(void)state;
	munmap(arena->view, arena->size);
	munmap((void *)(uintptr_t)arena->base, arena->size);
	munmap(arena, sizeof *arena);
	no_lock_is_held();
	return 0;
}

/* ---- asking ---- */

static inline int try_in(struct gkf_mem_pool *pool, uint64_t size,
			 uint64_t align, uint64_t *ret_address)
{
	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_DEVICE,
				     .device = 7,
				     .size = size,
				     .align = align,
				     .owner = &owner,
				     .flags = 5};

	return arena_alloc(pool, &ask, ret_address);
}

/* The offset of a new piece in the arena. */
static inline uint64_t put_in(struct gkf_mem_pool *pool, uint64_t size,
			      uint64_t align)
{
	uint64_t address = 0;

	assert_int_equal(try_in(pool, size, align, &address), 0);
	return address - arena->base;
}

static inline uint64_t put(uint64_t size)
{
	return put_in(&arena->pool, size, 0);
}

static inline void drop(uint64_t offset)
{
	assert_int_equal(arena_free(arena, arena->base + offset), 0);
}

/* Checks that it is refused and the address is untouched. */
static inline void refuses(struct gkf_mem_pool *pool, uint64_t size,
			   uint64_t align, int error)
{
	uint64_t address = 4711;

	assert_int_equal(try_in(pool, size, align, &address), error);
	assert_int_equal(address, 4711);
}

static inline struct gkf_mem_pool *new_pool(void)
{
	struct gkf_mem_pool *pool =
	    mmap(NULL, sizeof(*pool), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pool_init(pool, arena);
	pool->next = arena->pool.next;
	arena->pool.next = pool;
	return pool;
}

static inline void uses(struct gkf_mem_pool *pool, uint64_t used,
			uint64_t used_high, uint64_t reserved,
			uint64_t reserved_high)
{
	struct gkf_mem_pool_usage usage;

	gkf_mem_pool_read(pool, &usage);
	assert_int_equal(usage.used, used);
	assert_int_equal(usage.used_high, used_high);
	assert_int_equal(usage.reserved, reserved);
	assert_int_equal(usage.reserved_high, reserved_high);
	assert_int_equal(pool->blocks <= usage.reserved, true);
}

#define POOL_TEST(name)                                                        \
	cmocka_unit_test_setup_teardown(name, open_arena, close_arena)

#endif
