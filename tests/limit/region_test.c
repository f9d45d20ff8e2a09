/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region_test.c - checks HAMi's region as bytes: the offsets are those that
 * HAMi's monitor reads, written here as numbers.
 */
#include "limit/region.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "unit.h"

enum {
	SIZE = 2008952,
	DEVICE_NUM = 56,
	UUIDS = 64,
	LIMIT = 1600,
	SM_LIMIT = 1728,
	PROCS = 1856,
	PROC = 1960,
	PROC_NUM = 2008896,
	UTILIZATION_SWITCH = 2008900,
	RECENT_KERNEL = 2008904,
	PRIORITY = 2008908,
};

struct place {
	char dir[64], path[96];
};

static int begin(void **state)
{
	struct place *p = calloc(1, sizeof *p);

	strcpy(p->dir, "/tmp/region-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->path, sizeof p->path, "%s/x.cache", p->dir);
	*state = p;
	return 0;
}

static int end(void **state)
{
	struct place *p = *state;

	unlink(p->path);
	rmdir(p->dir);
	free(p);
	return 0;
}

static struct gkl_region *open_region(const struct place *p)
{
	struct gkl_region *region = NULL;

	assert_int_equal(gkl_region_open(p->path, &region), 0);
	return region;
}

/* Maps the file as another program would. */
static char *map_bytes(const struct place *p)
{
	int fd = open(p->path, O_RDWR | O_CLOEXEC);
	char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(at != MAP_FAILED);
	close(fd);
	return at;
}

static int32_t get_int(const char *at, size_t offset)
{
	int32_t value;

	memcpy(&value, at + offset, sizeof value);
	return value;
}

static uint64_t get_long(const char *at, size_t offset)
{
	uint64_t value;

	memcpy(&value, at + offset, sizeof value);
	return value;
}

static void put_int(char *at, size_t offset, int32_t value)
{
	memcpy(at + offset, &value, sizeof value);
}

static void write_file(const struct place *p, const void *bytes, size_t len)
{
	int fd = open(p->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	close(fd);
}

static void a_new_region_is_as_the_monitor_wants_it(void **state)
{
	struct place *p = *state;
	mode_t mask = umask(077);
	struct gkl_region *region = open_region(p);
	struct stat st;
	char *at;

	assert_int_equal(umask(mask), 077);
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_size, SIZE);
	assert_int_equal(st.st_mode & 07777, 0666);
	at = map_bytes(p);
	assert_int_equal(get_int(at, 0), 19920718);
	assert_int_equal(get_int(at, 4), 1);
	assert_int_equal(get_int(at, UTILIZATION_SWITCH), 1);
	assert_int_equal(get_int(at, RECENT_KERNEL), 2);
	assert_int_equal(get_int(at, PROC_NUM), 0);
	munmap(at, SIZE);
	gkl_region_close(region);
}

/*
 * HAMi-core waits for both before it does anything, in other processes; the C
 * library defines what such a semaphore looks like.
 */
static void the_locks_of_a_new_region_are_free(void **state)
{
	struct place *p = *state;
	struct gkl_region *region = open_region(p);
	char *at = map_bytes(p);
	sem_t shared = {0};

	assert_int_equal(sem_init(&shared, 1, 1), 0);
	assert_memory_equal(at + 24, &shared, sizeof shared);
	assert_memory_equal(at + 2008920, &shared, sizeof shared);
	assert_int_equal(sem_trywait((sem_t *)(void *)(at + 24)), 0);
	assert_int_equal(sem_trywait((sem_t *)(void *)(at + 24)), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(sem_trywait((sem_t *)(void *)(at + 2008920)), 0);
	munmap(at, SIZE);
	gkl_region_close(region);
}

static void the_policy_stands_where_the_monitor_reads_it(void **state)
{
	struct place *p = *state;
	struct gkl_region *region = open_region(p);
	struct gkl_policy policy = {.priority = 1};
	char *at = map_bytes(p);

	policy.memory[0] = 2048ULL << 20;
	policy.memory[15] = 7;
	policy.compute[0] = 50;
	gkl_region_set_policy(region, &policy);
	gkl_region_set_device(region, 1, "GPU-b");
	gkl_region_set_device(region, 0, "GPU-a");
	assert_int_equal(get_long(at, LIMIT), 2048ULL << 20);
	assert_int_equal(get_long(at, LIMIT + 15 * 8), 7);
	assert_int_equal(get_long(at, SM_LIMIT), 50);
	assert_int_equal(get_long(at, SM_LIMIT + 8), 100);
	assert_int_equal(get_int(at, PRIORITY), 1);
	assert_int_equal(get_long(at, DEVICE_NUM), 2);
	assert_string_equal(at + UUIDS, "GPU-a");
	assert_string_equal(at + UUIDS + 96, "GPU-b");
	munmap(at, SIZE);
	gkl_region_close(region);
}

static void the_bytes_of_a_slot_stand_by_class(void **state)
{
	struct place *p = *state;
	struct gkl_region *region = open_region(p);
	const uint64_t bytes[] = {[GKL_REGION_CONTEXT] = 5,
				  [GKL_REGION_MODULE] = 7,
				  [GKL_REGION_DATA] = 11};
	char *at = map_bytes(p);
	size_t slot = PROCS + 3 * PROC, used = slot + 8 + 2 * 64;

	gkl_region_join(region, 3, 4711, 0);
	gkl_region_set_used(region, 3, 2, bytes);
	assert_int_equal(get_int(at, slot), 4711);
	assert_int_equal(get_int(at, slot + 1928), 1);
	assert_int_equal(get_int(at, PROC_NUM), 4);
	assert_int_equal(get_long(at, used), 5);
	assert_int_equal(get_long(at, used + 8), 7);
	assert_int_equal(get_long(at, used + 16), 11);
	assert_int_equal(get_long(at, used + 32), 23);
	gkl_region_leave(region, 3, 4711);
	assert_int_equal(get_int(at, slot), 0);
	assert_int_equal(get_long(at, used + 32), 0);
	assert_int_equal(get_int(at, PROC_NUM), 0);
	munmap(at, SIZE);
	gkl_region_close(region);
}

static void who_leaves_takes_nobody_else_along(void **state)
{
	struct place *p = *state;
	struct gkl_region *region = open_region(p);
	char *at = map_bytes(p);

	for (int i = 0; i < 3; i++)
		gkl_region_join(region, (unsigned)i, 100 + i, 0);
	gkl_region_leave(region, 1, 100); /* not the owner */
	assert_int_equal(gkl_region_pid(region, 1), 101);
	gkl_region_leave(region, 1, 101);
	assert_int_equal(get_int(at, PROC_NUM), 3);
	assert_int_equal(get_int(at, PROCS + 2 * PROC), 102);
	gkl_region_leave(region, 2, 102);
	assert_int_equal(get_int(at, PROC_NUM), 1);
	munmap(at, SIZE);
	gkl_region_close(region);
}

/* A tenant may write anything; nobody crashes or waits for ever. */
static void a_region_full_of_nonsense_harms_nobody(void **state)
{
	struct place *p = *state;
	struct gkl_region *region = open_region(p);
	char *at = map_bytes(p);

	memset(at + 8, 0xA5, SIZE - 8);
	put_int(at, PROC_NUM, INT32_MAX);
	gkl_region_set_device(region, 0, "GPU-a");
	gkl_region_join(region, 1023, 4711, 0);
	gkl_region_leave(region, 1023, 4711);
	put_int(at, PROC_NUM, INT32_MIN);
	gkl_region_join(region, 0, 4711, 0);
	assert_int_equal(get_int(at, PROC_NUM), 1);
	gkl_region_leave(region, 0, 4711);
	assert_int_equal(gkl_region_pid(region, 1023), 0);
	munmap(at, SIZE);
	gkl_region_close(region);
}

static void what_is_no_region_is_left_alone(void **state)
{
	struct place *p = *state;
	struct gkl_region *region = NULL;
	char byte = 0;
	struct stat st;

	write_file(p, "precious", 8);
	assert_int_equal(gkl_region_open(p->path, &region), GK_ERR_VERSION);
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_size, 8);
	write_file(p, &byte, 1);
	assert_int_equal(truncate(p->path, SIZE), 0);
	{
		char *at = map_bytes(p);

		put_int(at, 0, 1);
		assert_int_equal(gkl_region_open(p->path, &region),
				 GK_ERR_VERSION);
		put_int(at, 0, 19920718);
		put_int(at, 4, 2);
		assert_int_equal(gkl_region_open(p->path, &region),
				 GK_ERR_VERSION);
		munmap(at, SIZE);
	}
	assert_null(region);
}

static void a_link_is_not_followed(void **state)
{
	struct place *p = *state;
	struct gkl_region *region = NULL;

	assert_int_equal(symlink("/tmp/elsewhere", p->path), 0);
	assert_int_equal(gkl_region_open(p->path, &region), GK_ERR_PERMISSION);
	assert_null(region);
	assert_int_equal(access("/tmp/elsewhere", F_OK), -1);
}

static void what_hami_core_left_is_taken_over(void **state)
{
	struct place *p = *state;
	struct gkl_region *region;
	char *at;

	write_file(p, "", 0);
	assert_int_equal(truncate(p->path, SIZE + 4096), 0);
	at = map_bytes(p);
	put_int(at, 0, 19920718);
	put_int(at, 4, 1);
	put_int(at, 8, 1);
	put_int(at, RECENT_KERNEL, -1);
	put_int(at, PROCS, 77);
	put_int(at, PROC_NUM, 1);
	region = open_region(p);
	assert_int_equal(get_int(at, RECENT_KERNEL), -1);
	assert_int_equal(gkl_region_pid(region, 0), 77);
	munmap(at, SIZE);
	gkl_region_close(region);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
	    TEST(a_new_region_is_as_the_monitor_wants_it),
	    TEST(the_locks_of_a_new_region_are_free),
	    TEST(the_policy_stands_where_the_monitor_reads_it),
	    TEST(the_bytes_of_a_slot_stand_by_class),
	    TEST(who_leaves_takes_nobody_else_along),
	    TEST(a_region_full_of_nonsense_harms_nobody),
	    TEST(what_is_no_region_is_left_alone),
	    TEST(a_link_is_not_followed),
	    TEST(what_hami_core_left_is_taken_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
