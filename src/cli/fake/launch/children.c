/* SPDX-License-Identifier: Apache-2.0 */
/* children.c - reaps and ends the children of a launcher. */
#include "cli/fake/fake.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

void fake_children_reap(struct fake_children *children)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < children->count; i++)
		if (waitpid(children->pid[i], NULL, WNOHANG) == 0)
			children->pid[kept++] = children->pid[i];
	children->count = kept;
}

/*
 * Also sends SIGCONT, because a stopped process would not handle SIGTERM. Sends
 * SIGCONT first, while the process is not exiting yet: a tracer (a debugger, or
 * the leak sanitizer at exit) attaches to an exiting process with SIGSTOP.
 * SIGCONT would cancel that SIGSTOP, and the tracer would wait forever.
 */
static void tell_to_end(pid_t pid)
{
	kill(pid, SIGCONT);
	kill(pid, SIGTERM);
}

void fake_children_end(struct fake_children *children)
{
	for (unsigned i = 0; i < children->count; i++)
		tell_to_end(children->pid[i]);
	for (unsigned i = 0; i < children->count; i++)
		while (waitpid(children->pid[i], NULL, 0) < 0 && errno == EINTR)
			;
	free(children->pid);
	*children = (struct fake_children){0};
}
