/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family_test.c - checks the list of all processes, read repeatedly from a
 * made-up /proc.
 */
#include "base/clock.h"
#include "core/read/family.h"
#include "tree.h"

static struct tree tree;
static struct gk_family *family;
static struct gk_snapshot snap;

static int setup(void **state)
{
	(void)state;
	tree_make(&tree);
	assert_int_equal(gk_family_open(tree.fd, &family), 0);
	snap = (struct gk_snapshot){.host.boot_ns = 100 * GK_NS_PER_S};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gk_family_close(family);
	tree_remove(&tree);
	return 0;
}

static void is_there(int pid, int ppid)
{
	tree_stat(&tree, (struct tree_stat){.pid = pid,
					    .comm = "x",
					    .state = 'S',
					    .ppid = ppid,
					    .utime = 10,
					    .start = (unsigned long)pid + 5,
					    .rss = 100});
}

static void end_process(int pid)
{
	char name[32];

	snprintf(name, sizeof name, "%d/stat", pid);
	assert_int_equal(unlinkat(tree.fd, name, 0), 0);
	snprintf(name, sizeof name, "%d", pid);
	assert_int_equal(unlinkat(tree.fd, name, AT_REMOVEDIR), 0);
}

/* The processes of the next snapshot: "1<0 42<1", by pid and parent. */
static const char *scan(void)
{
	static char text[512];
	struct gk_member *members;
	size_t count, len = 0;

	snap.mono_ns += GK_NS_PER_S;
	assert_int_equal(gk_family_scan(family, &snap), 0);
	members = gk_family_members(family, &count);
	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		len += (size_t)snprintf(
		    text + len, sizeof text - len, "%s%d<%d", i ? " " : "",
		    (int)members[i].pid, (int)members[i].ppid);
		assert_int_equal(members[i].start, members[i].pid + 5);
		assert_int_equal(members[i].threads, 1);
		assert_null(members[i].process);
	}
	return text;
}

static void only_numbers_are_processes(void **state)
{
	(void)state;
	is_there(42, 1);
	is_there(7, 1);
	is_there(100000, 42);
	tree_text(&tree, "self/stat", "42 (x) S 1");
	tree_text(&tree, "42x/stat", "42 (x) S 1");
	tree_text(&tree, "0/stat", "0 (x) S 1");
	tree_text(&tree, "-5/stat", "-5 (x) S 1");
	tree_text(&tree, "uptime", "1 2");
	assert_string_equal(scan(), "7<1 42<1 100000<42");
	/* A process with an empty stat line has ended. */
	tree_text(&tree, "50/stat", "");
	assert_string_equal(scan(), "7<1 42<1 100000<42");
}

static void a_snapshot_is_scanned_once(void **state)
{
	size_t count;

	(void)state;
	is_there(1, 0);
	assert_string_equal(scan(), "1<0");
	is_there(2, 1);
	assert_int_equal(gk_family_scan(family, &snap), 0);
	gk_family_members(family, &count);
	assert_int_equal(count, 1);
	assert_string_equal(scan(), "1<0 2<1");
}

/* The list grows with the number of processes. */
static void all_of_many_are_listed_in_order(void **state)
{
	enum { MANY = 600 };
	struct gk_member *members;
	size_t count;

	(void)state;
	for (int i = 0; i < MANY; i++)
		is_there(1 + (i * 7) % 601, 0);
	for (int turn = 0; turn < 2; turn++) {
		snap.mono_ns += GK_NS_PER_S;
		assert_int_equal(gk_family_scan(family, &snap), 0);
		members = gk_family_members(family, &count);
		assert_int_equal(count, MANY);
		for (size_t i = 1; i < count; i++)
			assert_true(members[i].pid > members[i - 1].pid);
	}
}

/* A process with the same directory is read again only every eighth time. */
static void who_is_known_is_read_again_in_turn(void **state)
{
	(void)state;
	is_there(1, 0);
	is_there(40, 1);
	for (int pid = 41; pid < 48; pid++)
		is_there(pid, 40);
	scan();
	for (int pid = 41; pid < 48; pid++)
		is_there(pid, 1);
	/* The second scan rereads 42, the third 43, ... */
	assert_string_equal(scan(), "1<0 40<1 41<40 42<1 43<40 44<40 45<40 "
				    "46<40 47<40");
	assert_string_equal(scan(), "1<0 40<1 41<40 42<1 43<1 44<40 45<40 "
				    "46<40 47<40");
	for (int i = 0; i < 5; i++)
		scan();
	assert_string_equal(scan(), "1<0 40<1 41<1 42<1 43<1 44<1 45<1 46<1 "
				    "47<1");
}

