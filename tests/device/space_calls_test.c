/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_calls_test.c - checks the calls of space.h: what they refuse, and what
 * they leave unchanged.
 */
#include "device/space_fixture.h"
#include "device/no_memory.h"
#include "device/space_arena.h"
#include "machine/file/file.h"
#include "machine/file/profile.h"

#include <stdatomic.h>

/* Checks that it is refused and the address is untouched. */
static void refuses(const struct gkf_memory_ask *ask, int error)
{
	uint64_t address = 4711;

	assert_int_equal(gkf_space_alloc(ask, &address), error);
	assert_int_equal(address, 4711);
}

static void what_is_asked_for_must_make_sense(void **state)
{
	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_DEVICE};
	uint64_t address;

	(void)state;
	refuses(&ask, GK_ERR_INVALID);
	ask.size = 1;
	ask.align = 3;
	refuses(&ask, GK_ERR_INVALID);
	ask.align = 2 * BLOCK;
	refuses(&ask, GK_ERR_INVALID);
	ask.align = BLOCK;
	assert_int_equal(gkf_space_alloc(&ask, &address), 0);
	assert_int_equal(address % BLOCK, 0);
	assert_int_equal(gkf_space_free(address), 0);
	ask.align = 1;
	assert_int_equal(gkf_space_alloc(&ask, &address), 0);
	assert_int_equal(gkf_space_free(address), 0);
	ask.device = 2;
	refuses(&ask, GK_ERR_NOT_FOUND);
	ask.device = GKF_DEVICES_MAX;
	refuses(&ask, GK_ERR_NOT_FOUND);
	ask.device = UINT32_MAX;
	refuses(&ask, GK_ERR_NOT_FOUND);
}

static void a_device_that_is_not_there_is_refused(void **state)
{
	struct gkf_mem_pool *pool = (struct gkf_mem_pool *)&state;

	(void)state;
	assert_int_equal(gkf_space_open(fx.m, 2, 0), GK_ERR_RANGE);
	assert_int_equal(gkf_space_open(fx.m, UINT32_MAX, 0), GK_ERR_RANGE);
	gkf_space_close(2);
	gkf_space_close(GKF_DEVICES_MAX);
	gkf_space_close(UINT32_MAX);
	gkf_space_repay(2, 5);
	gkf_space_repay(GKF_DEVICES_MAX, 5);
	assert_int_equal(gkf_mem_pool_new(2, 0, &pool), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mem_pool_new(GKF_DEVICES_MAX, 0, &pool),
			 GK_ERR_NOT_FOUND);
	mappings_left = 0;
	assert_int_equal(gkf_mem_pool_new(0, 0, &pool), GK_ERR_NOMEM);
	mappings_left = UINT_MAX;
	assert_ptr_equal(pool, &state);
}

/* Each open needs a close; the first one's slot is charged. */
static void a_device_is_open_until_its_last_close(void **state)
{
	uint64_t at = alloc(0, 1);
	unsigned other;

	(void)state;
	assert_int_equal(gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &other), 0);
	assert_int_equal(gkf_space_open(fx.m, 0, other), 0);
	alloc(0, BLOCK);
	assert_int_equal(atomic_load(&fx.file->slot[slots[0]].bytes),
			 2 * BLOCK);
	gkf_space_close(0);
	assert_non_null(gkf_space_view(at, 1));
	assert_int_equal(gkf_held_bytes(fx.m, 0), 2 * BLOCK);
	gkf_space_close(0);
	assert_null(gkf_space_view(at, 1));
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
	assert_int_equal(try_alloc(GKF_MEMORY_DEVICE, 0, 1, &at),
			 GK_ERR_NOT_FOUND);
	assert_true(gkf_space_is_reserved(at));
	gkf_space_close(0); /* it is closed */
	/* The earlier addresses are reused, and the new opener is charged. */
	assert_int_equal(gkf_space_open(fx.m, 0, other), 0);
	assert_int_equal(alloc(0, 1), at);
	assert_int_equal(atomic_load(&fx.file->slot[other].bytes), BLOCK);
}

