/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arg.c - parses arguments of options, and rejects wrong ones with a message.
 */
#include "cli/arg.h"
#include "base/clock.h"
#include "base/str.h"
#include "cli/cmd.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_NS (365 * 86400 * GK_NS_PER_S)

void gk_arg_parse(const struct argp *argp, unsigned flags, int argc,
		  char **argv, void *input)
{
	error_t error = argp_parse(argp, argc, argv, flags, NULL, input);

	if (!error)
		return;
	fprintf(stderr, "%s: cannot read the options: %s\n", argv[0],
		strerror(error));
	exit(GK_EXIT_FAILURE);
}

void gk_arg_no_memory(const struct argp_state *state)
{
	argp_failure(state, GK_EXIT_FAILURE, 0, "out of memory");
	/* The compiler assumes that argp_failure() may return. */
	exit(GK_EXIT_FAILURE);
}

uint64_t gk_arg_duration(struct argp_state *state, const char *option,
			 const char *text, uint64_t least)
{
	uint64_t ns = 0;

	if (gk_parse_duration(text, &ns) || ns < least || ns > MOST_NS)
		argp_error(state,
			   "%s must be a time such as 0.5 or 200ms, from %g s "
			   "to a year, not '%s'",
			   option, (double)least / (double)GK_NS_PER_S, text);
	return ns;
}

int64_t gk_arg_size(struct argp_state *state, const char *option,
		    const char *text)
{
	uint64_t bytes = 0;

	if (gk_parse_size(text, &bytes))
		argp_error(state,
			   "%s must be a size such as 4GiB or 5000M, not '%s'",
			   option, text);
	return (int64_t)bytes;
}

int64_t gk_arg_number(struct argp_state *state, const char *option,
		      const char *text, int64_t least, int64_t most)
{
	int64_t value = 0;

	if (gk_parse_int(text, &value) || value < least || value > most)
		argp_error(state,
			   "%s must be a number from %lld to %lld, not '%s'",
			   option, (long long)least, (long long)most, text);
	return value;
}

static const char *home_of(const char *name)
{
	struct passwd *entry;

	if (!*name && getenv("HOME"))
		return getenv("HOME");
	entry = *name ? getpwnam(name) : getpwuid(getuid());
	return entry ? entry->pw_dir : NULL;
}

/*
 * An expanded path. Never freed, because the caller may keep it as long as
 * argv.
 */
struct expanded {
	struct expanded *next;
	char path[];
};

const char *gk_arg_path(struct argp_state *state, const char *option,
			const char *text)
{
	static struct expanded *all;
	size_t len = *text == '~' ? strcspn(text, "/") : 0;
	struct expanded *one;
	const char *home;
	char name[256];

	if (!len)
		return text;
	snprintf(name, sizeof name, "%.*s", (int)len - 1, text + 1);
	home = home_of(name);
	if (!home)
		argp_error(state, "%s %s: no such user", option, text);
	home = home ? home : "";
	one = malloc(sizeof *one + strlen(home) + strlen(text + len) + 1);
	if (!one)
		gk_arg_no_memory(state);
	sprintf(one->path, "%s%s", home, text + len);
	one->next = all;
	all = one;
	return one->path;
}

const char *gk_arg_following(const struct argp_state *state)
{
	return state->next < state->argc ? state->argv[state->next] : "";
}

static const struct gk_choice *find_choice(const struct gk_choice *rows,
					   const char *name)
{
	while (rows->name && strcmp(rows->name, name))
		rows++;
	return rows->name ? rows : NULL;
}

/* Exits with a message that lists all valid words. */
static void refuse_choice(struct argp_state *state, const char *option,
			  const struct gk_choice *rows, const char *arg)
{
	struct gk_buf names = {0};

	for (const struct gk_choice *row = rows; row->name; row++)
		gk_buf_printf(&names, "%s%s",
			      row == rows    ? ""
			      : !row[1].name ? " or "
					     : ", ",
			      row->name);
	argp_error(state, "%s must be %s, not '%s'", option,
		   names.data ? names.data : rows->name, arg);
	gk_buf_free(&names);
}

unsigned gk_arg_choose(struct argp_state *state, const char *option,
		       const struct gk_choice *rows, const char *arg)
{
	const struct gk_choice *found = rows;

	if (arg) {
		found = find_choice(rows, arg);
		if (!found)
			refuse_choice(state, option, rows, arg);
	} else if (*gk_arg_following(state) &&
		   find_choice(rows, gk_arg_following(state))) {
		found = find_choice(rows, state->argv[state->next++]);
	}
	return found ? found->bits : 0;
}
