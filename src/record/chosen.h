/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen.h - decides which processes are recorded, and returns their commands.
 * The decision is made when a process is first seen and kept until it ends, so
 * that a sample needs only a lookup in a table. Single-threaded.
 */
#ifndef GK_RECORD_CHOSEN_H
#define GK_RECORD_CHOSEN_H

#include <gpukit/gpukit.h>

struct gk_chosen;

/*
 * If all members are zero, every process is chosen. If both pids and a regex
 * are given, a process need match only one of them.
 */
struct gk_chosen_options {
	const pid_t *pids;
	size_t pid_count;
	const char *regex; /* PCRE2, matched with the full command; or NULL */
	bool children;     /* also choose the descendants of chosen processes */
};

/*
 * Copies the strings and arrays of the options. If regex is invalid, it is used
 * as a literal text: *ret_literal is set, and PCRE2's message is written to
 * ret_why, which must have 256 bytes. Returns 0 or a gk_err.
 */
int gk_chosen_new(const struct gk_chosen_options *options, bool *ret_literal,
		  char *ret_why, struct gk_chosen **ret_chosen);
void gk_chosen_free(struct gk_chosen *chosen);

/* The texts are valid until the end of the next sample. */
struct gk_chosen_process {
	const char *name;    /* comm; "" if unknown */
	const char *command; /* arguments joined by blanks; may contain any
			      * bytes; secrets are masked */
};

/*
 * Adds a process to the current sample. Returns whether it is chosen, and its
 * name and command. The answer for a process on a GPU stays the same as long as
 * it runs, because such a process does not change its program.
 */
bool gk_chosen_take(struct gk_chosen *chosen, pid_t pid,
		    struct gk_chosen_process *ret_process);

/*
 * Ends a sample and forgets the processes that were not in it. Returns
 * GK_ERR_NOMEM if some processes of the sample could not be judged.
 */
int gk_chosen_end(struct gk_chosen *chosen);

/* Whether all chosen processes have ended, including those named by pid. */
bool gk_chosen_all_gone(struct gk_chosen *chosen);

#endif
