/*
 * chosen.h - which processes are recorded, and what their commands are.
 *
 * A process is judged once, when it is first seen, and remembered until it
 * ends: a sample costs nothing but a look into a table. One thread.
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

/* Texts are valid until the end of the next sample. */
struct gk_chosen_process {
	const char *name;    /* comm; "" if unknown */
	const char *command; /* arguments joined by blanks, any bytes;
				secrets are covered */
};

/*
 * One process of the sample at hand: whether it is chosen, and what it runs.
 * While a process runs on, it is what it was when it was first seen: who is
 * on a GPU does not become another program.
 */
bool gk_chosen_take(struct gk_chosen *chosen, pid_t pid,
		    struct gk_chosen_process *ret_process);

/*
 * Ends a sample: processes that it did not ask for are forgotten. GK_ERR_NOMEM:
 * some of those that it did ask for could not be judged.
 */
int gk_chosen_end(struct gk_chosen *chosen);

/* Processes that were chosen, by pids or otherwise, and are there no more. */
bool gk_chosen_all_gone(struct gk_chosen *chosen);

#endif
