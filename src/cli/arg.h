/*
 * arg.h - arguments of options, for parsers of argp. A wrong one is reported
 * by argp_error(), which ends the command with the status for wrong usage.
 */
#ifndef GK_CLI_ARG_H
#define GK_CLI_ARG_H

#include <argp.h>
#include <stdint.h>

/*
 * argp_parse() with argp's flags; ends the command when there is no memory to
 * parse with, for the options would be those that nobody has given.
 */
void gk_arg_parse(const struct argp *argp, unsigned flags, int argc,
		  char **argv, void *input);

/* A time of at least that many nanoseconds, at most a year. */
uint64_t gk_arg_duration(struct argp_state *state, const char *option,
			 const char *text, uint64_t least);

/* Bytes; see gk_parse_size(). */
int64_t gk_arg_size(struct argp_state *state, const char *option,
		    const char *text);

/* The rule of sizes, for the help of verbs that take some. */
#define GK_ARG_SIZES                                                           \
	"Sizes: K, M, G, T, also written KiB, MiB, GiB, TiB, are powers of "   \
	"1024; KB, MB, GB, TB are powers of 1000."

/* A whole number, from least to most. */
int64_t gk_arg_number(struct argp_state *state, const char *option,
		      const char *text, int64_t least, int64_t most);

/*
 * The word after the option at hand, "" if there is none: argp takes an
 * argument that may be left out only in the form "-i1", but people also type
 * "-i 1". Take it with state->next++.
 */
const char *gk_arg_following(const struct argp_state *state);

/* A word and what it means; a table of them ends with a NULL name. */
struct gk_choice {
	const char *name;
	unsigned bits;
};

/*
 * The meaning of an argument that may be left out (NULL): of the word that
 * follows if it is one of the table, else of the first row.
 */
unsigned gk_arg_choose(struct argp_state *state, const char *option,
		       const struct gk_choice *rows, const char *arg);

#endif
