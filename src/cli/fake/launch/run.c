/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - runs a command on a made-up machine: sets up its environment, passes
 * signals on and returns its exit status.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/min.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/command.h"
#include "cli/fake/fake.h"
#include "cli/where.h"
#include "machine/store/clock.h"
#include "machine/store/follow.h"
#include "machine/store/machine.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * SIGHUP comes last: it is not handled if it is ignored, so that nohup(1)
 * works.
 */
static const int held[] = {SIGINT, SIGTERM, SIGQUIT, SIGCHLD, SIGHUP};
static size_t held_count = sizeof held / sizeof *held;
static sigset_t before; /* the signal mask to restore for commands */

static sigset_t held_set(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < held_count; i++)
		sigaddset(&set, held[i]);
	return set;
}

void fake_signals_hold(void)
{
	struct sigaction hup;
	sigset_t set;

	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler == SIG_IGN)
		held_count = sizeof held / sizeof *held - 1;
	set = held_set();
	/*
	 * If our parent has made us ignore SIGCHLD, we would get no exit
	 * statuses.
	 */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, &before);
}

void fake_signals_release(void)
{
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void fake_signals_wait(void)
{
	sigset_t set = held_set();

	sigdelset(&set, SIGCHLD);
	while (sigwaitinfo(&set, NULL) < 0)
		;
}

int fake_signals_next(void)
{
	sigset_t set = held_set();
	int number;

	do
		number = sigwaitinfo(&set, NULL);
	while (number < 0);
	return number;
}

bool fake_signals_wait_for(uint64_t ns)
{
	const struct timespec timeout = gk_timespec(ns);
	sigset_t set = held_set();

	sigdelset(&set, SIGCHLD);
	return sigtimedwait(&set, NULL, &timeout) > 0;
}

int fake_signals_pending(void)
{
	const struct timespec now = {0};
	sigset_t set = held_set();
	int number;

	sigdelset(&set, SIGCHLD);
	number = sigtimedwait(&set, NULL, &now);
	return number > 0 ? GK_EXIT_SIGNAL + number : 0;
}

/* Sets up the environment in which programs find the machine. */
static int enter_machine(const char *machine, const char *generation,
			 const char *command, bool quiet)
{
	char dir[PATH_MAX - 64], file[PATH_MAX], bin[PATH_MAX];
	int r = fake_where(generation ? generation : "", dir, sizeof dir);

	if (r)
		return fake_failure(
		    "cannot find the drop-in libraries: %s; gpukit needs /proc "
		    "and, if pip installed it, /dev/shm or XDG_RUNTIME_DIR",
		    gk_strerror(r));
	snprintf(file, sizeof file, "%s/libnvidia-ml.so.1", dir);
	if (access(file, R_OK))
		return fake_failure("%s: %s; build or install gpukit again",
				    file, strerror(errno));
	if (strpbrk(dir, ":;"))
		return fake_failure(
		    "%s: the dynamic linker does not support ':' or ';' in a "
		    "directory; install elsewhere",
		    dir);
	snprintf(file, sizeof file, "%s/libgpukit-audit.so", dir);
	/*
	 * If PATH is unset, programs use a default path, which must stay in
	 * effect.
	 */
	if (setenv("GPUKIT_MACHINE", machine, 1) ||
	    (getenv("PATH") && !fake_where("bin", bin, sizeof bin) &&
	     fake_prepend("PATH", bin)) ||
	    fake_watch_mark() || fake_prepend("LD_LIBRARY_PATH", dir) ||
	    fake_auditor(file, command, quiet) || fake_valgrind_options())
		return fake_failure("out of memory");
	return 0;
}

/*
 * PYTHONPATH can stay set: only Python reads it, and our package there obeys
 * GPUKIT_TORCH.
 */
int fake_torch(bool wanted)
{
	char path[PATH_MAX];

	if (!wanted)
		return setenv("GPUKIT_TORCH", "0", 1)
			   ? fake_failure("out of memory")
			   : 0;
	if (fake_where("python", path, sizeof path) || access(path, X_OK))
		return 0;
	return fake_prepend("PYTHONPATH", path) ? fake_failure("out of memory")
						: 0;
}

/* Runs in the child, which becomes the command. */
static void __attribute__((noreturn))
exec_on_machine(char **argv, pid_t launcher)
{
	/*
	 * If launcher and watch process are killed, the kernel ends the
	 * command.
	 */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != launcher)
		_exit(GK_EXIT_FAILURE);
	fake_signals_release();
	_exit(gk_command_become("fake", argv));
}

/*
 * The maximum time of one wait for the command's end time. The machine's clock
 * may be set meanwhile, so the remaining time is computed again after each
 * wait.
 */
#define LOOK_AGAIN_NS (500 * GK_NS_PER_MS)

/*
 * Waits for the next signal. Returns 0 from time to time if the caller must
 * check whether end_ns has come, or if other users follow the machine.
 */
static int next_signal(struct gkf_machine *m, uint64_t end_ns, siginfo_t *info)
{
	uint64_t wait = UINT64_MAX;
	sigset_t set = held_set();
	struct timespec timeout;

	if (end_ns != UINT64_MAX)
		wait = gk_min(gkf_real_until(m, end_ns), LOOK_AGAIN_NS);
	if (gkf_machine_keep(m))
		wait = gk_min(wait, GKF_KEEP_NS);
	if (wait == UINT64_MAX)
		return sigwaitinfo(&set, info);
	timeout = gk_timespec(wait);
	return sigtimedwait(&set, info, &timeout);
}

/*
 * Waits for the command, and forwards to it the signals that processes send.
 * Signals of the terminal have reached it already.
 */
static int await_command(pid_t pid, struct gkf_machine *m, uint64_t end_ns,
			 struct fake_children *children)
{
	siginfo_t info;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		fake_children_reap(children);
		if (end_ns != UINT64_MAX && !gkf_real_until(m, end_ns)) {
			kill(pid, SIGTERM);
			end_ns = UINT64_MAX; /* SIGTERM is sent only once */
		}
		if (next_signal(m, end_ns, &info) > 0 &&
		    info.si_signo != SIGCHLD && info.si_code <= 0)
			kill(pid, info.si_signo);
	}
	return WIFSIGNALED(status) ? GK_EXIT_SIGNAL + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

int fake_run(struct gkf_machine *m, const char *path, const char *generation,
	     char **argv, uint64_t end_ns, bool quiet,
	     struct fake_children *children)
{
	pid_t pid, watch, launcher = getpid();
	int code = enter_machine(path, generation, argv[0], quiet);

	if (code)
		return code;
	pid = fork();
	if (pid < 0)
		return fake_failure("cannot start a process: %s",
				    strerror(errno));
	if (!pid)
		exec_on_machine(argv, launcher);
	watch = fake_watch_begin(pid);
	code = await_command(pid, m, end_ns, children);
	fake_watch_end(watch);
	return code;
}
