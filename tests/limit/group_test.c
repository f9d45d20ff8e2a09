/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_test.c - checks groups of processes: made, found, listed, removed; and
 * who is refused.
 */
#include "can.h"
#include "limit/group.h"
#include "base/err.h"
#include "limit/fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <utime.h>

static char name[64], base[64], path[128], dir[64];
static struct gkl_group group;
static const struct gkl_policy first = {.memory = {GIB}, .compute = {30}};

static int begin(void **state)
{
	(void)state;
	clearenv();
	snprintf(base, sizeof base, "/dev/shm/gpukit-limit-%u",
		 (unsigned)geteuid());
	snprintf(name, sizeof name, "test-%d", (int)getpid());
	snprintf(path, sizeof path, "%s/%s", base, name);
	strcpy(dir, "/dev/shm/gpukit-test-XXXXXX");
	return !mkdtemp(dir);
}

static int end_it(void **state)
{
	char command[256];

	(void)state;
	gkl_group_close(&group);
	setenv("PATH", "/usr/bin:/bin", 1);
	snprintf(command, sizeof command, "rm -rf %s %s", path, dir);
	return system(command);
}

static uint64_t memory_of(const struct gkl_group *g)
{
	struct gkl_policy p;

	gkl_policy_read(g->policy, &p);
	return p.memory[0];
}

