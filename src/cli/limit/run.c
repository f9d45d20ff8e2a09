/*
 * run.c - `gpukit limit -- CMD`: makes or joins a group, and runs a command in
 * it.
 *
 * A group with a name stays, and this process becomes the command. One without
 * ends with the command: this process waits for it, passes signals on, and
 * holds a lock on the group's directory, by which others know that it lives.
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

#define LIBRARY   "lib/gpukit/libvgpu.so"
#define TEMPORARY "run-"
#define ATTEMPTS  100 /* at a name that nobody has */

static bool is_temporary(const char *name)
{
	return !strncmp(name, TEMPORARY, strlen(TEMPORARY));
}

/* ---- the environment of the command ---- */

/* Behind what is preloaded already: a sanitizer's library must be first. */
static int preload(const char *library)
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

	if (gk_where(LIBRARY, library, sizeof library))
		return limit_failure("libvgpu.so cannot be found; is /proc "
				     "mounted?");
	if (access(library, R_OK))
		return limit_failure("%s: %s; build or install gpukit anew",
				     library, strerror(errno));
	if (strpbrk(library, ": "))
		return limit_failure("%s: the dynamic linker takes no ':' or "
				     "blank in LD_PRELOAD; install elsewhere",
				     library);
	if (setenv(LIMIT_VARIABLE, path, 1))
		return limit_failure("out of memory");
	return preload(library);
}

/* Limits do not nest: the inner group would be free of the outer one's. */
static int refuse_nesting(const struct limit_run *run)
{
	const char *outer = getenv(LIMIT_VARIABLE), *name;

	if (!outer || !*outer)
		return 0;
	name = strrchr(outer, '/') ? strrchr(outer, '/') + 1 : outer;
	if (run->group && !strcmp(run->group, name))
		return 0;
	return limit_failure("this shell is in group %s already, and groups do "
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

/* Who joins takes the limits that there are, and may say them again. */
static int join(const struct limit_run *run, struct gkl_group *group)
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
	return limit_failure("group %s is there with other limits; leave them "
			     "out to join it, or change it: gpukit limit set "
			     "%s ...",
			     run->group, run->group);
}

static int make_or_join(const struct limit_run *run, struct gkl_group *group)
{
	struct gkl_policy first = first_policy(&run->wish);
	int err;

	/* It would be taken for one that a launcher left behind. */
	if (is_temporary(run->group))
		return join(run, group);
	err = gkl_group_make(run->group, &first, group);
	if (err == GK_ERR_EXISTS)
		return join(run, group);
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

/* Locks a group's directory; -1: somebody has, or it is gone. */
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

/* Nobody is in it, be it that he has not used a GPU yet. */
static void remove_unused(const char *name, const char *path)
{
	if (!limit_has_members(path))
		gkl_group_remove(name);
}

/* Removes a group whose launcher is gone and that nobody uses. */
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
 * Pid namespaces that share /dev/shm have the same pids; and another launcher
 * may take a group for an orphan before it is locked.
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

/* Those that are passed on to the command, and SIGCHLD. */
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
 * Signals that were sent to us alone are passed on. Those of a terminal, and
 * those to the whole process group, have reached the command already.
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
become(char *const *argv, pid_t launcher, const sigset_t *before)
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

	/* Ignored by the caller's caller, it would lose us the status. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &held, &before);
	pid = fork();
	if (pid < 0)
		return limit_failure("cannot start a process: %s",
				     strerror(errno));
	if (!pid)
		become(run->command, launcher, &before);
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
	/* One that the command left running keeps the group; the next launcher
	 * removes it. */
	remove_unused(group.name, group.path);
	close(group.lock);
	return code;
}

int limit_run(const struct limit_run *run)
{
	int code = refuse_nesting(run);

	if (code)
		return code;
	if (run->mps)
		return limit_become_under_mps(run);
	limit_warn_of_reach(run->command[0]);
	return run->group ? run_in_named_group(run)
			  : run_in_temporary_group(run);
}
