/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the options of `gpukit plot`. */
#ifndef GK_CLI_PLOT_OPTIONS_H
#define GK_CLI_PLOT_OPTIONS_H

#include "plot/script.h"
#include "cli/page.h"

/* A list of words, each followed by a NUL. */
struct plot_list {
	char *text; /* owned */
	const char **words;
	size_t count;
};

enum plot_way {
	PLOT_TO_FILE, /* the default */
	PLOT_TO_WINDOW,
	PLOT_TO_TERMINAL,
	PLOT_SUMMARY,
};

/*
 * The options. All zero is the default. Release them with plot_options_free().
 */
struct plot_options {
	enum plot_way way;
	bool chosen; /* whether the user has chosen `way` */
	bool json, compare;
	const char *output; /* NULL: named after the first file */
	struct gk_plot_look look;
	struct gk_plot_wish wish;
	struct gk_plot_asked asked;
	struct gk_plot_when from, to;
	struct plot_list gpus, pids, columns;
	const char **files; /* owned array of borrowed names */
	unsigned file_count;
};

/* Parses the command line; exits if it is wrong. */
void plot_options_parse(int argc, char **argv, struct plot_options *ret);
void plot_options_free(struct plot_options *options);

/* Returns the short name of a panel, given its number; NULL after the last. */
const char *plot_panel_name(size_t i);

/* The options, for the manual. */
extern const struct argp plot_argp;

#endif
