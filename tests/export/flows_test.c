/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows_test.c - checks hosts with few and with very many interfaces, disks,
 * mounts.
 */
#include "export/flows.h"
#include "unit.h"

#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define MOST 256 /* of each kind are reported */

static unsigned count; /* of each kind that this host has */

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_setmntent(const char *path, const char *mode);
int __wrap_statvfs(const char *path, struct statvfs *ret_fs);

static void write_row(FILE *f, const char *path, unsigned i)
{
	if (strstr(path, "dev"))
		fprintf(f, "  eth%u: %u 2 0 0 0 0 0 0 %u 4 0 0 0 0 0 0\n", i,
			1000 + i, 3000 + i);
	else if (strstr(path, "diskstats"))
		fprintf(f, " 8 %u sd%u 9 9 %u 9 9 9 %u 9 9 9 9\n", i, i, 10 + i,
			20 + i);
	else
		fprintf(f, "/dev/sd%u /mnt/%u ext4 rw 0 0\n", i, i);
}

/* A file of the host as it would be with `count` of that kind. */
static FILE *open_host_file(const char *path)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	if (strstr(path, "net/dev"))
		fputs("Inter-|   Receive\n face |bytes\n", f);
	for (unsigned i = 0; i < count; i++)
		write_row(f, path, i);
	rewind(f);
	return f;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	return strncmp(path, "/proc/", 6) ? __real_fopen(path, mode)
					  : open_host_file(path);
}

FILE *__wrap_setmntent(const char *path, const char *mode)
{
	(void)mode;
	return open_host_file(path);
}

int __wrap_statvfs(const char *path, struct statvfs *ret_fs)
{
	(void)path;
	*ret_fs = (struct statvfs){
	    .f_frsize = 4096, .f_blocks = 100, .f_bfree = 40, .f_bavail = 30};
	return 0;
}

static void assert_counts(struct gk_host_flows *flows, unsigned there,
			  unsigned told)
{
	count = there;
	gk_flows_read(flows);
	assert_int_equal(flows->interface_count, told);
	assert_int_equal(flows->disk_count, told);
	assert_int_equal(flows->mount_count, told);
}

static void each_is_told_with_its_figures(void **state)
{
	struct gk_host_flows flows = {0};

	(void)state;
	assert_counts(&flows, 3, 3);
	assert_string_equal(flows.interfaces[2].name, "eth2");
	assert_int_equal(flows.interfaces[2].in, 1002);
	assert_int_equal(flows.interfaces[2].packets_in, 2);
	assert_int_equal(flows.interfaces[2].out, 3002);
	assert_int_equal(flows.interfaces[2].packets_out, 4);
	assert_string_equal(flows.disks[1].name, "sd1");
	assert_int_equal(flows.disks[1].in, 11 * 512);
	assert_int_equal(flows.disks[1].out, 21 * 512);
	assert_string_equal(flows.mounts[0].path, "/mnt/0");
	assert_int_equal(flows.mounts[0].total, 409600);
	assert_int_equal(flows.mounts[0].used, 60 * 4096);
	assert_int_equal(flows.mounts[0].free, 30 * 4096);
	gk_flows_free(&flows);
}

static void the_first_256_of_a_kind_are_told(void **state)
{
	struct gk_host_flows flows = {0};

	(void)state;
	assert_counts(&flows, MOST - 1, MOST - 1);
	assert_counts(&flows, MOST, MOST);
	assert_counts(&flows, MOST + 1, MOST);
	assert_string_equal(flows.interfaces[MOST - 1].name, "eth255");
	assert_counts(&flows, 0, 0);
	gk_flows_free(&flows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_is_told_with_its_figures),
	    cmocka_unit_test(the_first_256_of_a_kind_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
