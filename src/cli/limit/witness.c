/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.c - finds out whether a signal was sent to the whole process group,
 * which the kernel does not report. A process of ours in that group blocks all
 * signals: if the signal is pending there too, it was sent to the group.
 */
#include "cli/limit/limit.h"

#include "base/clock.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * How long a signal may take to reach all processes of a group: the kernel
 * delivers it to one after another.
 */
#define ALL_HAVE_IT_NS (2 * GK_NS_PER_MS)

static void __attribute__((noreturn)) take_none(pid_t launcher)
{
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	while (getppid() == launcher)
		pause();
	_exit(0);
}

pid_t limit_witness_start(void)
{
	pid_t launcher = getpid(), pid = fork();

	if (!pid)
		take_none(launcher);
	return pid;
}

static bool is_pending(pid_t witness, int number)
{
	char path[32], line[128];
	unsigned long long set = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/status", (int)witness);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "ShdPnd: %llx", &set) == 1)
			break;
	fclose(file);
	return set >> (number - 1) & 1;
}

bool limit_witness_saw(pid_t *witness, int number)
{
	if (*witness < 0)
		return false;
	gk_sleep_until(gk_mono_ns() + ALL_HAVE_IT_NS);
	if (!is_pending(*witness, number))
		return false;
	limit_witness_end(*witness);
	*witness = limit_witness_start();
	return true;
}

void limit_witness_end(pid_t witness)
{
	if (witness < 0)
		return;
	kill(witness, SIGKILL);
	waitpid(witness, NULL, 0);
}
