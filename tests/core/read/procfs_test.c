/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procfs_test.c - checks facts of processes that /proc reports, on made-up
 * trees.
 */
#include "can.h"
#include "proc_tree.h"

#include <stdint.h>
#include <stddef.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static void a_process_is_told_whole(void **state)
{
	static const char args[] = "python\0train.py\0--lr\0"
				   "0.1";
	struct gk_process p;

	(void)state;
	tree_stat(&tree,
		  (struct tree_stat){42, "python", 'S', 7, 100, 50, 1000, 25});
	tree_write(&tree, "42/cmdline", args, sizeof args);
	tree_text(&tree, "42/cgroup", "0::/lxc/box\n");
	p = look(42, 100, 0);
	assert_int_equal(p.state, GK_PROCESS_RUNNING);
	assert_int_equal(p.parent, 7);
	assert_string_equal(p.name, "python");
	assert_string_equal(p.command, "python train.py --lr 0.1");
	assert_int_equal(p.args_len, sizeof args);
	assert_memory_equal(p.args, args, sizeof args);
	assert_string_equal(p.container, "box");
	assert_int_equal(p.uid, geteuid());
	assert_string_not_equal(p.user, "");
	assert_int_equal(p.start_ticks, 1000);
	assert_int_equal(p.m[GK_PM_RSS].why, GK_PRESENT);
	assert_int_equal(p.m[GK_PM_RSS].v, 25 * sysconf(_SC_PAGESIZE));
	assert_int_equal(p.m[GK_PM_RUN_TIME].v,
			 100 * GK_NS_PER_S - 1000 * tick_ns);
	assert_int_equal(p.m[GK_PM_CPU].why, GK_ABSENT_ONE_SNAPSHOT);
}

static void what_is_not_asked_for_is_not_read(void **state)
{
	struct gk_process p;

	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'S', 7, 0, 0, 1, 1});
	tree_write(&tree, "42/cmdline", "secret", 7);
	tree_text(&tree, "42/cgroup", "0::/lxc/box\n");
	p = look(42, 100, GK_WITHOUT_COMMANDS);
	assert_string_equal(p.container, "");
	assert_string_equal(p.name, "x");
	assert_string_equal(p.command, "");
	assert_int_equal(p.args_len, 0);
}

static void names_with_parentheses_are_kept(void **state)
{
	(void)state;
	tree_stat(&tree,
		  (struct tree_stat){42, "a) S 1 (b", 'R', 7, 0, 0, 5, 1});
	assert_string_equal(look(42, 100, 0).name, "a) S 1 (b");
	assert_int_equal(look(42, 100, 0).parent, 7);
}

static void control_bytes_and_broken_utf8_are_cleaned(void **state)
{
	static const char args[] = "a\x1b[31m\0b\nc\0\xff\xfe\0\xc3\xa4";
	struct gk_process p;

	(void)state;
	tree_stat(&tree,
		  (struct tree_stat){42, "\x1b]0;x\a\xff", 'R', 7, 0, 0, 5, 1});
	tree_write(&tree, "42/cmdline", args, sizeof args);
	p = look(42, 100, 0);
	assert_string_equal(p.name, "?]0;x?\xef\xbf\xbd");
	assert_string_equal(p.command,
			    "a?[31m b?c \xef\xbf\xbd\xef\xbf\xbd \xc3\xa4");
	assert_int_equal(p.args_len, sizeof args);
	assert_memory_equal(p.args, args, sizeof args);
}

static void empty_and_blank_command_lines(void **state)
{
	struct gk_process p;

	(void)state;
	tree_stat(&tree, (struct tree_stat){2, "kthreadd", 'S', 0, 0, 0, 0, 0});
	tree_write(&tree, "2/cmdline", "", 0);
	p = look(2, 100, 0);
	assert_string_equal(p.command, "");
	assert_int_equal(p.args_len, 0);
	assert_string_equal(p.name, "kthreadd");
	assert_string_equal(p.container, "");
	tree_write(&tree, "2/cmdline", "\0\0\0", 3);
	p = look(2, 110, 0);
	assert_string_equal(p.command, "");
	assert_int_equal(p.args_len, 3);
	tree_write(&tree, "2/cmdline", "\0a\0", 3);
	assert_string_equal(look(2, 120, 0).command, " a");
}

static void very_long_command_lines_are_cut(void **state)
{
	enum { LONG = 300000 };
	char *args = malloc(LONG);
	struct gk_process p;

	(void)state;
	memset(args, 0xff, LONG);
	tree_stat(&tree, (struct tree_stat){42, "x", 'R', 7, 0, 0, 5, 1});
	tree_write(&tree, "42/cmdline", args, LONG);
	p = look(42, 100, 0);
	assert_int_equal(p.args_len, 65536);
	assert_int_equal(strlen(p.command), 3 * 65536);
	free(args);
}