static void a_group_is_made_once_and_opened_by_its_name(void **state)
{
	struct gkl_group again;
	struct stat st;

	(void)state;
	assert_int_equal(gkl_group_open(name, false, &again), GK_ERR_NOT_FOUND);
	assert_int_equal(gkl_group_make(name, &first, &group), 0);
	assert_string_equal(group.path, path);
	assert_int_equal(memory_of(&group), GIB);
	assert_int_equal(gkl_group_make(name, &first, &again), GK_ERR_EXISTS);
	assert_int_equal(gkl_group_open(name, true, &again), 0);
	assert_int_equal(memory_of(&again), GIB);
	gkl_ledger_charge(group.ledger, 0, GKL_DATA, 7);
	assert_int_equal(gkl_ledger_used(again.ledger, 0), 7);
	gkl_group_close(&again);
	/* It opens by its directory as well. */
	assert_int_equal(gkl_group_open(path, false, &again), 0);
	assert_int_equal(gkl_ledger_used(again.ledger, 0), 7);
	gkl_group_close(&again);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(base, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

static void a_bad_name_is_refused(void **state)
{
	static const char *const bad[] = {"", ".", "..", ".a", "a b", "a\n"};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(gkl_group_make(bad[i], &first, &group),
				 GK_ERR_INVALID);
		assert_int_equal(gkl_group_open(bad[i], false, &group),
				 GK_ERR_INVALID);
		assert_int_equal(gkl_group_remove(bad[i]), GK_ERR_INVALID);
	}
	assert_int_equal(gkl_group_make("../x", &first, &group),
			 GK_ERR_INVALID);
	assert_int_equal(gkl_group_remove("/dev/shm"), GK_ERR_INVALID);
}

static void note_own(const char *found, void *arg)
{
	*(int *)arg += !strcmp(found, name);
}

static int count_own(void)
{
	int count = 0;

	assert_int_equal(gkl_group_each(note_own, &count), 0);
	return count;
}

static void hold(void)
{
	gkl_ledger_charge(group.ledger, 0, GKL_DATA, 1);
	kill(getpid(), SIGSTOP);
}

static void it_is_listed_until_it_is_removed_without_living(void **state)
{
	pid_t pid;

	(void)state;
	assert_int_equal(count_own(), 0);
	assert_int_equal(gkl_group_remove(name), GK_ERR_NOT_FOUND);
	assert_int_equal(gkl_group_make(name, &first, &group), 0);
	assert_int_equal(count_own(), 1);
	pid = start_child(hold);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	assert_int_equal(gkl_group_remove(name), GK_ERR_IN_USE);
	assert_int_equal(count_own(), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(gkl_group_remove(name), 0);
	assert_int_equal(count_own(), 0);
	assert_int_equal(access(path, F_OK), -1);
}

static void what_a_killed_maker_left_is_cleared_away(void **state)
{
	char left[128], file[160];
	struct utimbuf long_ago = {1, 1};

	(void)state;
	assert_int_equal(gkl_group_make(name, &first, &group), 0);
	gkl_group_close(&group);
	assert_int_equal(gkl_group_remove(name), 0);
	snprintf(left, sizeof left, "%s/.new-t%d", base, (int)getpid());
	snprintf(file, sizeof file, "%s/policy", left);
	assert_int_equal(mkdir(left, 0700), 0);
	assert_int_equal(close(open(file, O_CREAT | O_WRONLY, 0600)), 0);
	assert_int_equal(utime(left, &long_ago), 0);
	assert_int_equal(gkl_group_make(name, &first, &group), 0);
	assert_int_equal(access(left, F_OK), -1);
}

static int open_named_in_environment(const char *where)
{
	setenv("GPUKIT_LIMIT_GROUP", where, 1);
	return gkl_group_from_environment(&group);
}

static void the_environment_names_a_group(void **state)
{
	(void)state;
	assert_int_equal(gkl_group_from_environment(&group), GK_ERR_NOT_FOUND);
	assert_int_equal(gkl_group_make(name, &first, &group), 0);
	gkl_group_close(&group);
	assert_int_equal(open_named_in_environment(path), 0);
	assert_int_equal(memory_of(&group), GIB);
	/* A limited process cannot change the limit through that page. */
	assert_int_equal(gkl_policy_write(group.policy, &first),
			 GK_ERR_PERMISSION);
}

static void a_group_that_cannot_be_had_is_never_no_limit(void **state)
{
	char there[128];

	(void)state;
	assert_int_equal(open_named_in_environment(path), GK_ERR_CORRUPT);
	assert_int_equal(open_named_in_environment("nowhere"), GK_ERR_CORRUPT);
	/* A directory without a group. */
	assert_int_equal(open_named_in_environment(dir), GK_ERR_CORRUPT);
	/* A file, a link to a group. */
	snprintf(there, sizeof there, "%s/there", dir);
	assert_int_equal(close(open(there, O_CREAT | O_WRONLY, 0600)), 0);
	assert_int_equal(open_named_in_environment(there), GK_ERR_PERMISSION);
	unlink(there);
	assert_int_equal(gkl_group_make(name, &first, &group), 0);
	gkl_group_close(&group);
	assert_int_equal(symlink(path, there), 0);
	assert_int_equal(open_named_in_environment(there), GK_ERR_PERMISSION);
	/* Directories that others may write to. */
	assert_int_equal(chmod(path, 0770), 0);
	assert_int_equal(open_named_in_environment(path), GK_ERR_PERMISSION);
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(open_named_in_environment(path), 0);
}

static void a_strangers_group_is_refused(void **state)
{
	char file[160];

	(void)state;
	assert_int_equal(gkl_group_make(name, &first, &group), 0);
	gkl_group_close(&group);
	if (chown(path, 12345, 12345))
		CANNOT("other-users", strerror(errno));
	assert_int_equal(open_named_in_environment(path), GK_ERR_PERMISSION);
	assert_int_equal(chown(path, 0, 0), 0);
	for (int i = 0; i < 2; i++) {
		snprintf(file, sizeof file, "%s/%s", path,
			 i ? "ledger" : "policy");
		assert_int_equal(chown(file, 12345, 12345), 0);
		assert_int_equal(open_named_in_environment(path),
				 GK_ERR_PERMISSION);
		assert_int_equal(chown(file, 0, 0), 0);
	}
}

static void hamis_group_lies_beside_its_file(void **state)
{
	char region[128], file[160];
	struct gkl_group other;
	struct stat st;

	(void)state;
	snprintf(region, sizeof region, "%s/GPU-1.cache", dir);
	setenv("CUDA_DEVICE_MEMORY_SHARED_CACHE", region, 1);
	setenv("CUDA_DEVICE_MEMORY_LIMIT", "1g", 1);
	assert_int_equal(gkl_group_from_environment(&group), 0);
	assert_int_equal(memory_of(&group), GIB);
	assert_non_null(group.region);
	snprintf(file, sizeof file, "%s/GPU-1.gpukit-policy", dir);
	assert_int_equal(stat(file, &st), 0);
	snprintf(file, sizeof file, "%s/GPU-1.gpukit-ledger", dir);
	assert_int_equal(stat(file, &st), 0);
	/* A later process with a larger limit gets the existing one. */
	setenv("CUDA_DEVICE_MEMORY_LIMIT", "5g", 1);
	assert_int_equal(gkl_group_from_environment(&other), 0);
	assert_int_equal(memory_of(&other), GIB);
	gkl_group_close(&other);
	/* The operator opens it by HAMi's path. */
	assert_int_equal(gkl_group_open(region, true, &other), 0);
	struct gkl_policy more = {.memory = {2 * GIB}};
	assert_int_equal(gkl_policy_write(other.policy, &more), 0);
	assert_int_equal(memory_of(&group), 2 * GIB);
	gkl_group_close(&other);
}

static void hamis_limits_hold_without_hamis_region(void **state)
{
	char region[128];

	(void)state;
	snprintf(region, sizeof region, "%s/x.cache", dir);
	assert_int_equal(symlink("/nowhere", region), 0);
	setenv("CUDA_DEVICE_MEMORY_SHARED_CACHE", region, 1);
	setenv("CUDA_DEVICE_MEMORY_LIMIT", "1g", 1);
	assert_int_equal(gkl_group_from_environment(&group), 0);
	assert_null(group.region);
	assert_int_equal(memory_of(&group), GIB);
	gkl_group_close(&group);
	/* Where nothing can be written, nothing can be limited. */
	setenv("CUDA_DEVICE_MEMORY_SHARED_CACHE", "/nowhere/x.cache", 1);
	assert_int_equal(gkl_group_from_environment(&group), GK_ERR_CORRUPT);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end_it)
	const struct CMUnitTest tests[] = {
	    T(a_group_is_made_once_and_opened_by_its_name),
	    T(a_bad_name_is_refused),
	    T(it_is_listed_until_it_is_removed_without_living),
	    T(what_a_killed_maker_left_is_cleared_away),
	    T(the_environment_names_a_group),
	    T(a_group_that_cannot_be_had_is_never_no_limit),
	    T(a_strangers_group_is_refused),
	    T(hamis_group_lies_beside_its_file),
	    T(hamis_limits_hold_without_hamis_region),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
