/*
 * child.h - a command that tells something: its output by pipes, nothing to
 * read, no terminal to ask at. It leads a session of its own, which is ended as
 * a whole.
 */
#ifndef GK_HOSTS_CHILD_H
#define GK_HOSTS_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct gk_child {
	pid_t pid;         /* 0: none */
	int out, err;      /* what it says, O_NONBLOCK; -1: closed */
	uint64_t ended_ns; /* since when it is to end; 0: it may go on */
};

#define GK_CHILD_NONE ((struct gk_child){.out = -1, .err = -1})

/* argv[0] is looked up in PATH. 0 or an errno. */
int gk_child_start(char *const argv[], struct gk_child *ret_child);

/* Whether it has ended of itself; *ret_status is then that of waitpid(). */
bool gk_child_has_ended(struct gk_child *child, int *ret_status);

/*
 * Asks it to end (SIGTERM), and two seconds after the first time makes it
 * (SIGKILL). Whether it has; *ret_status is then that of waitpid().
 */
bool gk_child_end(struct gk_child *child, int *ret_status);

/* Closes what it says. */
void gk_child_close(struct gk_child *child);

#endif
