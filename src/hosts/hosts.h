/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts.h - watches other machines. Each is read through a command that prints
 * one snapshot as JSON per line. A command that fails is started again after
 * growing delays. Single-threaded; no call blocks.
 */
#ifndef GK_HOSTS_HOSTS_H
#define GK_HOSTS_HOSTS_H

#include <gpukit/gpukit.h>

struct gk_hosts;

struct gk_hosts_options {
	const char *const *names;
	size_t count;
	/*
	 * Command that starts gpukit on a host, NULL-terminated. {} stands for
	 * the host's name.
	 */
	const char *const *command;
	/*
	 * The command for hosts whose name is a URL. It prints the snapshots
	 * that it receives from the URL.
	 */
	const char *const *follow;
	uint64_t interval_ns; /* between snapshots */
};

/* The state of a host. Times are CLOCK_MONOTONIC; 0: never. */
struct gk_host_state {
	const char *name;
	const char *why;   /* why the host is unreachable; "": no reason is
			    * known */
	uint64_t heard_ns; /* time of the host's last snapshot */
	uint64_t away_ns;  /* when the host became unreachable */
	uint64_t again_ns; /* time of the next attempt; 0: one is in progress */
};

/*
 * The options and everything they point to must outlive the result. Returns 0
 * or a gk_err.
 */
int gk_hosts_new(const struct gk_hosts_options *options,
		 struct gk_hosts **ret_hosts);

/* Ends all commands, which takes at most two seconds. hosts may be NULL. */
void gk_hosts_free(struct gk_hosts *hosts);

size_t gk_hosts_count(const struct gk_hosts *hosts);

/*
 * Returns a descriptor for poll(). It becomes readable whenever gk_hosts_turn()
 * must be called, which is at least every half second.
 */
int gk_hosts_fd(const struct gk_hosts *hosts);

/* Reads new output of the commands, and starts and ends commands. */
void gk_hosts_turn(struct gk_hosts *hosts);

/*
 * Returns the state of a host. Its texts are valid until the next
 * gk_hosts_turn().
 */
struct gk_host_state gk_hosts_state(const struct gk_hosts *hosts, size_t at);

/*
 * Returns a host's newest snapshot if it has not been taken yet, else NULL. The
 * caller frees it. Its times are on this machine's clock.
 */
struct gk_snapshot *gk_hosts_take(struct gk_hosts *hosts, size_t at);

/*
 * Whether a name may be passed to a command. It may have letters, digits and .
 * _ - : @ [ ] % + but must not begin with a dash; it may follow http:// or
 * https://.
 */
bool gk_hosts_is_name(const char *name);

#endif
