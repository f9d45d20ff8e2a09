/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_test.c - checks files that others made or damaged: nobody crashes,
 * hangs or trusts them.
 */
#include "can.h"
#include "base/err.h"
#include "limit/fixture.h"
#include "limit/ledger_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define LIMIT GIB

static struct fixture fx;

static int open_it(void **state)
{
	(void)state;
	fixture_open(&fx);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static int open_again(enum gkl_trust trust)
{
	struct gkl_ledger *ledger;
	int r = gkl_ledger_open(fx.path, trust, &ledger);

	if (!r)
		gkl_ledger_close(ledger);
	return r;
}

static void a_link_in_the_place_of_the_file_is_not_followed(void **state)
{
	char other[128];

	(void)state;
	snprintf(other, sizeof other, "%s/other", fx.dir);
	assert_int_equal(rename(fx.path, other), 0);
	assert_int_equal(symlink(other, fx.path), 0);
	assert_int_equal(open_again(GKL_PRIVATE), GK_ERR_PERMISSION);
	assert_int_equal(open_again(GKL_COMMON), GK_ERR_PERMISSION);
	unlink(other);
	/* A dangling link is not given a target. */
	assert_int_equal(open_again(GKL_COMMON), GK_ERR_PERMISSION);
	assert_int_equal(access(other, F_OK), -1);
}

static void what_is_no_file_is_refused_at_once(void **state)
{
	(void)state;
	assert_int_equal(unlink(fx.path), 0);
	assert_int_equal(mkfifo(fx.path, 0600), 0);
	alarm(10);
	assert_int_equal(open_again(GKL_PRIVATE), GK_ERR_CORRUPT);
	alarm(0);
}

static void a_short_file_is_refused(void **state)
{
	static const off_t sizes[] = {0, 1, 4096,
				      sizeof(struct gkl_ledger_file) - 1};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		assert_int_equal(unlink(fx.path), 0);
		assert_int_equal(close(open(fx.path, O_CREAT | O_RDWR, 0600)),
				 0);
		assert_int_equal(truncate(fx.path, sizes[i]), 0);
		assert_int_equal(open_again(GKL_PRIVATE), GK_ERR_CORRUPT);
	}
}

static void another_magic_or_version_is_refused(void **state)
{
	struct gkl_ledger_file *f = fx.ledger->file;

	(void)state;
	f->version++;
	assert_int_equal(open_again(GKL_PRIVATE), GK_ERR_VERSION);
	f->magic++;
	assert_int_equal(open_again(GKL_PRIVATE), GK_ERR_CORRUPT);
}

static void what_others_may_write_is_not_believed(void **state)
{
	(void)state;
	assert_int_equal(chmod(fx.path, 0620), 0);
	assert_int_equal(open_again(GKL_PRIVATE), GK_ERR_PERMISSION);
	assert_int_equal(chmod(fx.path, 0602), 0);
	assert_int_equal(open_again(GKL_PRIVATE), GK_ERR_PERMISSION);
	/* HAMi's directory is world-writable. */
	assert_int_equal(chmod(fx.path, 0666), 0);
	assert_int_equal(open_again(GKL_COMMON), 0);
}

static void a_strangers_file_is_believed_in_hamis_directory_only(void **state)
{
	(void)state;
	if (chown(fx.path, 12345, 12345))
		CANNOT("other-users", strerror(errno));
	assert_int_equal(chmod(fx.path, 0666), 0);
	assert_int_equal(open_again(GKL_PRIVATE), GK_ERR_PERMISSION);
	assert_int_equal(chmod(fx.dir, 0777), 0);
	assert_int_equal(open_again(GKL_COMMON), 0);
	/* Users of /tmp are strangers to each other. */
	assert_int_equal(chmod(fx.dir, 01777), 0);
	assert_int_equal(open_again(GKL_COMMON), GK_ERR_PERMISSION);
}

