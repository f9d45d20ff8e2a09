/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - `gpukit limit -- CMD`: makes or joins a group, and runs a command in
 * it.
 *
 * A named group persists, and this process becomes the command. A group without
 * a name ends with the command: this process waits for the command, forwards
 * signals, and holds a lock on the group's directory that shows other launchers
 * that it is alive.
 */
#include "base/err.h"
#include "cli/cmd.h"
#include "cli/command.h"
#include "cli/limit/limit.h"
#include "cli/where.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIBRARY   "libvgpu.so"
#define TEMPORARY "run-"
#define ATTEMPTS  100 /* number of group names to try */

static bool is_temporary(const char *name)
{
	return !strncmp(name, TEMPORARY, strlen(TEMPORARY));
}

/* ---- the environment of the command ---- */

/*
 * Appends our library, because a sanitizer's library must be preloaded first.
 */
static int preload_library(const char *library)
{
	const char *old = getenv("LD_PRELOAD");
	struct gk_buf value = {0};
	int failed;

	if (old && strstr(old, library))
		return 0;
	if (old && *old)
		gk_buf_printf(&value, "%s:", old);
	gk_buf_puts(&value, library);
	failed = value.failed || setenv("LD_PRELOAD", value.data, 1);
	gk_buf_free(&value);
	return failed ? limit_failure("out of memory") : 0;
}

static int enter_group(const char *path)
{
	char library[PATH_MAX];

	if (gk_where_library(LIBRARY, library, sizeof library))
		return limit_failure("libvgpu.so cannot be found; is /proc "
				     "mounted?");
	if (access(library, R_OK))
		return limit_failure("%s: %s; build or install gpukit again",
				     library, strerror(errno));
	if (strpbrk(library, ": "))
		return limit_failure("%s: LD_PRELOAD cannot contain a path "
				     "with ':' or a blank; install elsewhere",
				     library);
	if (setenv(LIMIT_VARIABLE, path, 1))
		return limit_failure("out of memory");
	return preload_library(library);
}

/*
 * Limits do not nest: a command in an inner group would escape the outer
 * limits.
 */
static int refuse_nesting(const struct limit_run *run)
{
	const char *outer = getenv(LIMIT_VARIABLE), *name;

	if (!outer || !*outer)
		return 0;
	name = strrchr(outer, '/') ? strrchr(outer, '/') + 1 : outer;
	if (run->group && !strcmp(run->group, name))
		return 0;
	return limit_failure("this shell is already in group %s, and groups do "
			     "not nest; change it: gpukit limit set %s ...",
			     name, name);
}

/* ---- a group with a name ---- */

static struct gkl_policy first_policy(const struct limit_wish *wish)
{
	struct gkl_policy policy = {.rule = GKL_FIXED, .priority = 1};

	limit_wish_apply(wish, &policy);
	return policy;
}

static int judge_wish(const struct limit_run *run)
{
	struct gkl_policy first = first_policy(&run->wish);

	return limit_wish_judge(&run->wish, &first, NULL);
}

/*
 * Joins a group. Its own limits apply; options are allowed if they repeat these
 * limits.
 */
static int join_group(const struct limit_run *run, struct gkl_group *group)
{
	struct gkl_policy now, wanted;
	int err = gkl_group_open(run->group, false, group);

	if (err)
		return limit_tell(run->group, err);
	gkl_policy_read(group->policy, &now);
	wanted = now;
	limit_wish_apply(&run->wish, &wanted);
	if (!memcmp(&now, &wanted, sizeof now))
		return 0;
	gkl_group_close(group);
	return limit_failure(
	    "group %s exists with other limits; leave them out to join it, or "
	    "change it: gpukit limit set %s ...",
	    run->group, run->group);
}

static int make_or_join(const struct limit_run *run, struct gkl_group *group)
{
	struct gkl_policy first = first_policy(&run->wish);
	int err;

	/*
	 * Does not create a group whose name looks temporary: other launchers
	 * would take it for the group of a launcher that is gone, and remove
	 * it.
	 */
	if (is_temporary(run->group))
		return join_group(run, group);
	err = gkl_group_make(run->group, &first, group);
	if (err == GK_ERR_EXISTS)
		return join_group(run, group);
	return err ? limit_tell(run->group, err) : 0;
}

static int run_in_named_group(const struct limit_run *run)
{
	struct gkl_group group;
	int code = make_or_join(run, &group);

	if (code)
		return code;
	code = enter_group(group.path);
	gkl_group_close(&group);
	return code ? code : gk_command_become("limit", run->command);
}

/* ---- a group that ends with its command ---- */

/*
 * Locks a group's directory. Returns -1 if the directory is already locked or
 * no longer exists.
 */
static int lock_group(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat held, there;

	if (fd < 0)
		return -1;
	if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &held) &&
	    !stat(path, &there) && held.st_ino == there.st_ino)
		return fd;
	close(fd);
	return -1;
}

