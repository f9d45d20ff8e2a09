/* SPDX-License-Identifier: Apache-2.0 */
/* child.c - starts and ends commands. */
#include "hosts/child.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_NS (2 * GK_NS_PER_S)

/*
 * Makes the child start with no signal blocked or ignored, even if this process
 * blocks or ignores some.
 */
static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, all;
	int r;

	sigemptyset(&none);
	sigfillset(&all);
	r = posix_spawnattr_setsigmask(attributes, &none);
	if (!r)
		r = posix_spawnattr_setsigdefault(attributes, &all);
	if (!r)
		r = posix_spawnattr_setflags(
		    attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
				    POSIX_SPAWN_SETSIGDEF);
	return r;
}

static int set_files(posix_spawn_file_actions_t *files, int out, int err)
{
	int r = posix_spawn_file_actions_addopen(files, STDIN_FILENO,
						 "/dev/null", O_RDONLY, 0);

	if (!r)
		r = posix_spawn_file_actions_adddup2(files, out, STDOUT_FILENO);
	if (!r)
		r = posix_spawn_file_actions_adddup2(files, err, STDERR_FILENO);
	return r;
}

static int spawn_command(char *const argv[], int out, int err, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int r = posix_spawn_file_actions_init(&files);

	if (r)
		return r;
	r = posix_spawnattr_init(&attributes);
	if (!r) {
		r = set_attributes(&attributes);
		if (!r)
			r = set_files(&files, out, err);
		if (!r)
			r = posix_spawnp(ret_pid, argv[0], &files, &attributes,
					 argv, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&files);
	return r;
}

/* Makes a pipe. Only the reading end, which we keep, is non-blocking. */
static int make_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC) < 0)
		return errno;
	return fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ? errno : 0;
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int gk_child_start(char *const argv[], struct gk_child *ret_child)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1}, r = make_pipe(out);
	pid_t pid = 0;

	if (!r)
		r = make_pipe(err);
	if (!r)
		r = spawn_command(argv, out[1], err[1], &pid);
	close_end(&out[1]);
	close_end(&err[1]);
	if (r) {
		close_end(&out[0]);
		close_end(&err[0]);
		return r;
	}
	*ret_child =
	    (struct gk_child){.pid = pid, .out = out[0], .err = err[0]};
	return 0;
}

bool gk_child_has_ended(struct gk_child *child, int *ret_status)
{
	if (waitpid(child->pid, ret_status, WNOHANG) != child->pid)
		return false;
	child->pid = 0;
	return true;
}

/*
 * Signals the child's whole process group. The kernel cannot reuse the group's
 * id before we have waited for the child.
 */
bool gk_child_end(struct gk_child *child, int *ret_status)
{
	uint64_t now = gk_mono_ns();

	if (!child->ended_ns) {
		child->ended_ns = now;
		kill(-child->pid, SIGTERM);
	} else if (now - child->ended_ns >= PATIENCE_NS) {
		kill(-child->pid, SIGKILL);
	}
	return gk_child_has_ended(child, ret_status);
}

void gk_child_close(struct gk_child *child)
{
	close_end(&child->out);
	close_end(&child->err);
}
