/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_registered_test.c - checks registered host memory of the program: its
 * ranges, in any order.
 */
#include "base/err.h"
#include "device/held_locks.h"
#include "device/space.h"
#include "machine/file/numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* It is never accessed, so it can be anywhere. */
#define AT(offset) (0x10000000ULL + (offset))

static int owners[3];

static int drop_all(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		gkf_space_drop(&owners[i]);
	no_lock_is_held();
	return 0;
}

static int add_of(const void *owner, uint64_t base, uint64_t size)
{
	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_REGISTERED,
				     .device = 3,
				     .host = (void *)(uintptr_t)base,
				     .size = size,
				     .owner = (void *)(uintptr_t)owner,
				     .flags = 9};
	uint64_t address = 4711;
	int r = gkf_space_alloc(&ask, &address);

	assert_int_equal(address, r ? 4711 : base);
	return r;
}

static int add(uint64_t base, uint64_t size)
{
	return add_of(&owners[0], base, size);
}

static void lies(uint64_t address, uint64_t base, uint64_t size)
{
	struct gkf_extent e;

	assert_true(gkf_space_find(address, &e));
	assert_int_equal(e.base, base);
	assert_int_equal(e.size, size);
}

static void nothing_lies(uint64_t address)
{
	struct gkf_extent e;

	assert_false(gkf_space_find(address, &e));
}

static void a_range_is_as_it_was_told(void **state)
{
	struct gkf_extent e, other;

	(void)state;
	assert_int_equal(add(AT(100), 50), 0);
	assert_int_equal(add(AT(200), 1), 0);
	assert_true(gkf_space_find(AT(149), &e));
	assert_int_equal(e.kind, GKF_MEMORY_REGISTERED);
	assert_int_equal(e.device, 3);
	assert_int_equal(e.flags, 9);
	assert_ptr_equal(e.owner, &owners[0]);
	assert_ptr_equal(e.view, (void *)(uintptr_t)AT(100));
	assert_null(e.pool);
	assert_true(gkf_space_find(AT(200), &other));
	assert_int_equal(other.id, e.id + 1);
	nothing_lies(AT(99));
	lies(AT(100), AT(100), 50);
	nothing_lies(AT(150));
	nothing_lies(AT(201));
	assert_ptr_equal(gkf_space_view(AT(110), 40),
			 (void *)(uintptr_t)AT(110));
	assert_null(gkf_space_view(AT(110), 41));
	assert_false(gkf_space_is_reserved(AT(110)));
	assert_int_equal(gkf_space_renew(AT(100), 50), GK_ERR_NOT_FOUND);
}

static void ranges_do_not_overlap(void **state)
{
	static const struct {
		uint64_t offset, size;
		int r;
	} rows[] = {
	    {100, 50, GK_ERR_EXISTS},
	    {149, 1, GK_ERR_EXISTS},
	    {149, 9, GK_ERR_EXISTS},
	    {90, 11, GK_ERR_EXISTS},
	    {90, 200, GK_ERR_EXISTS},
	    {120, 5, GK_ERR_EXISTS},
	    {150, 51, GK_ERR_EXISTS},
	    {150, 50, 0},
	    {90, 10, 0},
	    {89, 2, GK_ERR_EXISTS},
	    {250, 1, 0},
	};

	(void)state;
	assert_int_equal(add(AT(200), 50), 0);
	assert_int_equal(add(AT(100), 50), 0);
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(add(AT(rows[i].offset), rows[i].size),
				 rows[i].r);
	lies(AT(99), AT(90), 10);
	lies(AT(100), AT(100), 50);
	lies(AT(199), AT(150), 50);
	lies(AT(200), AT(200), 50);
	lies(AT(250), AT(250), 1);
}

static void what_is_no_range_is_refused(void **state)
{
	(void)state;
	assert_int_equal(add(0, 50), GK_ERR_INVALID);
	assert_int_equal(add(AT(0), 0), GK_ERR_INVALID);
	assert_int_equal(add(UINT64_MAX - 49, 51), GK_ERR_INVALID);
	assert_int_equal(add(UINT64_MAX - 50, 50), 0);
	lies(UINT64_MAX - 1, UINT64_MAX - 50, 50);
	nothing_lies(UINT64_MAX);
	assert_int_equal(gkf_space_free(0), GK_ERR_NOT_FOUND);
}

/* More than the initial room, added and removed in any order. */
static void many_ranges_are_found_and_removed(void **state)
{
	enum { MANY = 200 };

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(add(AT(i * 77 % MANY * 100), 60), 0);
	for (unsigned i = 0; i < MANY; i++) {
		lies(AT(i * 100), AT(i * 100), 60);
		lies(AT(i * 100 + 59), AT(i * 100), 60);
		nothing_lies(AT(i * 100 + 60));
		assert_int_equal(gkf_space_free(AT(i * 100 + 1)),
				 GK_ERR_NOT_FOUND);
	}
	for (unsigned i = 0; i < MANY; i++) {
		unsigned at = i * 33 % MANY * 100;

		assert_int_equal(gkf_space_free(AT(at)), 0);
		nothing_lies(AT(at));
		assert_int_equal(gkf_space_free(AT(at)), GK_ERR_NOT_FOUND);
		for (unsigned k = i + 1; k < MANY; k++)
			lies(AT(k * 33 % MANY * 100), AT(k * 33 % MANY * 100),
			     60);
	}
}

static void an_owner_drops_what_is_its_own(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 12; i++)
		add_of(&owners[i / 2 % 3], AT(i * 10), 10);
	gkf_space_drop(&owners[1]);
	for (unsigned i = 0; i < 12; i++) {
		if (i / 2 % 3 == 1)
			nothing_lies(AT(i * 10));
		else
			lies(AT(i * 10 + 9), AT(i * 10), 10);
	}
	gkf_space_drop(&owners[0]);
	gkf_space_drop(&owners[2]);
	for (unsigned i = 0; i < 12; i++)
		nothing_lies(AT(i * 10));
	assert_int_equal(add(AT(0), 100), 0);
}

static void forget_and_add_again(void)
{
	gkf_space_forget();
	nothing_lies(AT(0));
	assert_int_equal(gkf_space_free(AT(10)), GK_ERR_NOT_FOUND);
	for (unsigned i = 0; i < 130; i++)
		assert_int_equal(add(AT(i * 10), 10), 0);
	lies(AT(1299), AT(1290), 10);
}

static void a_child_has_none_of_them(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	for (unsigned i = 0; i < 70; i++)
		add(AT(i * 10), 10);
	pid = fork();
	if (!pid) {
		forget_and_add_again();
		_exit(17);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 17 << 8);
	lies(AT(699), AT(690), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_teardown(a_range_is_as_it_was_told, drop_all),
	    cmocka_unit_test_teardown(ranges_do_not_overlap, drop_all),
	    cmocka_unit_test_teardown(what_is_no_range_is_refused, drop_all),
	    cmocka_unit_test_teardown(many_ranges_are_found_and_removed,
				      drop_all),
	    cmocka_unit_test_teardown(an_owner_drops_what_is_its_own, drop_all),
	    cmocka_unit_test_teardown(a_child_has_none_of_them, drop_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
