/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_host_test.c - checks the host memory that device memory takes, and
 * hosts that have little.
 */
#include "device/space_fixture.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/store/process/books.h"
#include "machine/store/process/ledger.h"

#include <sys/resource.h>

static void what_is_freed_goes_back_to_the_host(void **state)
{
	uint64_t before = resident(), at, pieces[200];

	(void)state;
	skip_sanitized(false);
	at = alloc(0, 256 * MIB);
	memset(gkf_space_view(at, 256 * MIB), 1, 256 * MIB);
	assert_true(resident() >= before + 250 * MIB);
	assert_int_equal(gkf_space_free(at), 0);
	assert_true(resident() < before + 20 * MIB);
	for (unsigned i = 0; i < 200; i++) {
		pieces[i] = alloc(0, 4 * MIB);
		memset(gkf_space_view(pieces[i], 4 * MIB), 1, 4 * MIB);
	}
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(gkf_space_free(pieces[i]), 0);
	assert_true(resident() < before + 300 * MIB);
}

/* Also when pieces of theirs outlive them. */
static void released_pools_leave_nothing(void **state)
{
	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_DEVICE, .size = 100};
	uint64_t before = resident(), at;

	(void)state;
	skip_sanitized(true);
	for (unsigned i = 0; i < 10000; i++) {
		assert_int_equal(gkf_mem_pool_new(0, 0, &ask.pool), 0);
		assert_int_equal(gkf_space_alloc(&ask, &at), 0);
		gkf_mem_pool_release(ask.pool);
		assert_int_equal(gkf_space_free(at), 0);
	}
	assert_true(resident() < before + 20 * MIB);
}

static void large_devices_cost_nothing_until_touched(void **state)
{
	struct gkf_profile profiles[8];
	struct fixture big;
	uint64_t before, at[8];
	unsigned slot;

	(void)state;
	skip_sanitized(false);
	for (unsigned i = 0; i < 8; i++) {
		profiles[i] = gkf_profile_default;
		profiles[i].memory_mib = 192 * 1024;
	}
	gkf_space_close(0);
	gkf_space_close(1);
	fixture_open_of(&big, profiles, 8);
	before = resident();
	for (unsigned i = 0; i < 8; i++) {
		struct gkf_memory_ask ask = {.device = i, .size = 180 * GIB};

		assert_int_equal(gkf_attach(big.m, i, GKF_COMPUTE, NULL, &slot),
				 0);
		assert_int_equal(gkf_space_open(big.m, i, slot), 0);
		assert_int_equal(gkf_space_alloc(&ask, &at[i]), 0);
		*(char *)gkf_space_view(at[i] + 179 * GIB, 1) = 1;
	}
	assert_true(resident() < before + 64 * MIB);
	for (unsigned i = 0; i < 8; i++)
		gkf_space_close(i);
	fixture_close(&big);
	open_devices();
}

/*
 * A program whose address space is limited has a smaller device. The first
 * test, because the address space must still be small.
 */
static void without_addresses_a_device_is_smaller(void **state)
{
	struct rlimit limit = {.rlim_cur = 8 * GIB, .rlim_max = 8 * GIB};
	int status;
	pid_t pid;

	(void)state;
	skip_sanitized(true);
	pid = fork();
	if (!pid) {
		uint64_t at;
		unsigned slot;
		bool ok;

		ok = !setrlimit(RLIMIT_AS, &limit) &&
		     !gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &slot) &&
		     !gkf_space_open(fx.m, 0, slot) &&
		     !try_alloc(GKF_MEMORY_DEVICE, 0, 100 * MIB, &at) &&
		     try_alloc(GKF_MEMORY_DEVICE, 0, 40 * GIB, &at) ==
			 GK_ERR_NO_SPACE &&
		     !gkf_space_free(at);
		_exit(!ok);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	gkf_reap(fx.m, true);
}

/* A program under `ulimit -f` must not die because of large files. */
static void a_bound_on_files_bounds_no_device(void **state)
{
	struct rlimit limit = {.rlim_cur = MIB, .rlim_max = MIB};
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		uint64_t at;
		unsigned slot;
		char *view;

		if (setrlimit(RLIMIT_FSIZE, &limit) ||
		    gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &slot) ||
		    gkf_space_open(fx.m, 0, slot) ||
		    try_alloc(GKF_MEMORY_DEVICE, 0, 100 * MIB, &at))
			_exit(1);
		view = gkf_space_view(at, 100 * MIB);
		memset(view, 1, 100 * MIB);
		_exit(gkf_space_free(at) || view[5]);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	gkf_reap(fx.m, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		without_addresses_a_device_is_smaller, setup_closed, teardown),
	    cmocka_unit_test_setup_teardown(a_bound_on_files_bounds_no_device,
					    setup_closed, teardown),
	    SPACE_TEST(what_is_freed_goes_back_to_the_host),
	    SPACE_TEST(released_pools_leave_nothing),
	    SPACE_TEST(large_devices_cost_nothing_until_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