static void only_addresses_of_devices_are_reserved(void **state)
{
	uint64_t at = alloc(1, 1), managed, host;
	struct gkf_extent e;

	(void)state;
	assert_int_equal(try_alloc(GKF_MEMORY_MANAGED, 0, 1, &managed), 0);
	assert_int_equal(try_alloc(GKF_MEMORY_HOST, 0, 1, &host), 0);
	assert_true(gkf_space_is_reserved(at));
	assert_true(gkf_space_is_reserved(at + GIB));
	assert_false(gkf_space_is_reserved(managed));
	assert_false(gkf_space_is_reserved(host));
	assert_false(gkf_space_is_reserved((uintptr_t)&e));
	assert_true(gkf_space_find(host, &e));
	assert_int_equal(e.kind, GKF_MEMORY_HOST);
	assert_ptr_equal(e.view, (void *)(uintptr_t)host);
	assert_false(gkf_space_find((uintptr_t)&e, &e));
	assert_int_equal(gkf_space_renew((uintptr_t)&e, 1), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_space_renew(at, 512), 0);
	assert_true(gkf_space_find(at + 511, &e));
	assert_int_equal(e.size, 512);
	gkf_space_drop(&fx);
}

/* The addresses of a device of 16 GiB, in a machine of this many. */
static uint64_t addresses_among(unsigned count)
{
	struct gkf_profile profiles[32];
	struct fixture machine;
	uint64_t size;

	for (unsigned i = 0; i < count; i++) {
		profiles[i] = gkf_profile_default;
		profiles[i].memory_mib = 16384;
	}
	fixture_open_of(&machine, profiles, count);
	assert_int_equal(gkf_space_open(machine.m, 0, 0), 0);
	size = device_arena(0)->size;
	gkf_space_close(0);
	fixture_close(&machine);
	return size;
}

/* Four times its memory, but twice in a machine of many devices. */
static void a_device_has_more_addresses_than_memory(void **state)
{
	(void)state;
	gkf_space_close(0);
	assert_true(addresses_among(1) == 64 * GIB);
	assert_true(addresses_among(16) == 64 * GIB);
	assert_true(addresses_among(17) == 32 * GIB);
	assert_int_equal(gkf_space_open(fx.m, 0, slots[0]), 0);
	alloc(0, 1);
	assert_int_equal(gkf_held_bytes(fx.m, 0), BLOCK);
	gkf_space_drop(&fx);
}

/* All kinds of pieces of one owner are freed, and no others. */
static void an_owner_drops_all_that_it_has(void **state)
{
	static char own[2];
	struct gkf_memory_ask ask = {.size = 1, .owner = own};
	uint64_t at[8];

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		ask.kind = (enum gkf_memory_kind)(i / 2);
		ask.host = &own[i % 2];
		ask.owner = &own[i % 2];
		assert_int_equal(gkf_space_alloc(&ask, &at[i]), 0);
	}
	gkf_space_drop(&own[1]);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(gkf_space_view(at[i], 1) != NULL, i % 2 == 0);
	gkf_space_drop(&own[0]);
	for (unsigned i = 0; i < 8; i++)
		assert_null(gkf_space_view(at[i], 1));
}

/* ---- managed memory ---- */

static uint64_t moved_to(unsigned device)
{
	return atomic_load(&fx.file->slot[slots[device]].managed);
}

/*
 * It moves by whole blocks, from the first byte to the last, between devices.
 */
