/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - ends the command if its launcher is killed. The watch is a child of
 * the launcher, in a session of its own so that signals to the launcher's
 * process group do not reach it. It ends all descendants of the command:
 * processes started with the launcher's mark in their environment, and children
 * of such processes. The next launcher removes the machine.
 */
#include "base/calls.h"
#include "base/clock.h"
#include "base/pidstat.h"
#include "base/str.h"
#include "cli/fake/fake.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK "GPUKIT_LAUNCHER"

/*
 * TERM_NS is the time from SIGTERM to SIGKILL. After GIVE_UP_NS the watch gives
 * up on processes that it cannot end. LOOK_NS is the time between two scans of
 * /proc.
 */
#define TERM_NS    GK_NS_PER_S
#define GIVE_UP_NS (10 * GK_NS_PER_S)
#define LOOK_NS    (10 * GK_NS_PER_MS)

#define ENVIRON_MAX (256 * 1024) /* bytes read of an environment */

struct watch {
	char mark[64]; /* "pid:start" */
	pid_t launcher, command;
	uint64_t command_start;
};

/* A process of the system; `ours` means that it must be ended. */
struct seen {
	pid_t pid, parent;
	bool ours;
};

struct all {
	struct seen *at;
	size_t count, room;
};

static void write_mark(char *to, size_t cap)
{
	struct gk_pidstat self = {0};

	gk_pidstat_self(&self);
	snprintf(to, cap, "%d:%llu", (int)getpid(),
		 (unsigned long long)self.start);
}

/*
 * Adds this launcher's mark to the variable. The marks of enclosing launchers
 * stay, because those must find the processes too.
 */
int fake_watch_mark(void)
{
	const char *around = getenv(MARK);
	struct gk_buf all = {0};
	char mark[64];
	int r = -1;

	write_mark(mark, sizeof mark);
	if (around && *around)
		gk_buf_printf(&all, "%s,", around);
	gk_buf_puts(&all, mark);
	if (!all.failed)
		r = setenv(MARK, all.data, 1);
	gk_buf_free(&all);
	return r;
}

/* Whether a list "pid:start,pid:start" contains the mark. */
static bool has_mark(const char *list, const char *mark)
{
	size_t length = strlen(mark), n;

	for (; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == length && !memcmp(list, mark, length))
			return true;
	}
	return false;
}

/*
 * Reads up to cap bytes. If an error ends the reading, returns what was read so
 * far: the process may be ending.
 */
static size_t read_environ(pid_t pid, char *to, size_t cap)
{
	char path[32];
	size_t size = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	while (size < cap && (n = read(fd, to + size, cap - size)) > 0)
		size += (size_t)n;
	close(fd);
	return size;
}

/*
 * Whether the environment of a process contains the mark. Reads one byte less
 * than the buffer holds, to leave space for a NUL.
 */
static bool bears_mark(pid_t pid, const char *mark, char *buffer)
{
	const size_t head = sizeof MARK; /* includes the '=' */
	size_t size = read_environ(pid, buffer, ENVIRON_MAX - 1);

	buffer[size] = '\0';
	for (char *at = buffer; at < buffer + size; at += strlen(at) + 1)
		if (!strncmp(at, MARK "=", head) && has_mark(at + head, mark))
			return true;
	return false;
}

static bool add_seen(struct all *all, const struct seen *seen)
{
	size_t room = all->room ? 2 * all->room : 256;
	struct seen *more;

	if (all->count == all->room) {
		more = realloc(all->at, room * sizeof *more);
		if (!more)
			return false;
		all->at = more;
		all->room = room;
	}
	all->at[all->count++] = *seen;
	return true;
}

/* Skips zombies, which have already ended, and this process itself. */
static void see_process(const struct watch *w, pid_t pid, struct all *all,
			char *buffer)
{
	struct gk_pidstat st;
	struct seen seen;

	if (pid == getpid() || gk_pidstat_of(pid, &st) || st.state == 'Z' ||
	    st.state == 'X')
		return;
	seen = (struct seen){.pid = pid, .parent = st.ppid};
	seen.ours = (pid == w->command && st.start == w->command_start) ||
		    bears_mark(pid, w->mark, buffer);
	add_seen(all, &seen);
}

static void see_all(const struct watch *w, struct all *all, char *buffer)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;

	all->count = 0;
	while (proc && (e = readdir(proc)))
		if (isdigit((unsigned char)*e->d_name))
			see_process(w, (pid_t)atoi(e->d_name), all, buffer);
	if (proc)
		closedir(proc);
}

static bool is_ours(const struct all *all, pid_t pid)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->at[i].pid == pid)
			return all->at[i].ours;
	return false;
}

/*
 * Marks the children of our processes as ours, then their children, and so on.
 */
static void adopt_children(struct all *all)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < all->count; i++) {
			struct seen *s = &all->at[i];

			if (s->ours || !is_ours(all, s->parent))
				continue;
			s->ours = true;
			more = true;
		}
	}
}

/* SIGCONT first: a stopped process would not handle SIGTERM; see children.c. */
static size_t signal_ours(const struct all *all, int number)
{
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++) {
		if (!all->at[i].ours)
			continue;
		count++;
		if (number == SIGTERM)
			kill(all->at[i].pid, SIGCONT);
		if (number)
			kill(all->at[i].pid, number);
	}
	return count;
}

/* Scans again and again, as processes may have been started in between. */
static void end_ours(const struct watch *w)
{
	uint64_t begin = gk_mono_ns(), passed;
	char *buffer = malloc(ENVIRON_MAX);
	struct all all = {0};
	int number = SIGTERM;

	while (buffer && (passed = gk_mono_ns() - begin) < GIVE_UP_NS) {
		see_all(w, &all, buffer);
		adopt_children(&all);
		if (!signal_ours(&all, number))
			break;
		number = passed < TERM_NS ? 0 : SIGKILL;
		gk_sleep_until(gk_mono_ns() + LOOK_NS);
	}
	free(all.at);
	free(buffer);
}

/* Closes all files, so that no terminal or pipe is kept open. */
static void let_go_of_files(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	gk_descriptors_close(3, false);
	if (chdir("/"))
		return; /* harmless: the directory just cannot be unmounted */
}

static void await_end(pid_t launcher)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	while (getppid() == launcher)
		sigwaitinfo(&set, NULL);
}

/*
 * Runs in the watch process. SIGTERM has been blocked by fake_signals_hold().
 */
static void __attribute__((noreturn)) keep_watch(const struct watch *w)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_NAME, "gpukit-watch");
	setsid();
	let_go_of_files();
	await_end(w->launcher);
	end_ours(w);
	_exit(0);
}

pid_t fake_watch_begin(pid_t command)
{
	struct watch w = {.launcher = getpid(), .command = command};
	struct gk_pidstat of = {0};
	pid_t pid;

	write_mark(w.mark, sizeof w.mark);
	gk_pidstat_of(command, &of);
	w.command_start = of.start;
	pid = fork();
	if (!pid)
		keep_watch(&w);
	return pid;
}

void fake_watch_end(pid_t watch)
{
	if (watch <= 0)
		return;
	kill(watch, SIGKILL);
	while (waitpid(watch, NULL, 0) < 0 && errno == EINTR)
		;
}
