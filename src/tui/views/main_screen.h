/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_screen.h - the main screen: its state, and the layout and panels of
 * nvitop's look. A panel draws from a given line on, which may be outside the
 * grid, and returns its height.
 */
#ifndef GK_TUI_MAIN_SCREEN_H
#define GK_TUI_MAIN_SCREEN_H

#include "tui/screen/grid.h"

#include <stddef.h>
#include <sys/types.h>

struct tui;

#define MAIN_STICKY 2 /* rows at the top that do not scroll */

/*
 * The state of the main screen, a part of struct tui. Initialise it with zeros.
 */
struct tui_main {
	int page;  /* page of GPUs, if they do not all fit */
	int graph; /* which pair of GPU graphs is shown */
	/* The selected process to which the screen was last scrolled. */
	pid_t followed_pid;
	unsigned followed_device;
	int first_row; /* line of the first process; < 1: not drawn */
	/* There are rules between the processes of different GPUs. */
	bool ruled;
};

enum devices_style { DEVICES_FULL, DEVICES_COMPACT, DEVICES_DENSE };

/* A layout that fits; see view_main_plan(). */
struct main_plan {
	enum devices_style devices;
	bool host_compact, host_hidden;
	bool processes_compact; /* no rules between GPUs */
	bool processes_tight;   /* no frame, and no names above the processes */
	size_t first, count;    /* devices shown */
	int page, pages;
	int width; /* columns of the tables */
};

/*
 * Computes the layout. If `follow` is set, chooses the page with the GPU of the
 * selected process.
 */
struct main_plan view_main_plan(const struct tui *t, bool follow);

int view_devices(struct tui *t, struct grid *g, int line,
		 const struct main_plan *plan);
int view_host(struct tui *t, struct grid *g, int line,
	      const struct main_plan *plan);
int view_processes(struct tui *t, struct grid *g, int line,
		   const struct main_plan *plan);

/* Shows another pair of graphs, `by` pairs further on. Returns true. */
bool view_host_graph(struct tui *t, int by);

/* Return the heights of the panels. */
int view_devices_height(const struct tui *t, const struct main_plan *plan);
int view_host_height(const struct tui *t, const struct main_plan *plan);
int view_processes_height(const struct tui *t, const struct main_plan *plan);

/* Draws the time, the sums over all GPUs, and the keys for help and quit. */
void view_summary(struct tui *t, struct grid *g, int line);

/* Draws only the column titles of the processes. */
void view_process_titles(struct tui *t, struct grid *g, int line,
			 const struct main_plan *plan);

/*
 * Returns the line of the process at a position in t->list, relative to the
 * line of the first process.
 */
int view_process_line(const struct tui *t, const struct main_plan *plan,
		      long position);

/*
 * Returns the position in t->list of the process in a row of the screen, or -1.
 */
long view_main_at(const struct tui *t, int row);

#endif