static void a_zombie_is_one(void **state)
{
	struct gk_process p;

	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'Z', 7, 9, 9, 5, 0});
	tree_write(&tree, "42/cmdline", "", 0);
	p = look(42, 100, 0);
	assert_int_equal(p.state, GK_PROCESS_ZOMBIE);
	assert_string_equal(p.name, "x");
	assert_int_equal(p.m[GK_PM_RSS].v, 0);
}

static void a_process_without_files_is_gone(void **state)
{
	struct gk_process p = look(42, 100, 0);

	(void)state;
	assert_int_equal(p.state, GK_PROCESS_GONE);
	assert_string_equal(p.name, "");
	assert_string_equal(p.user, "");
	assert_string_equal(p.command, "");
	assert_string_equal(p.container, "");
	assert_int_equal(p.uid, (uid_t)-1);
	assert_int_equal(p.start_ticks, 0);
	assert_int_equal(p.m[GK_PM_CPU].why, GK_ABSENT_HIDDEN);
	assert_int_equal(p.m[GK_PM_RSS].why, GK_ABSENT_HIDDEN);
	assert_int_equal(p.m[GK_PM_RUN_TIME].why, GK_ABSENT_HIDDEN);
	/* It ends while it is read. */
	tree_write(&tree, "42/stat", "", 0);
	assert_int_equal(look(42, 100, 0).state, GK_PROCESS_GONE);
}

/*
 * The process exists, but /proc lacks fields: it is not gone, and the rest
 * holds.
 */
static void a_stat_file_without_fields_hides_numbers_only(void **state)
{
	struct gk_process p;

	(void)state;
	tree_text(&tree, "42/stat", "42 (python) S 7 1 1\n");
	tree_write(&tree, "42/cmdline", "python\0x", 9);
	p = look(42, 100, 0);
	assert_int_equal(p.state, GK_PROCESS_NO_PERMISSION);
	assert_int_equal(p.m[GK_PM_CPU].why, GK_ABSENT_HIDDEN);
	assert_int_equal(p.m[GK_PM_RSS].why, GK_ABSENT_HIDDEN);
	assert_int_equal(p.uid, geteuid());
	assert_string_equal(p.command, "python x");
}

/* Reads as a user whom /proc refuses; a child gives up root. */
static void what_may_not_be_read_says_so(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'R', 7, 0, 0, 5, 1});
	chmod(tree.path, 0755);
	assert_int_equal(fchmodat(tree.fd, "42/stat", 0, 0), 0);
	pid = fork();
	if (!pid) {
		struct gk_process p;

		if (geteuid() == 0 && setresuid(12345, 12345, 12345))
			_exit(9);
		p = look(42, 100, 0);
		_exit(p.state != GK_PROCESS_NO_PERMISSION          ? 1
		      : p.m[GK_PM_RSS].why != GK_ABSENT_PERMISSION ? 2
		      : p.m[GK_PM_CPU].why != GK_ABSENT_PERMISSION ? 3
		      : p.uid == (uid_t)-1 || !*p.user             ? 4
								   : 0);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void a_user_without_a_name_is_a_number(void **state)
{
	struct gk_process p;

	(void)state;
	need_root();
	tree_stat(&tree, (struct tree_stat){42, "x", 'R', 7, 0, 0, 5, 1});
	assert_int_equal(fchownat(tree.fd, "42", 3999999999U, 0, 0), 0);
	p = look(42, 100, 0);
	assert_string_equal(p.user, "3999999999");
	assert_int_equal(p.uid, 3999999999U);
	assert_int_equal(fchownat(tree.fd, "42", 0, 0, 0), 0);
	assert_string_equal(look(42, 110, 0).user, "root");
}

static const struct {
	unsigned long user, sys; /* ticks spent in the two seconds */
	int64_t centipercent;
} shares[] = {
    {0, 0, 0},  {200, 0, 10000},  {100, 100, 10000}, {1, 0, 50},
    {0, 1, 50}, {1600, 0, 80000}, {66, 0, 3300},
};

static void cpu_percent_is_the_difference_of_two_snapshots(void **state)
{
	unsigned long user = 500, sys = 300, hz;

	(void)state;
	hz = (unsigned long)(GK_NS_PER_S / tick_ns);
	assert_int_equal(hz, 100);
	tree_stat(&tree, (struct tree_stat){42, "x", 'R', 7, user, sys, 5, 1});
	look(42, 10, 0);
	for (size_t i = 0; i < COUNT(shares); i++) {
		struct gk_value cpu;

		user += shares[i].user;
		sys += shares[i].sys;
		tree_stat(&tree,
			  (struct tree_stat){42, "x", 'R', 7, user, sys, 5, 1});
		cpu = look(42, 12 + 2 * i, 0).m[GK_PM_CPU];
		assert_int_equal(cpu.why, GK_PRESENT);
		assert_int_equal(cpu.v, shares[i].centipercent);
	}
}

static void a_recycled_pid_starts_anew(void **state)
{
	struct gk_value cpu;

	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'R', 7, 500, 0, 5, 1});
	look(42, 10, 0);
	tree_stat(&tree, (struct tree_stat){42, "x", 'R', 7, 600, 0, 6, 1});
	cpu = look(42, 12, 0).m[GK_PM_CPU];
	assert_int_equal(cpu.why, GK_ABSENT_ONE_SNAPSHOT);
	tree_stat(&tree, (struct tree_stat){42, "x", 'R', 7, 700, 0, 6, 1});
	cpu = look(42, 14, 0).m[GK_PM_CPU];
	assert_int_equal(cpu.why, GK_PRESENT);
	assert_int_equal(cpu.v, 5000);
}

