/*
 * hosts.h - other machines, each told by a command that prints a snapshot as
 * JSON a line. Those that are away are tried again, after longer and longer
 * times. One thread, which never waits.
 */
#ifndef GK_HOSTS_HOSTS_H
#define GK_HOSTS_HOSTS_H

#include <gpukit/gpukit.h>

struct gk_hosts;

struct gk_hosts_options {
	const char *const *names;
	size_t count;
	/* Starts gpukit on a host, with NULL at the end: {} is its name. */
	const char *const *command;
	/* Prints the snapshots of a page, for names that are URLs; the same. */
	const char *const *follow;
	uint64_t interval_ns; /* of the snapshots */
};

/* What is known of a host. Times are CLOCK_MONOTONIC; 0: never. */
struct gk_host_state {
	const char *name;
	const char *why;   /* nothing is heard of it; "": it is, or may be */
	uint64_t heard_ns; /* its last snapshot */
	uint64_t away_ns;  /* since when nothing is heard */
	uint64_t again_ns; /* when it is tried again; 0: it is being tried */
};

/* The options and what they point to last as long. 0 or a gk_err. */
int gk_hosts_new(const struct gk_hosts_options *options,
		 struct gk_hosts **ret_hosts);

/* Ends all commands, which takes two seconds at most. NULL is allowed. */
void gk_hosts_free(struct gk_hosts *hosts);

size_t gk_hosts_count(const struct gk_hosts *hosts);

/* Polls readable when there is something to do, every half second at least. */
int gk_hosts_fd(const struct gk_hosts *hosts);

/* Does it. */
void gk_hosts_turn(struct gk_hosts *hosts);

/* The texts last until the next turn. */
struct gk_host_state gk_hosts_state(const struct gk_hosts *hosts, size_t at);

/* The newest snapshot that was not taken yet, the caller's from now on; NULL:
 * there is none. Its moments are of this machine's clock. */
struct gk_snapshot *gk_hosts_take(struct gk_hosts *hosts, size_t at);

/* Whether that name can be given to a command: letters, digits and . _ - : @
 * [ ] % +, not beginning with a dash; before it may stand http:// or https://.
 */
bool gk_hosts_is_name(const char *name);

#endif
