/* SPDX-License-Identifier: Apache-2.0 */
/* host_test.c - checks the host around the GPUs, on made-up trees. */
#include "base/clock.h"
#include "core/read/host.h"
#include "tree.h"

#include <stddef.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

static struct tree tree;

static int setup(void **state)
{
	(void)state;
	tree_make(&tree);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

static struct gk_host look(struct gk_host_before *before)
{
	struct gk_host host;

	memset(&host, 0xee, sizeof host);
	gk_host_read(tree.fd, before, &host);
	gk_host_name(&host);
	return host;
}

static void load_and_memory_are_what_the_files_say(void **state)
{
	struct gk_host_before before = {0};
	struct gk_host host;

	(void)state;
	tree_text(&tree, "loadavg", "0.52 1.005 12.30 2/345 6789\n");
	tree_text(&tree, "meminfo",
		  "MemTotal:       16000000 kB\nMemFree:  1 kB\n"
		  "MemAvailable:    8000000 kB\nSwapCached: 5 kB\n"
		  "SwapTotal:       2000000 kB\nSwapFree:        0 kB\n");
	host = look(&before);
	assert_int_equal(host.load_centi[0].v, 52);
	assert_int_equal(host.load_centi[1].v, 100);
	assert_int_equal(host.load_centi[2].v, 1230);
	assert_int_equal(host.load_centi[2].why, GK_PRESENT);
	assert_int_equal(host.mem_total.v, 16000000LL * 1024);
	assert_int_equal(host.mem_available.v, 8000000LL * 1024);
	assert_int_equal(host.swap_total.v, 2000000LL * 1024);
	assert_int_equal(host.swap_free.v, 0);
	assert_int_equal(host.swap_free.why, GK_PRESENT);
	assert_true(host.cpus >= 1);
	assert_true(host.boot_ns > 0 && host.boot_ns <= gk_boot_ns());
	assert_true(strlen(host.hostname) < sizeof host.hostname);
}

static void missing_files_are_absent_values(void **state)
{
	struct gk_host_before before = {0};
	struct gk_host host = look(&before);

	(void)state;
	assert_int_equal(host.cpu_centipercent.why, GK_ABSENT_HIDDEN);
	for (int i = 0; i < 3; i++)
		assert_int_equal(host.load_centi[i].why, GK_ABSENT_HIDDEN);
	assert_int_equal(host.mem_total.why, GK_ABSENT_HIDDEN);
	assert_int_equal(host.mem_available.why, GK_ABSENT_HIDDEN);
	assert_int_equal(host.swap_total.why, GK_ABSENT_HIDDEN);
	assert_int_equal(host.swap_free.why, GK_ABSENT_HIDDEN);
}

static void missing_fields_are_absent_values(void **state)
{
	struct gk_host_before before = {0};
	struct gk_host host;

	(void)state;
	tree_text(&tree, "loadavg", "1.50");
	tree_text(&tree, "meminfo", "MemTotal: 10 kB\nSwapTotal:\n");
	tree_text(&tree, "stat", "intr 1 2 3\n");
	host = look(&before);
	assert_int_equal(host.load_centi[0].v, 150);
	assert_int_equal(host.load_centi[1].why, GK_ABSENT_HIDDEN);
	assert_int_equal(host.load_centi[2].why, GK_ABSENT_HIDDEN);
	assert_int_equal(host.mem_total.v, 10240);
	assert_int_equal(host.mem_available.why, GK_ABSENT_HIDDEN);
	assert_int_equal(host.swap_total.why, GK_ABSENT_HIDDEN);
	assert_int_equal(host.cpu_centipercent.why, GK_ABSENT_HIDDEN);
	tree_text(&tree, "loadavg", "junk\n");
	tree_text(&tree, "meminfo", "");
	host = look(&before);
	assert_int_equal(host.load_centi[0].why, GK_ABSENT_HIDDEN);
	assert_int_equal(host.mem_total.why, GK_ABSENT_HIDDEN);
}

static const struct {
	const char *line;
	enum gk_absence why;
	int64_t centipercent;
} cpu[] = {
    /* user nice system idle iowait irq softirq steal guest guest_nice */
    {"cpu  100 0 100 800 0 0 0 0 0 0\n", GK_ABSENT_ONE_SNAPSHOT, 0},
    {"cpu  150 0 100 850 0 0 0 0 0 0\n", GK_PRESENT, 5000},
    {"cpu  150 0 100 950 0 0 0 0 0 0\n", GK_PRESENT, 0},
    {"cpu  150 0 100 950 100 0 0 0 0 0\n", GK_PRESENT, 0},
    {"cpu  160 10 110 950 100 10 10 50 0 0\n", GK_PRESENT, 10000},
    {"cpu  161 10 110 952 100 10 10 50 90 90\n", GK_PRESENT, 3333},
    {"cpu  161 10 110 952 100 10 10 50 0 0\n", GK_ABSENT_ONE_SNAPSHOT, 0},
    {"cpu  161 10 110 900 100 10 10 50 0 0\n", GK_ABSENT_ONE_SNAPSHOT, 0},
    /* Old kernels report four numbers. */
    {"cpu  300 10 110 1000\n", GK_PRESENT, 10000},
    {"cpu  310 10 110 1030\n", GK_PRESENT, 2500},
    /* The iowait time went back by one. */
    {"cpu  310 10 110 1030 50\n", GK_PRESENT, 0},
    {"cpu  410 10 110 1030 49\n", GK_PRESENT, 10000},
};

static void cpu_percent_is_the_difference_of_two_readings(void **state)
{
	struct gk_host_before before = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(cpu); i++) {
		struct gk_value v;

		tree_text(&tree, "stat", cpu[i].line);
		v = look(&before).cpu_centipercent;
		if (v.why != cpu[i].why ||
		    (!v.why && v.v != cpu[i].centipercent))
			fail_msg("row %zu: %d, %ld", i, (int)v.why, (long)v.v);
	}
}

static void the_machine_has_a_name_and_processors(void **state)
{
	struct gk_host_before before = {0};
	struct gk_host host = look(&before);
	struct utsname name;

	(void)state;
	assert_int_equal(uname(&name), 0);
	assert_string_equal(host.hostname, name.nodename);
	assert_int_equal(host.cpus, get_nprocs());
}

/* A value that is not asked for is not read, and says so. */
static void a_host_that_is_passed_over_has_no_values(void **state)
{
	struct gk_host host;
	uint64_t begin = gk_boot_ns();

	(void)state;
	memset(&host, 0xee, sizeof host);
	gk_host_pass(&host);
	assert_in_range(host.boot_ns, begin, gk_boot_ns());
	assert_int_equal(host.cpus, 1);
	assert_int_equal(host.cpu_centipercent.why, GK_ABSENT_NOT_READ);
	for (int i = 0; i < 3; i++)
		assert_int_equal(host.load_centi[i].why, GK_ABSENT_NOT_READ);
	assert_int_equal(host.mem_total.why, GK_ABSENT_NOT_READ);
	assert_int_equal(host.mem_available.why, GK_ABSENT_NOT_READ);
	assert_int_equal(host.swap_total.why, GK_ABSENT_NOT_READ);
	assert_int_equal(host.swap_free.why, GK_ABSENT_NOT_READ);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(load_and_memory_are_what_the_files_say),
	    T(missing_files_are_absent_values),
	    T(missing_fields_are_absent_values),
	    T(cpu_percent_is_the_difference_of_two_readings),
	    T(the_machine_has_a_name_and_processors),
	    T(a_host_that_is_passed_over_has_no_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
