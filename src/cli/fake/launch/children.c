/* children.c - the children of a launcher: their end, foreseen or not. */
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
 * SIGCONT, as a stopped one would not hear the other; and that first: sent to
 * one that is about to exit, it takes away the SIGSTOP by which a tracer (a
 * debugger; the leak sanitizer, at exit) attaches, which then waits for ever.
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