static void another_directory_is_another_process(void **state)
{
	(void)state;
	is_there(1, 0);
	is_there(43, 1);
	assert_string_equal(scan(), "1<0 43<1");
	/*
	 * Its directory is made while the old one exists: no inode number is
	 * reused.
	 */
	assert_int_equal(renameat(tree.fd, "43", tree.fd, "old"), 0);
	is_there(43, 0);
	assert_string_equal(scan(), "1<0 43<0");
}

static void orphans_are_read_at_once(void **state)
{
	(void)state;
	is_there(1, 0);
	is_there(44, 1);
	is_there(45, 44);
	assert_string_equal(scan(), "1<0 44<1 45<44");
	end_process(44);
	is_there(45, 1);
	assert_string_equal(scan(), "1<0 45<1");
}

/* It is still listed but cannot be read: its child is read once more. */
static void a_parent_that_ends_meanwhile_is_noticed(void **state)
{
	(void)state;
	is_there(1, 0);
	is_there(42, 1);
	is_there(45, 42);
	is_there(46, 45);
	assert_string_equal(scan(), "1<0 42<1 45<42 46<45");
	/* The second scan rereads 42. */
	tree_text(&tree, "42/stat", "");
	is_there(45, 1);
	is_there(46, 1);
	assert_string_equal(scan(), "1<0 45<1 46<45");
}

static void a_family_may_end_whole(void **state)
{
	(void)state;
	is_there(1, 0);
	is_there(42, 1);
	is_there(45, 42);
	scan();
	tree_text(&tree, "42/stat", "");
	tree_text(&tree, "45/stat", "");
	assert_string_equal(scan(), "1<0");
	end_process(1);
	end_process(42);
	end_process(45);
	assert_string_equal(scan(), "");
}

static void a_member_is_read_once_a_snapshot(void **state)
{
	struct gk_member *members;
	const struct gk_process *p;
	size_t count;

	(void)state;
	is_there(42, 1);
	tree_text(&tree, "42/cmdline", "run");
	scan();
	members = gk_family_members(family, &count);
	p = gk_family_read(family, &members[0]);
	assert_int_equal(p->pid, 42);
	assert_string_equal(p->command, "run");
	assert_int_equal(p->m[GK_PM_GPU_MEM].why, GK_ABSENT_NOT_SUPPORTED);
	assert_int_equal(p->m[GK_PM_THREADS].v, 1);
	assert_int_equal(p->m[GK_PM_IO_READ].why, GK_ABSENT_NOT_READ);
	assert_int_equal(p->m[GK_PM_CPU].why, GK_ABSENT_ONE_SNAPSHOT);
	assert_int_equal(
	    p->m[GK_PM_RUN_TIME].v,
	    100 * GK_NS_PER_S -
		47 * (GK_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK)));
	assert_ptr_equal(gk_family_read(family, &members[0]), p);
	/* Two snapshots give a difference. */
	scan();
	members = gk_family_members(family, &count);
	p = gk_family_read(family, &members[0]);
	assert_int_equal(p->m[GK_PM_CPU].why, GK_PRESENT);
	assert_int_equal(p->m[GK_PM_CPU].v, 0);
}

static void a_closed_proc_says_so(void **state)
{
	struct gk_family *none = NULL;
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	size_t count;

	(void)state;
	assert_int_equal(gk_family_open(file, &none), 0);
	snap.mono_ns = 1;
	assert_int_equal(gk_family_scan(none, &snap), GK_ERR_NOT_FOUND);
	gk_family_members(none, &count);
	assert_int_equal(count, 0);
	gk_family_close(none);
	assert_true(fcntl(file, F_GETFD) >= 0);
	close(file);
	gk_family_close(NULL);
}

static void the_true_proc_has_this_process(void **state)
{
	struct gk_family *own;
	struct gk_member *members;
	size_t count, i = 0;

	(void)state;
	assert_int_equal(gk_family_open(-1, &own), 0);
	snap.mono_ns = gk_mono_ns();
	assert_int_equal(gk_family_scan(own, &snap), 0);
	members = gk_family_members(own, &count);
	while (i < count && members[i].pid != getpid())
		i++;
	assert_true(i < count);
	assert_int_equal(members[i].ppid, getppid());
	gk_family_close(own);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(only_numbers_are_processes),
	    TEST(a_snapshot_is_scanned_once),
	    TEST(all_of_many_are_listed_in_order),
	    TEST(who_is_known_is_read_again_in_turn),
	    TEST(another_directory_is_another_process),
	    TEST(orphans_are_read_at_once),
	    TEST(a_parent_that_ends_meanwhile_is_noticed),
	    TEST(a_family_may_end_whole),
	    TEST(a_member_is_read_once_a_snapshot),
	    TEST(a_closed_proc_says_so),
	    TEST(the_true_proc_has_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
