/*
 * main_screen.h - the main screen: what it remembers, how it is laid out, and
 * its panels. A panel draws itself into a grid from a line on, which may lie
 * above or below what is seen, and returns its height.
 */
#ifndef GK_TUI_MAIN_SCREEN_H
#define GK_TUI_MAIN_SCREEN_H

#include "tui/grid.h"

#include <stddef.h>
#include <sys/types.h>

struct tui;

#define MAIN_STICKY 2 /* rows that stay above what is scrolled */

/* Part of struct tui; zero it to start. */
struct tui_main {
	int page;  /* of the GPUs, where not all of them fit */
	int graph; /* which graphs of GPUs are shown */
	/* The selection that the screen has been scrolled to. */
	pid_t followed_pid;
	unsigned followed_device;
	int first_row; /* line of the first process as last drawn, or less than
			  1 */
	bool ruled;    /* with rules between the GPUs */
};

enum devices_style { DEVICES_FULL, DEVICES_COMPACT, DEVICES_DENSE };

/* The panels that fit; see main_plan(). */
struct main_plan {
	enum devices_style devices;
	bool host_compact, host_hidden;
	bool processes_compact; /* no rules between GPUs */
	bool processes_tight;   /* neither a frame nor names above them */
	size_t first, count;    /* devices shown */
	int page, pages;
	int width; /* columns of the tables */
};

/* Chooses what is drawn; follow: the page of the selected process's GPU. */
struct main_plan main_plan(const struct tui *t, bool follow);

int view_devices(struct tui *t, struct grid *g, int line,
		 const struct main_plan *plan);
int view_host(struct tui *t, struct grid *g, int line,
	      const struct main_plan *plan);
int view_processes(struct tui *t, struct grid *g, int line,
		   const struct main_plan *plan);

/* Shows the graphs of GPUs that come so many places later; true. */
bool view_host_graph(struct tui *t, int by);

/* Heights of the same, without drawing. */
int view_devices_height(const struct tui *t, const struct main_plan *plan);
int view_host_height(const struct tui *t, const struct main_plan *plan);
int view_processes_height(const struct tui *t, const struct main_plan *plan);

/* The time, the averages of all GPUs, and which keys help. */
void view_summary(struct tui *t, struct grid *g, int line);

/* Titles of the columns of processes alone. */
void view_process_titles(struct tui *t, struct grid *g, int line,
			 const struct main_plan *plan);

/* Lines from the first process to one at a position of the list. */
int view_process_line(const struct tui *t, const struct main_plan *plan,
		      long position);

/* Position in t->list of the process drawn at a row of the screen, or -1. */
long view_main_at(const struct tui *t, int row);

#endif
