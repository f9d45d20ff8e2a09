/*
 * options.h - what the command line of `gpukit plot` asks for.
 */
#ifndef GK_CLI_PLOT_OPTIONS_H
#define GK_CLI_PLOT_OPTIONS_H

#include "plot/script.h"

/* Words of a list, each ended by NUL. */
struct plot_list {
	char *text; /* owned */
	const char **words;
	size_t count;
};

enum plot_way {
	PLOT_TO_FILE, /* as the usual */
	PLOT_TO_WINDOW,
	PLOT_TO_TERMINAL,
	PLOT_SUMMARY,
};

/* Zeroed: the usual. Ends with plot_options_free(). */
struct plot_options {
	enum plot_way way;
	bool chosen; /* the way is what somebody asked for */
	bool json, compare;
	const char *output; /* NULL: a name made of that of the first file */
	struct gk_plot_look look;
	struct gk_plot_wish wish;
	struct gk_plot_asked asked;
	struct gk_plot_when from, to;
	struct plot_list gpus, pids, columns;
	char **files;
	unsigned file_count;
};

/* Reads the command line; a wrong one ends the command. */
void plot_options_parse(int argc, char **argv, struct plot_options *options);
void plot_options_free(struct plot_options *options);

#endif
