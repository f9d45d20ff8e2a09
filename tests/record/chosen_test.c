/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen_test.c - checks which processes are chosen, on real ones that the test
 * starts.
 */
#include "unit.h"

#include "base/pidstat.h"
#include "base/clock.h"
#include "record/chosen.h"
#include "record/system.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "/bin/sleep"

static struct gk_chosen *chosen;
static bool literal;
static char why[256];
static int proc;
static int death_signal = SIGKILL; /* to children when their parent ends */

/* Its name is known before its arguments. */
static bool has_arguments(pid_t pid)
{
	char path[64], first;
	bool has;
	int fd;

	snprintf(path, sizeof path, "%d/cmdline", (int)pid);
	fd = openat(proc, path, O_RDONLY);
	has = fd >= 0 && read(fd, &first, 1) == 1;
	close(fd);
	return has;
}

/* Starts a process with arguments; returns the result of fork(). */
static pid_t start(const char *const *argv)
{
	struct gk_pidstat st;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, death_signal);
		execv(PROGRAM, (char *const *)(uintptr_t)argv);
		_exit(1);
	}
	do
		assert_int_equal(gk_pidstat_read(proc, pid, &st), 0);
	while (strcmp(st.comm, "sleep") != 0 || !has_arguments(pid));
	return pid;
}

static pid_t start_sleep(const char *name)
{
	return start((const char *const[]){name, "1000", NULL});
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void choose(struct gk_chosen_options options)
{
	assert_int_equal(gk_chosen_new(&options, &literal, why, &chosen), 0);
}

static const char *command_of(pid_t pid)
{
	struct gk_chosen_process p;

	return gk_chosen_take(chosen, pid, &p) ? p.command : NULL;
}

static int setup(void **state)
{
	(void)state;
	proc = open("/proc", O_RDONLY | O_DIRECTORY);
	return proc < 0;
}

static int teardown(void **state)
{
	(void)state;
	gk_chosen_free(chosen);
	chosen = NULL;
	return close(proc);
}

static void commands_are_whole_and_as_they_are(void **state)
{
	static const char *const argv[] = {"say \"hi\",\nworld", "1000", NULL};
	pid_t pid = start(argv);

	(void)state;
	choose((struct gk_chosen_options){0});
	assert_string_equal(command_of(pid), "say \"hi\",\nworld 1000");
	end(pid);
}

static void an_expression_sees_all_of_a_command(void **state)
{
	static const struct {
		const char *regex;
		bool matches, literal;
	} rows[] = {
	    {"^train", true, false},        {"train.*1000$", true, false},
	    {"(?<=tra)in", true, false},    {"TRAIN", false, false},
	    {"(?i)TRAIN", true, false},     {"^1000", false, false},
	    {"train\\b.1000", true, false}, {"", true, false},
	    {"train(", false, true},        {"rain 1[", false, true},
	    {"*ain", false, true},
	};
	pid_t pid = start_sleep("train");

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		choose((struct gk_chosen_options){.regex = rows[i].regex});
		assert_int_equal(literal, rows[i].literal);
		assert_int_equal(command_of(pid) != NULL, rows[i].matches);
		gk_chosen_free(chosen);
		chosen = NULL;
	}
	end(pid);
	pid = start_sleep("a train( of");
	choose((struct gk_chosen_options){.regex = "train("});
	assert_true(literal && strlen(why) > 5);
	assert_non_null(command_of(pid));
	end(pid);
}

static void bytes_that_are_no_text_are_no_trouble(void **state)
{
	pid_t pid = start_sleep("bad\xff\xfe byte");

	(void)state;
	choose((struct gk_chosen_options){.regex = "byte 1000$"});
	assert_non_null(command_of(pid));
	end(pid);
}

/* The kernel assigns pids in turn: one more round, where that is allowed. */
static bool start_as(pid_t wanted, pid_t *ret_pid)
{
	FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");
	bool told = last && fprintf(last, "%d", (int)wanted - 1) > 0;

	if (last)
		told &= fclose(last) == 0;
	if (!told)
		return false;
	*ret_pid = start_sleep("another");
	return *ret_pid == wanted;
}

/* The kernel reports starts in ticks; a pid is never reused that fast. */
static void await_next_tick(void)
{
	uint64_t tick = GK_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t begin = gk_boot_ns() / tick;

	while (gk_boot_ns() / tick <= begin)
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);
}

static void a_pid_that_is_used_again_is_another_process(void **state)
{
	pid_t pid = start_sleep("one"), other = start_sleep("two"), again;

	(void)state;
	choose((struct gk_chosen_options){.pids = &pid, .pid_count = 1});
	assert_string_equal(command_of(pid), "one 1000");
	assert_null(command_of(other));
	assert_false(gk_chosen_all_gone(chosen));
	end(pid);
	assert_true(gk_chosen_all_gone(chosen));
	await_next_tick();
	if (start_as(pid, &again)) {
		assert_null(command_of(pid));
		end(again);
	}
	end(other);
}

