/*
 * chosen.h - which processes are recorded, and what their commands are.
 *
 * A process is judged once, when it is first seen, and remembered by pid and
 * start: a sample costs nothing but a look into a table. One thread.
 */
#ifndef GK_RECORD_CHOSEN_H
#define GK_RECORD_CHOSEN_H

#include <gpukit/gpukit.h>

struct gk_chosen;

/* Zeroed: every process. With both pids and regex, either is enough. */
struct gk_chosen_options {
	const pid_t *pids;
	size_t pid_count;
	const char *regex; /* PCRE2, over the full command; NULL: none */
	bool children;     /* and all that they have started */
};

/*
 * Strings and arrays of options may go afterwards. *ret_literal says that
 * regex is none and is looked for as it stands; ret_why (room for 256 bytes)
 * is then what PCRE2 says. 0 or a gk_err.
 */
int gk_chosen_new(const struct gk_chosen_options *options, bool *ret_literal,
		  char *ret_why, struct gk_chosen **ret_chosen);
void gk_chosen_free(struct gk_chosen *chosen);

/*
 * One process of the sample at hand; the text is valid until the sample after
 * next. Whole command: arguments joined by blanks, any UTF-8; "" if unknown.
 * NULL: it is not chosen.
 */
const char *gk_chosen_command(struct gk_chosen *chosen,
			      const struct gk_process *process);

/* The same for a process that need not be on a GPU; false: not chosen. */
bool gk_chosen_has(struct gk_chosen *chosen, pid_t pid);

/* Ends a sample: processes that it did not ask for are forgotten. */
void gk_chosen_end(struct gk_chosen *chosen);

/* Processes that were chosen, by pids or otherwise, and are there no more. */
bool gk_chosen_all_gone(struct gk_chosen *chosen);

#endif