static void a_process_that_was_away_starts_anew(void **state)
{
	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'R', 7, 500, 0, 5, 1});
	tree_stat(&tree, (struct tree_stat){43, "y", 'R', 7, 500, 0, 5, 1});
	look(42, 10, 0);
	look(43, 12, 0);
	assert_int_equal(look(42, 14, 0).m[GK_PM_CPU].why,
			 GK_ABSENT_ONE_SNAPSHOT);
}

static void clocks_that_stand_still_give_no_percentage(void **state)
{
	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'R', 7, 500, 0, 5, 1});
	look(42, 10, 0);
	assert_int_equal(look(42, 10, 0).m[GK_PM_CPU].why,
			 GK_ABSENT_ONE_SNAPSHOT);
	/* CPU time that goes back counts as 0, not as a huge value. */
	tree_stat(&tree, (struct tree_stat){42, "x", 'R', 7, 400, 0, 5, 1});
	assert_int_equal(look(42, 12, 0).m[GK_PM_CPU].v, 0);
}

static void many_processes_are_each_remembered(void **state)
{
	enum { MANY = 300 };
	struct gk_process p[MANY];

	(void)state;
	for (uint64_t turn = 0; turn < 2; turn++) {
		gk_procfs_begin(fs, (10 + turn) * GK_NS_PER_S, 0);
		for (int i = 0; i < MANY; i++) {
			unsigned long used = turn * (unsigned long)i;

			tree_stat(&tree, (struct tree_stat){
					     1000 + i, "x", 'R', 1, used, 0,
					     (unsigned long)i, 1});
			p[i] = (struct gk_process){.pid = 1000 + i};
			gk_procfs_read(fs, 0, &arena, &p[i]);
		}
		gk_procfs_end(fs);
	}
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(p[i].m[GK_PM_CPU].why, GK_PRESENT);
		assert_int_equal(p[i].m[GK_PM_CPU].v, i * 100);
	}
}

/* One more process each time, before the others: whatever the capacity is, it
 * is exceeded while a known process is read. */
static void newcomers_do_not_disturb_the_known(void **state)
{
	enum { FIRST = 2000, MOST = 140 };

	(void)state;
	for (int count = 1; count <= MOST; count++) {
		gk_procfs_begin(fs, (uint64_t)count * GK_NS_PER_S, 0);
		tree_stat(&tree, (struct tree_stat){FIRST - count, "x", 'R', 1,
						    0, 0, 5, 1});
		for (int i = 0; i < count; i++) {
			struct gk_process p = {.pid = FIRST - count + i};

			gk_procfs_read(fs, 0, &arena, &p);
			assert_int_equal(p.m[GK_PM_CPU].why,
					 i ? GK_PRESENT
					   : GK_ABSENT_ONE_SNAPSHOT);
		}
		gk_procfs_end(fs);
	}
}

static void huge_numbers_stay_positive(void **state)
{
	struct gk_process p;

	(void)state;
	tree_stat(&tree,
		  (struct tree_stat){42, "x", 'R', 7, ~0UL, ~0UL, ~0UL, ~0UL});
	look(42, 10, 0);
	p = look(42, 12, 0);
	assert_true(p.m[GK_PM_RSS].v >= 0);
	assert_true(p.m[GK_PM_RUN_TIME].v >= 0);
	assert_true(p.m[GK_PM_CPU].v >= 0);
}