/* Starts a child that starts a child and waits; returns the first one. */
static pid_t start_family(pid_t *ret_grandchild)
{
	int pipes[2];
	pid_t child;

	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (!child) {
		pid_t grandchild;

		death_signal = 0; /* the grandchild outlives its parent */
		grandchild = start_sleep("grandchild");
		(void)!write(pipes[1], &grandchild, sizeof grandchild);
		pause();
		_exit(0);
	}
	assert_int_equal(read(pipes[0], ret_grandchild, sizeof(pid_t)),
			 sizeof(pid_t));
	close(pipes[0]);
	close(pipes[1]);
	return child;
}

static void families_are_chosen_whole(void **state)
{
	pid_t grandchild, child = start_family(&grandchild), self = getpid();

	(void)state;
	choose((struct gk_chosen_options){.pids = &self, .pid_count = 1});
	assert_null(command_of(grandchild));
	gk_chosen_free(chosen);
	choose((struct gk_chosen_options){
	    .pids = &self, .pid_count = 1, .children = true});
	assert_non_null(command_of(grandchild));
	gk_chosen_end(chosen);
	end(child); /* it stays in the family */
	assert_non_null(command_of(grandchild));
	kill(grandchild, SIGKILL);
}

enum { MANY = 300 };

/* More than its table first has room for. */
static void many_processes_are_chosen(void **state)
{
	pid_t pids[MANY];

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(0);
		}
	}
	choose((struct gk_chosen_options){.pids = pids, .pid_count = MANY});
	for (size_t i = 0; i < MANY; i++)
		assert_non_null(command_of(pids[i]));
	assert_null(command_of(getpid()));
	for (size_t i = 0; i < MANY; i++)
		assert_non_null(command_of(pids[i]));
	assert_int_equal(gk_chosen_end(chosen), 0);
	for (size_t i = 0; i < MANY; i++)
		end(pids[i]);
	assert_true(gk_chosen_all_gone(chosen));
}

/* Children of the recorder inherit nothing of it. */
static void no_descriptor_is_inherited(void **state)
{
	pid_t self = getpid();
	bool was_open[256];
	int opened = 0;

	(void)state;
	for (int fd = 0; fd < 256; fd++)
		was_open[fd] = fcntl(fd, F_GETFD) >= 0;
	choose((struct gk_chosen_options){.pids = &self, .pid_count = 1});
	assert_non_null(command_of(self));
	for (int fd = 0; fd < 256; fd++) {
		int flags = was_open[fd] ? -1 : fcntl(fd, F_GETFD);

		opened += flags >= 0;
		if (flags >= 0)
			assert_true(flags & FD_CLOEXEC);
	}
	assert_true(opened > 0);
}

static void the_recorder_is_no_root_of_a_match(void **state)
{
	pid_t pid = start_sleep("other");

	(void)state;
	choose((struct gk_chosen_options){.regex = "^[^ ]*test-record-chosen$",
					  .children = true});
	assert_null(command_of(pid));
	assert_null(command_of(getpid()));
	end(pid);
}

static void usage_is_of_a_process_or_a_family(void **state)
{
	pid_t grandchild, child = start_family(&grandchild);
	struct gk_process processes[] = {
	    {.pid = grandchild, .m[GK_PM_GPU_MEM].v = 100},
	    {.pid = grandchild, .device = 1, .m[GK_PM_GPU_MEM].v = 23},
	    {.pid = getpid(), .m[GK_PM_GPU_MEM].v = 1000},
	};
	struct gk_snapshot snap = {.processes = processes, .process_count = 3};
	struct gk_usage usage;
	uint64_t started = 0;

	(void)state;
	gk_usage_read(proc, child, &started, false, &snap, &usage);
	assert_true(usage.there && started);
	assert_int_equal(usage.used.why, GK_ABSENT_NONE);
	assert_true(usage.cpus.len > 0);
	gk_buf_free(&usage.cpus);
	gk_usage_read(proc, child, &started, true, &snap, &usage);
	assert_int_equal(usage.used.v, 123);
	gk_buf_free(&usage.cpus);
	started++; /* another process with that pid */
	gk_usage_read(proc, child, &started, true, &snap, &usage);
	assert_false(usage.there);
	kill(grandchild, SIGKILL);
	end(child);
	started = 0;
	gk_usage_read(proc, child, &started, false, &snap, &usage);
	assert_false(usage.there);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(commands_are_whole_and_as_they_are),
	    T(an_expression_sees_all_of_a_command),
	    T(bytes_that_are_no_text_are_no_trouble),
	    T(a_pid_that_is_used_again_is_another_process),
	    T(families_are_chosen_whole),
	    T(many_processes_are_chosen),
	    T(no_descriptor_is_inherited),
	    T(the_recorder_is_no_root_of_a_match),
	    T(usage_is_of_a_process_or_a_family),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
