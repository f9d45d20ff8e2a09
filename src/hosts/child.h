/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - a child process whose output is read through pipes. Its input is
 * /dev/null, and it has no terminal. It leads a session of its own. Signals
 * that end the child go to its whole process group.
 */
#ifndef GK_HOSTS_CHILD_H
#define GK_HOSTS_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct gk_child {
	pid_t pid;         /* 0: none */
	int out, err;      /* pipes from its stdout and stderr; -1: closed */
	uint64_t ended_ns; /* time of the first SIGTERM; 0: none yet */
};

#define GK_CHILD_NONE ((struct gk_child){.out = -1, .err = -1})

/* Starts a command; argv[0] is searched in PATH. Returns 0 or an errno. */
int gk_child_start(char *const argv[], struct gk_child *ret_child);

/*
 * Whether the child has ended by itself. If so, *ret_status is its wait status.
 */
bool gk_child_has_ended(struct gk_child *child, int *ret_status);

/*
 * Sends SIGTERM to the child or, from two seconds after the first call on,
 * SIGKILL. Returns whether the child has ended. If so, *ret_status is its wait
 * status.
 */
bool gk_child_end(struct gk_child *child, int *ret_status);

/* Closes the pipes from the child. */
void gk_child_close(struct gk_child *child);

#endif