static void managed_memory_moves_by_blocks(void **state)
{
	uint64_t at;

	(void)state;
	assert_int_equal(try_alloc(GKF_MEMORY_MANAGED, 0, 4 * BLOCK, &at), 0);
	gkf_space_move(at, 1, 0);
	assert_int_equal(moved_to(0), BLOCK);
	gkf_space_move(at + BLOCK - 1, 2, 0);
	assert_int_equal(moved_to(0), 2 * BLOCK);
	gkf_space_move(at + 2 * BLOCK, BLOCK, 0);
	assert_int_equal(moved_to(0), 3 * BLOCK);
	gkf_space_move(at + BLOCK, BLOCK, 0); /* it is there */
	assert_int_equal(moved_to(0), 3 * BLOCK);
	gkf_space_move(at + BLOCK, 3 * BLOCK, 1);
	assert_int_equal(moved_to(0), BLOCK);
	assert_int_equal(moved_to(1), 3 * BLOCK);
	gkf_space_move(at, 2 * BLOCK, GKF_SPACE_HOST);
	assert_int_equal(moved_to(0), 0);
	assert_int_equal(moved_to(1), 2 * BLOCK);
	/* For a device that is not open, it goes back to the host. */
	gkf_space_move(at + 2 * BLOCK, BLOCK, 5);
	assert_int_equal(moved_to(1), BLOCK);
	assert_int_equal(gkf_space_free(at), 0);
	assert_int_equal(moved_to(1), 0);
}

static void what_is_no_managed_memory_moves_nowhere(void **state)
{
	uint64_t at, device = alloc(0, BLOCK), host;

	(void)state;
	assert_int_equal(try_alloc(GKF_MEMORY_MANAGED, 0, 2 * BLOCK, &at), 0);
	assert_int_equal(try_alloc(GKF_MEMORY_HOST, 0, BLOCK, &host), 0);
	gkf_space_move(at, 0, 0);
	gkf_space_move(device, BLOCK, 0);
	gkf_space_move(host, BLOCK, 0);
	gkf_space_move((uintptr_t)&at, BLOCK, 0);
	gkf_space_move(at, UINT64_MAX, 0);
	gkf_space_move(at + BLOCK, 1ULL << 40, 0);
	assert_int_equal(moved_to(0), 0);
	gkf_space_drop(&fx);
}

/* When its device closes it is charged to nobody. */
static void managed_memory_leaves_a_device_that_closes(void **state)
{
	uint64_t at;

	(void)state;
	assert_int_equal(try_alloc(GKF_MEMORY_MANAGED, 0, 3 * BLOCK, &at), 0);
	gkf_space_move(at, 2 * BLOCK, 0);
	gkf_space_move(at + 2 * BLOCK, BLOCK, 1);
	gkf_space_close(0);
	assert_int_equal(moved_to(0), 0);
	assert_int_equal(moved_to(1), BLOCK);
	assert_int_equal(gkf_space_open(fx.m, 0, slots[0]), 0);
	gkf_space_move(at, 3 * BLOCK, 0);
	assert_int_equal(moved_to(0), 3 * BLOCK);
	assert_int_equal(moved_to(1), 0);
	gkf_space_drop(&fx);
}

/* ---- a host without memory; comes first ---- */

static void without_memory_there_are_no_arenas(void **state)
{
	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_HOST, .size = 1};
	uint64_t at;

	(void)state;
	mappings_left = 0;
	refuses(&ask, GK_ERR_NOMEM);
	ask.kind = GKF_MEMORY_MANAGED;
	refuses(&ask, GK_ERR_NOMEM);
	assert_int_equal(gkf_space_open(fx.m, 0, 0), GK_ERR_NOMEM);
	mappings_left = UINT_MAX;
	assert_null(device_arena(0));
	open_devices();
	assert_int_equal(gkf_space_alloc(&ask, &at), 0);
	assert_int_equal(gkf_space_free(at), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(without_memory_there_are_no_arenas,
					    setup_closed, teardown),
	    SPACE_TEST(what_is_asked_for_must_make_sense),
	    SPACE_TEST(a_device_that_is_not_there_is_refused),
	    SPACE_TEST(a_device_is_open_until_its_last_close),
	    SPACE_TEST(only_addresses_of_devices_are_reserved),
	    SPACE_TEST(a_device_has_more_addresses_than_memory),
	    SPACE_TEST(an_owner_drops_all_that_it_has),
	    SPACE_TEST(managed_memory_moves_by_blocks),
	    SPACE_TEST(what_is_no_managed_memory_moves_nowhere),
	    SPACE_TEST(managed_memory_leaves_a_device_that_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
