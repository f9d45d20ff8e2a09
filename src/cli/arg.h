/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arg.h - parses arguments of options for argp parsers. argp_error() reports a
 * wrong argument, and exits with the status for wrong usage.
 */
#ifndef GK_CLI_ARG_H
#define GK_CLI_ARG_H

#include <argp.h>
#include <stdint.h>

/*
 * Calls argp_parse() with these flags. Exits if memory runs out, because the
 * options would be incomplete then.
 */
void gk_arg_parse(const struct argp *argp, unsigned flags, int argc,
		  char **argv, void *input);

/* Exits with a message if memory for the options runs out. */
void gk_arg_no_memory(const struct argp_state *state) __attribute__((noreturn));

/* Parses a time in nanoseconds, from least to a year. */
uint64_t gk_arg_duration(struct argp_state *state, const char *option,
			 const char *text, uint64_t least);

/* Parses a size in bytes; see gk_parse_size(). */
int64_t gk_arg_size(struct argp_state *state, const char *option,
		    const char *text);

/*
 * The rule for writing sizes, shared by the help texts of all verbs that take
 * one.
 */
#define GK_ARG_SIZES                                                           \
	"Sizes: K, M, G, T, also written KiB, MiB, GiB, TiB, are powers of "   \
	"1024; KB, MB, GB, TB are powers of 1000."

/* Parses an integer from least to most. */
int64_t gk_arg_number(struct argp_state *state, const char *option,
		      const char *text, int64_t least, int64_t most);

/*
 * Returns a file name with a leading ~ or ~user expanded, which a shell does
 * not do after a '=' or in quotes. The result stays valid until the command
 * ends.
 */
const char *gk_arg_path(struct argp_state *state, const char *option,
			const char *text);

/*
 * Returns the word after the current option, or "" if there is none. argp takes
 * an optional argument only in the form "-i1", but people also type "-i 1". The
 * caller consumes the word with state->next++.
 */
const char *gk_arg_following(const struct argp_state *state);

/* A word and its value. Tables of words end with a NULL name. */
struct gk_choice {
	const char *name;
	unsigned bits;
};

/*
 * Returns the value of an optional argument. If arg is NULL and the next word
 * is in the table, takes that word; otherwise returns the value of the first
 * row.
 */
unsigned gk_arg_choose(struct argp_state *state, const char *option,
		       const struct gk_choice *rows, const char *arg);

#endif