static void a_common_file_is_made_for_all_whatever_the_umask_is(void **state)
{
	mode_t mask = umask(077);
	struct stat st;

	(void)state;
	assert_int_equal(unlink(fx.path), 0);
	assert_int_equal(open_again(GKL_COMMON), 0);
	assert_int_equal(umask(mask), 077);
	assert_int_equal(stat(fx.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0666);
	assert_int_equal(unlink(fx.path), 0);
	assert_int_equal(open_again(GKL_PRIVATE), 0);
	assert_int_equal(stat(fx.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* The file has no holes: a full file system kills nobody later. */
	assert_true(st.st_blocks * 512 >= st.st_size);
}

static mode_t mode_of(mode_t directory)
{
	struct stat st;

	assert_int_equal(chmod(fx.dir, directory), 0);
	assert_int_equal(unlink(fx.path), 0);
	assert_int_equal(open_again(GKL_COMMON), 0);
	assert_int_equal(stat(fx.path, &st), 0);
	return st.st_mode & 07777;
}

static void a_common_file_is_for_all_only_where_all_are_believed(void **state)
{
	(void)state;
	assert_int_equal(mode_of(0777), 0666);
	assert_int_equal(mode_of(0755), 0600);
	assert_int_equal(mode_of(01777), 0600);
}

/* As HAMi-core makes it, and as we made it before. */
static void what_is_ours_among_strangers_is_closed_to_them(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(chmod(fx.dir, 01777), 0);
	assert_int_equal(chmod(fx.path, 0666), 0);
	assert_int_equal(open_again(GKL_COMMON), 0);
	assert_int_equal(stat(fx.path, &st), 0);
	assert_int_equal(st.st_mode & 022, 0);
}

static void one_that_is_made_shorter_is_damaged(void **state)
{
	struct gkl_ledger *ledger;

	(void)state;
	assert_int_equal(gkl_ledger_open(fx.path, GKL_PRIVATE, &ledger), 0);
	assert_false(gkl_ledger_is_damaged(ledger));
	assert_int_equal(truncate(fx.path, 0), 0);
	(void)gkl_ledger_used(ledger, 0);
	assert_true(gkl_ledger_is_damaged(ledger));
	gkl_ledger_close(ledger);
}

static void where_there_is_no_room_nothing_is_made(void **state)
{
	struct gkl_ledger *ledger;

	(void)state;
	assert_int_equal(gkl_ledger_open("/proc/self/x", GKL_PRIVATE, &ledger),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkl_ledger_open("x", GKL_PRIVATE, &ledger),
			 GK_ERR_INVALID);
	assert_int_equal(gkl_ledger_open("/nowhere/x", GKL_PRIVATE, &ledger),
			 GK_ERR_NOT_FOUND);
}

static void use_all_of_it(void)
{
	struct gkl_device device;
	struct gkl_total total;

	for (unsigned d = 0; d < GKL_DEVICES; d++) {
		gkl_ledger_reserve(fx.ledger, d, GKL_DATA, MIB, LIMIT);
		gkl_ledger_charge(fx.ledger, d, GKL_POOL, MIB);
		gkl_ledger_move(fx.ledger, d, GKL_POOL, GKL_DATA, MIB);
		gkl_ledger_refund(fx.ledger, d, GKL_DATA, MIB);
		gkl_ledger_used(fx.ledger, d);
		gkl_ledger_own(fx.ledger, d);
		gkl_ledger_pending(fx.ledger, d, GKL_PENDING);
		gkl_ledger_total(fx.ledger, d, &total);
		if (gkl_ledger_device(fx.ledger, d, &device) &&
		    memchr(device.uuid, 0, sizeof device.uuid) == NULL)
			_exit(1);
	}
	gkl_ledger_bury(fx.ledger);
	count_processes(fx.ledger);
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, UINT64_MAX);
	gkl_ledger_close(fx.ledger);
}

/* Random words, some of which are nearly valid. */
static uint64_t next_word(uint64_t *seed)
{
	static const uint64_t likely[] = {0,
					  1,
					  2,
					  UINT64_MAX,
					  1ULL << 63,
					  INT64_MAX,
					  LIMIT,
					  GKL_SEQ_MASK,
					  (uint64_t)GKL_PROCESSES
					      << GKL_SEQ_BITS};
	uint64_t word;

	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	word = *seed >> 33;
	if (word % 4 == 0)
		return *seed ^ *seed << 32;
	if (word % 4 == 1)
		return (word >> 2) % GKL_PROCESSES << GKL_SEQ_BITS | word % 8;
	return likely[(word >> 2) % (sizeof likely / sizeof *likely)];
}

static void any_bytes_are_survived(void **state)
{
	enum { FILES = 60, SLOTS = 24 };

	(void)state;
	for (uint64_t seed = 1; seed <= FILES; seed++) {
		uint64_t *word = (uint64_t *)fx.ledger->file, s = seed;
		size_t first = offsetof(struct gkl_ledger_file, looked_ns) / 8;
		size_t last = offsetof(struct gkl_ledger_file, share) / 8;
		pid_t pid;

		for (size_t i = first; i < last; i++)
			word[i] = next_word(&s);
		first = offsetof(struct gkl_ledger_file, slots) / 8;
		last = first + SLOTS * sizeof(struct gkl_slot) / 8;
		for (size_t i = first; i < last; i++)
			word[i] = next_word(&s);
		/* SIGALRM ends a child that hangs. */
		pid = fork();
		if (!pid) {
			alarm(20);
			use_all_of_it();
			_exit(0);
		}
		await_end(pid, 0);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_it, close_it)
	const struct CMUnitTest tests[] = {
	    T(a_link_in_the_place_of_the_file_is_not_followed),
	    T(what_is_no_file_is_refused_at_once),
	    T(a_short_file_is_refused),
	    T(another_magic_or_version_is_refused),
	    T(what_others_may_write_is_not_believed),
	    T(a_strangers_file_is_believed_in_hamis_directory_only),
	    T(a_common_file_is_made_for_all_whatever_the_umask_is),
	    T(a_common_file_is_for_all_only_where_all_are_believed),
	    T(what_is_ours_among_strangers_is_closed_to_them),
	    T(one_that_is_made_shorter_is_damaged),
	    T(where_there_is_no_room_nothing_is_made),
	    T(any_bytes_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