/*
 * Removes a group, unless a process that was started in it is still running.
 * Such a process counts even if it has not used a GPU.
 */
static void remove_unused(const char *name, const char *path)
{
	if (!limit_has_members(path))
		gkl_group_remove(name);
}

/* Removes a group if its launcher has ended and no process uses the group. */
static void remove_orphan(const char *name, void *arg)
{
	struct gkl_group group;
	int lock;

	(void)arg;
	if (!is_temporary(name) || gkl_group_open(name, false, &group))
		return;
	lock = lock_group(group.path);
	if (lock >= 0)
		remove_unused(name, group.path);
	gkl_group_close(&group);
	if (lock >= 0)
		close(lock);
}

struct temporary {
	char name[GKL_NAME], path[sizeof((struct gkl_group *)0)->path];
	int lock;
};

/*
 * Makes a temporary group. Tries several names. A name may be in use, since pid
 * namespaces that share /dev/shm use the same pids. Besides, before we lock the
 * group, another launcher may take it for an orphan and remove it.
 */
static int make_temporary(const struct limit_run *run, struct temporary *ret)
{
	struct gkl_policy first = first_policy(&run->wish);
	int err = GK_ERR_EXISTS;

	for (unsigned i = 0; err == GK_ERR_EXISTS && i < ATTEMPTS; i++) {
		struct gkl_group group;

		snprintf(ret->name, sizeof ret->name,
			 i ? TEMPORARY "%d-%u" : TEMPORARY "%d", (int)getpid(),
			 i);
		err = gkl_group_make(ret->name, &first, &group);
		if (err)
			continue;
		gk_str_copy(ret->path, sizeof ret->path, group.path);
		gkl_group_close(&group);
		ret->lock = lock_group(ret->path);
		if (ret->lock < 0)
			err = GK_ERR_EXISTS;
	}
	return err ? limit_tell(ret->name, err) : 0;
}

/* Returns the signals that are forwarded to the command, and SIGCHLD. */
static sigset_t held_signals(void)
{
	static const int held[] = {SIGINT,  SIGTERM, SIGQUIT, SIGHUP,
				   SIGUSR1, SIGUSR2, SIGCHLD};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof held / sizeof *held; i++)
		sigaddset(&set, held[i]);
	return set;
}

/*
 * Forwards signals that were sent to us alone. Signals of the terminal, and
 * those sent to the whole process group, have reached the command already.
 */
static void pass_on(pid_t pid, const siginfo_t *info, pid_t *witness)
{
	bool of_all = limit_witness_saw(witness, info->si_signo);

	if (info->si_code <= 0 && !of_all)
		kill(pid, info->si_signo);
}

static int await_command(pid_t pid, const sigset_t *held)
{
	pid_t witness = limit_witness_start();
	siginfo_t info;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid)
		if (sigwaitinfo(held, &info) > 0 && info.si_signo != SIGCHLD)
			pass_on(pid, &info, &witness);
	limit_witness_end(witness);
	return WIFSIGNALED(status) ? GK_EXIT_SIGNAL + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

static void __attribute__((noreturn))
exec_limited(char *const *argv, pid_t launcher, const sigset_t *before)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != launcher)
		_exit(GK_EXIT_FAILURE);
	sigprocmask(SIG_SETMASK, before, NULL);
	_exit(gk_command_become("limit", argv));
}

static int run_and_wait(const struct limit_run *run)
{
	sigset_t held = held_signals(), before;
	pid_t launcher = getpid(), pid;

	/*
	 * If our parent has made us ignore SIGCHLD, we would get no exit
	 * status.
	 */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &held, &before);
	pid = fork();
	if (pid < 0)
		return limit_failure("cannot start a process: %s",
				     strerror(errno));
	if (!pid)
		exec_limited(run->command, launcher, &before);
	return await_command(pid, &held);
}

static int run_in_temporary_group(const struct limit_run *run)
{
	struct temporary group;
	int code;

	gkl_group_each(remove_orphan, NULL);
	code = make_temporary(run, &group);
	if (code)
		return code;
	code = enter_group(group.path);
	if (!code)
		code = run_and_wait(run);
	/*
	 * If the command has left a process running, the group stays. The next
	 * launcher removes it.
	 */
	remove_unused(group.name, group.path);
	close(group.lock);
	return code;
}

int limit_run(struct limit_run *run)
{
	int code = refuse_nesting(run);

	if (!code)
		code = limit_wish_resolve(&run->wish, NULL);
	if (code)
		return code;
	if (run->mps)
		return limit_become_under_mps(run);
	if (!limit_reaches(run->command[0]) && run->strict)
		return GK_EXIT_FAILURE;
	code = judge_wish(run);
	if (code)
		return code;
	return run->group ? run_in_named_group(run)
			  : run_in_temporary_group(run);
}
