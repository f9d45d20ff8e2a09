/* SPDX-License-Identifier: Apache-2.0 */
/* cpus_test.c - counts processors on made-up hosts with few and with many. */
#include "unit.h"

#include "device/cpus.h"

#include <string.h>

/* The host: how many processors its kernel's sets have, and the last one that
 * this thread may use. */
static struct {
	size_t set;
	size_t last;
	int error;
} host;

/* Instead of the C library's. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	assert_int_equal(pid, 0);
	errno = host.error ? host.error : EINVAL;
	if (host.error || size * 8 < host.set)
		return -1;
	memset(set, 0, size);
	CPU_SET_S(0, size, set);
	CPU_SET_S(host.last, size, set);
	return 0;
}

static void a_host_of_any_size_is_counted(void **state)
{
	(void)state;
	for (host.set = 64; host.set <= 1 << 16; host.set *= 2) {
		host.last = host.set - 1;
		assert_int_equal(gk_cpu_count(), 2);
	}
}

static void what_cannot_be_counted_is_one(void **state)
{
	(void)state;
	host.set = 64;
	host.error = EPERM;
	assert_int_equal(gk_cpu_count(), 1);
	host.error = 0;
	host.set = (size_t)1 << 30;
	assert_int_equal(gk_cpu_count(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_host_of_any_size_is_counted),
	    cmocka_unit_test(what_cannot_be_counted_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
