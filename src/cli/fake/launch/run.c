/*
 * run.c - runs a command on a made-up machine: its environment, the
 * signals that are passed on, its exit status.
 */
#include "base/clock.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/command.h"
#include "cli/fake/fake.h"
#include "cli/where.h"
#include "machine/store/clock.h"
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

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0 /* a sanitizer's runtime cannot live in an auditor */
#endif

/* The last one only when it is not ignored: nohup(1) has a say. */
static const int held[] = {SIGINT, SIGTERM, SIGQUIT, SIGCHLD, SIGHUP};
static size_t held_count = sizeof held / sizeof *held;
static sigset_t before; /* the mask that commands start with */

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
	/* Ignored by the caller's caller, it would lose us exit statuses. */
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

/* Puts a path before those that a variable has already. */
static int prepend(const char *variable, const char *path)
{
	const char *old = getenv(variable);
	struct gk_buf value = {0};
	int r = -1;

	gk_buf_puts(&value, path);
	if (old && *old)
		gk_buf_printf(&value, ":%s", old);
	if (!value.failed)
		r = setenv(variable, value.data, 1);
	gk_buf_free(&value);
	return r;
}

/* The environment in which programs find the made-up machine. */
static int enter_machine(const char *machine, const char *generation)
{
	char relative[64], dir[PATH_MAX - 64], file[PATH_MAX], bin[PATH_MAX];

	snprintf(relative, sizeof relative, "lib/gpukit/fake%s%s",
		 generation ? "/" : "", generation ? generation : "");
	if (gk_where(relative, dir, sizeof dir))
		return fake_failure("the drop-in libraries cannot be found; "
				    "is /proc mounted?");
	snprintf(file, sizeof file, "%s/libnvidia-ml.so.1", dir);
	if (access(file, R_OK))
		return fake_failure("%s: %s; build or install gpukit anew",
				    file, strerror(errno));
	if (strpbrk(dir, ":;"))
		return fake_failure("%s: the dynamic linker takes no ':' or "
				    "';' in a directory; install elsewhere",
				    dir);
	snprintf(file, sizeof file, "%s/libgpukit-audit.so", dir);
	/* Without a PATH there is a default one, which must stay. */
	if (setenv("GPUKIT_MACHINE", machine, 1) ||
	    (getenv("PATH") &&
	     !gk_where("lib/gpukit/fake/bin", bin, sizeof bin) &&
	     prepend("PATH", bin)) ||
	    fake_watch_mark() || prepend("LD_LIBRARY_PATH", dir) ||
	    (!SANITIZED && prepend("LD_AUDIT", file)))
		return fake_failure("out of memory");
	return 0;
}

/* Python alone looks there; what lies there looks at the variable. */
int fake_torch(bool wanted)
{
	char path[PATH_MAX];

	if (!wanted)
		return setenv("GPUKIT_TORCH", "0", 1)
			   ? fake_failure("out of memory")
			   : 0;
	if (gk_where("lib/gpukit/fake/python", path, sizeof path) ||
	    access(path, X_OK))
		return 0;
	return prepend("PYTHONPATH", path) ? fake_failure("out of memory") : 0;
}

/* In the child: becomes the command. */
static void __attribute__((noreturn)) become(char **argv, pid_t launcher)
{
	/* Where even the watch is killed, this much is left. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != launcher)
		_exit(GK_EXIT_FAILURE);
	fake_signals_release();
	_exit(gk_command_become("fake", argv));
}

/* The clock may be set while the command runs. */
#define LOOK_AGAIN_NS (500 * GK_NS_PER_MS)

/*
 * The next signal; 0 after a while when there is an end to look for. m NULL:
 * there is none.
 */
static int next_signal(struct gkf_machine *m, uint64_t end_ns, siginfo_t *info)
{
	uint64_t left = m ? gkf_real_until(m, end_ns) : 0;
	sigset_t set = held_set();
	struct timespec timeout;

	if (!m)
		return sigwaitinfo(&set, info);
	timeout = gk_timespec(left < LOOK_AGAIN_NS ? left : LOOK_AGAIN_NS);
	return sigtimedwait(&set, info, &timeout);
}

/*
 * Signals that a process sent are passed on. Those that a terminal sent have
 * reached the command already.
 */
static int await_command(pid_t pid, struct gkf_machine *m, uint64_t end_ns,
			 struct fake_children *children)
{
	siginfo_t info;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		fake_children_reap(children);
		if (m && !gkf_real_until(m, end_ns)) {
			kill(pid, SIGTERM);
			m = NULL; /* once is enough */
		}
		if (next_signal(m, end_ns, &info) > 0 &&
		    info.si_signo != SIGCHLD && info.si_code <= 0)
			kill(pid, info.si_signo);
	}
	return WIFSIGNALED(status) ? GK_EXIT_SIGNAL + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

int fake_run(struct gkf_machine *m, const char *path, const char *generation,
	     char **argv, uint64_t end_ns, struct fake_children *children)
{
	pid_t pid, watch, launcher = getpid();
	int code = enter_machine(path, generation);

	if (code)
		return code;
	pid = fork();
	if (pid < 0)
		return fake_failure("cannot start a process: %s",
				    strerror(errno));
	if (!pid)
		become(argv, launcher);
	watch = fake_watch_begin(pid);
	code = await_command(pid, end_ns == UINT64_MAX ? NULL : m, end_ns,
			     children);
	fake_watch_end(watch);
	return code;
}