static void words_are_kept_for_seconds_and_a_new_name_ends_them(void **state)
{
	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "sh", 'S', 7, 0, 0, 5, 1});
	tree_text(&tree, "42/cmdline", "one");
	assert_string_equal(look(42, 10, 0).command, "one");
	tree_text(&tree, "42/cmdline", "two");
	/* After five seconds, plus a fraction from the last four bits of 42. */
	assert_string_equal(look(42, 16, 0).command, "one");
	assert_string_equal(look(42, 17, 0).command, "two");
	tree_text(&tree, "42/cmdline", "three");
	tree_stat(&tree, (struct tree_stat){42, "bash", 'S', 7, 0, 0, 5, 1});
	assert_string_equal(look(42, 18, 0).command, "three");
	tree_text(&tree, "42/cmdline", "four");
	tree_stat(&tree, (struct tree_stat){42, "bash", 'S', 7, 0, 0, 6, 1});
	assert_string_equal(look(42, 19, 0).command, "four");
}

/* With many processes not all are due at once. */
static void words_of_others_are_due_at_other_times(void **state)
{
	static const struct {
		pid_t pid;
		uint64_t kept_s, read_s;
	} rows[] = {{32, 5, 6}, {41, 5, 6}, {47, 6, 7}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char name[32];

		snprintf(name, sizeof name, "%d/cmdline", (int)rows[i].pid);
		tree_stat(&tree, (struct tree_stat){rows[i].pid, "sh", 'S', 7,
						    0, 0, 5, 1});
		tree_text(&tree, name, "one");
		assert_string_equal(look(rows[i].pid, 10, 0).command, "one");
		tree_text(&tree, name, "two");
		assert_string_equal(
		    look(rows[i].pid, 10 + rows[i].kept_s, 0).command, "one");
		assert_string_equal(
		    look(rows[i].pid, 10 + rows[i].read_s, 0).command, "two");
	}
}

/* All words come back as they were, with their arguments. */
static void kept_words_are_whole(void **state)
{
	static const char args[] = "run\0it\0";
	struct gk_process before, p;

	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "sh", 'S', 7, 0, 0, 5, 1});
	tree_write(&tree, "42/cmdline", args, sizeof args - 1);
	tree_text(&tree, "42/cgroup",
		  "0::/kubepods/pod8dc9e1a4-5c0b-4d4e-9f0a-0123456789ab/"
		  "0123456789abcdef0123456789abcdef"
		  "0123456789abcdef0123456789abcdef\n");
	before = look(42, 10, 0);
	assert_int_equal(unlinkat(tree.fd, "42/cmdline", 0), 0);
	assert_int_equal(unlinkat(tree.fd, "42/cgroup", 0), 0);
	p = look(42, 11, 0);
	assert_string_equal(p.command, "run it");
	assert_int_equal(p.args_len, sizeof args - 1);
	assert_memory_equal(p.args, args, sizeof args - 1);
	assert_string_equal(p.container, before.container);
	assert_int_equal(strlen(p.container), 64);
	assert_string_equal(p.pod, "8dc9e1a4-5c0b-4d4e-9f0a-0123456789ab");
	assert_int_equal(p.uid, geteuid());
	assert_string_equal(p.user, before.user);
}

static void times_and_states_have_their_ends(void **state)
{
	struct gk_process p;

	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'X', 7, 0, 0, 900, 1});
	p = look(42, 10, 0);
	assert_int_equal(p.state, GK_PROCESS_ZOMBIE);
	assert_int_equal(p.stat, 'X');
	assert_int_equal(p.m[GK_PM_RUN_TIME].v, GK_NS_PER_S);
	/* Started after the snapshot began. */
	p = look(42, 9, 0);
	assert_int_equal(p.m[GK_PM_RUN_TIME].v, 0);
	p = look(42, 8, 0);
	assert_int_equal(p.m[GK_PM_RUN_TIME].v, 0);
	assert_int_equal(p.m[GK_PM_CPU].why, GK_ABSENT_ONE_SNAPSHOT);
}

static void the_snapshot_before_can_be_forgotten(void **state)
{
	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'R', 7, 500, 0, 5, 1});
	look(42, 10, 0);
	gk_procfs_forget(fs);
	assert_int_equal(look(42, 12, 0).m[GK_PM_CPU].why,
			 GK_ABSENT_ONE_SNAPSHOT);
	assert_int_equal(look(42, 14, 0).m[GK_PM_CPU].why, GK_PRESENT);
}

static void the_true_proc_knows_this_process(void **state)
{
	struct gk_process p = {.pid = getpid()};
	struct gk_procfs *own;

	(void)state;
	assert_int_equal(gk_procfs_open(-1, &own), 0);
	gk_procfs_begin(own, gk_mono_ns(), gk_boot_ns());
	gk_procfs_read(own, 0, &arena, &p);
	gk_procfs_end(own);
	gk_procfs_close(own);
	assert_int_equal(p.parent, getppid());
	assert_non_null(strstr(p.command, "procfs"));
	assert_true(p.m[GK_PM_RSS].v > 100000);
	assert_true(p.m[GK_PM_RUN_TIME].v >= 0);
	assert_true(p.m[GK_PM_RUN_TIME].v < (int64_t)(600 * GK_NS_PER_S));
}

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static struct gk_process look_at_true(struct gk_procfs *true_proc, pid_t pid)
{
	struct gk_process p = {.pid = pid};

	gk_procfs_begin(true_proc, gk_mono_ns(), gk_boot_ns());
	gk_procfs_read(true_proc, GK_WITHOUT_COMMANDS, &arena, &p);
	gk_procfs_end(true_proc);
	return p;
}

static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return pid;
}

static void end_sleeper(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_kept_line_is_of_its_process_alone(void **state)
{
	struct gk_procfs *true_proc;
	pid_t pid = start_sleeper();
	int before;

	(void)state;
	assert_int_equal(gk_procfs_open(-1, &true_proc), 0);
	before = count_descriptors();
	for (int i = 0; i < 3; i++) {
		struct gk_process p = look_at_true(true_proc, pid);

		assert_int_equal(p.state, GK_PROCESS_RUNNING);
		assert_int_equal(p.parent, getpid());
		assert_int_equal(p.m[GK_PM_CPU].why,
				 i ? GK_PRESENT : GK_ABSENT_ONE_SNAPSHOT);
		assert_int_equal(count_descriptors(), before + 1);
	}
	end_sleeper(pid);
	assert_int_equal(look_at_true(true_proc, pid).state, GK_PROCESS_GONE);
	assert_int_equal(count_descriptors(), before);
	gk_procfs_close(true_proc);
}

static void few_descriptors_are_kept(void **state)
{
	enum { SLEEPERS = 80, KEPT = 64 };
	struct gk_procfs *true_proc;
	pid_t pids[SLEEPERS];
	int before;

	(void)state;
	for (int i = 0; i < SLEEPERS; i++)
		pids[i] = start_sleeper();
	assert_int_equal(gk_procfs_open(-1, &true_proc), 0);
	before = count_descriptors();
	for (int round = 0; round < 2; round++) {
		gk_procfs_begin(true_proc, gk_mono_ns(), gk_boot_ns());
		for (int i = 0; i < SLEEPERS; i++) {
			struct gk_process p = {.pid = pids[i]};

			gk_procfs_read(true_proc, GK_WITHOUT_COMMANDS, &arena,
				       &p);
			assert_int_equal(p.parent, getpid());
		}
		gk_procfs_end(true_proc);
		assert_int_equal(count_descriptors(), before + KEPT);
	}
	for (int i = 0; i < SLEEPERS; i++)
		end_sleeper(pids[i]);
	gk_procfs_close(true_proc);
	assert_int_equal(count_descriptors(), before - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(a_process_is_told_whole),
	    T(what_is_not_asked_for_is_not_read),
	    T(names_with_parentheses_are_kept),
	    T(control_bytes_and_broken_utf8_are_cleaned),
	    T(empty_and_blank_command_lines),
	    T(very_long_command_lines_are_cut),
	    T(a_zombie_is_one),
	    T(a_process_without_files_is_gone),
	    T(a_stat_file_without_fields_hides_numbers_only),
	    T(what_may_not_be_read_says_so),
	    T(a_user_without_a_name_is_a_number),
	    T(cpu_percent_is_the_difference_of_two_snapshots),
	    T(a_recycled_pid_starts_anew),
	    T(a_process_that_was_away_starts_anew),
	    T(clocks_that_stand_still_give_no_percentage),
	    T(many_processes_are_each_remembered),
	    T(newcomers_do_not_disturb_the_known),
	    T(huge_numbers_stay_positive),
	    T(words_are_kept_for_seconds_and_a_new_name_ends_them),
	    T(words_of_others_are_due_at_other_times),
	    T(kept_words_are_whole),
	    T(times_and_states_have_their_ends),
	    T(the_snapshot_before_can_be_forgotten),
	    T(the_true_proc_knows_this_process),
	    T(a_kept_line_is_of_its_process_alone),
	    T(few_descriptors_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
