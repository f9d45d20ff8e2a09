/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - the screens: how each is drawn, and how it handles its own actions.
 * The line at which to draw may be outside the grid; text there is not drawn.
 */
#ifndef GK_TUI_VIEW_H
#define GK_TUI_VIEW_H

#include "tui/screen/grid.h"
#include "tui/model/model.h"

/* The functions of a screen; NULL if the screen does not have one. */
struct view {
	const char *title;
	/*
	 * Draws the screen, with its first line in row -t->scroll. Returns its
	 * number of lines.
	 */
	int (*draw)(struct tui *t, struct grid *g);
	/*
	 * Prepares the screen. If it cannot be opened, says why with tui_say()
	 * and returns false.
	 */
	bool (*open)(struct tui *t);
	/*
	 * Called when the user leaves the screen, not when another one covers
	 * it.
	 */
	void (*close)(struct tui *t);
	/*
	 * Called for each new t->snap while the screen is open, even if another
	 * screen covers it.
	 */
	void (*frame)(struct tui *t);
	/*
	 * Handles an action of this screen. Returns false for other actions, to
	 * which the default applies. ACTION_NONE stands for a key without an
	 * action.
	 */
	bool (*act)(struct tui *t, enum tui_action action);
	/*
	 * The list on the screen: its number of lines, and the selected line
	 * (-1: none).
	 */
	size_t (*count)(const struct tui *t);
	long (*selected)(const struct tui *t);
	void (*select)(struct tui *t, long position);
	/* Returns the process that is selected or shown, or NULL. */
	const struct gk_process *(*process)(const struct tui *t);
	int step; /* columns scrolled by Left and Right; 0: 2 */
	/* Returns the line of the list in a row of the screen, or -1. */
	long (*at)(const struct tui *t, int row);
	/* Adds the text of a line, for searching. */
	void (*text)(const struct tui *t, size_t position, struct gk_buf *out);
	bool scrolls_whole; /* page keys scroll instead of selecting */
};

/* All screens, indexed by enum tui_screen. */
extern const struct view tui_views[];

/* Returns the top screen. */
const struct view *view_of(const struct tui *t);

/*
 * Scrolls as little as necessary to make a line of the screen visible in the
 * rows from `first` to first + rows - 1.
 */
void view_follow(struct tui *t, int line, int first, int rows);

/* Limit t->scroll, or t->scroll_left, to the range from 0 to `most`. */
void view_limit_scroll(struct tui *t, int most);
void view_limit_sideways(struct tui *t, int most);

/* Whether another process has been selected since the last call. */
bool view_selection_moved(struct tui *t);

/* Turns to another of the `pages` pages of GPUs on the main screen. */
void view_turn_page(struct tui *t, int by, int pages);

/* Draws a text, starting at a line. Returns its number of lines. */
int view_lines(struct grid *g, int line, const struct gk_buf *text);

/* The main screen; see main_screen.h. */
int view_main(struct tui *t, struct grid *g);
bool view_main_act(struct tui *t, enum tui_action action);

/* The environment screen. */
int view_environ(struct tui *t, struct grid *g);
bool view_environ_open(struct tui *t);
void view_environ_close(struct tui *t);
bool view_environ_act(struct tui *t, enum tui_action action);
size_t view_environ_count(const struct tui *t);
long view_environ_selected(const struct tui *t);
void view_environ_select(struct tui *t, long position);
long view_environ_at(const struct tui *t, int row);
void view_environ_text(const struct tui *t, size_t at, struct gk_buf *out);
const struct gk_process *view_environ_process(const struct tui *t);

/* The help screen. */
int view_help(struct tui *t, struct grid *g);
bool view_help_act(struct tui *t, enum tui_action action);

/* The tree screen. */
int view_tree(struct tui *t, struct grid *g);
bool view_tree_open(struct tui *t);
void view_tree_close(struct tui *t);
void view_tree_frame(struct tui *t);
bool view_tree_act(struct tui *t, enum tui_action action);
size_t view_tree_count(const struct tui *t);
long view_tree_selected(const struct tui *t);
void view_tree_select(struct tui *t, long position);
long view_tree_at(const struct tui *t, int row);
void view_tree_text(const struct tui *t, size_t at, struct gk_buf *out);
const struct gk_process *view_tree_process(const struct tui *t);

/* The screen of a process. */
int view_metrics(struct tui *t, struct grid *g);
bool view_metrics_open(struct tui *t);
const struct gk_process *view_metrics_process(const struct tui *t);

/* The screen of a GPU. */
int view_device(struct tui *t, struct grid *g);
bool view_device_open(struct tui *t);
void view_device_frame(struct tui *t);
bool view_device_act(struct tui *t, enum tui_action action);

/*
 * Writes what is wrong with a GPU, and the age of its values; "" if nothing is.
 */
void view_device_trouble(const struct tui *t, const struct gk_device *d,
			 char *dst, size_t cap);

/*
 * Returns the NVML index of the GPU on the screen of a GPU; -1 if that screen
 * is not on top.
 */
int view_device_index(const struct tui *t);

/* The users screen. */
int view_users(struct tui *t, struct grid *g);
bool view_users_open(struct tui *t);
void view_users_close(struct tui *t);
void view_users_frame(struct tui *t);
bool view_users_act(struct tui *t, enum tui_action action);
size_t view_users_count(const struct tui *t);
long view_users_selected(const struct tui *t);
void view_users_select(struct tui *t, long position);
long view_users_at(const struct tui *t, int row);
void view_users_text(const struct tui *t, size_t position, struct gk_buf *out);

/* The screen of several machines. */
int view_hosts(struct tui *t, struct grid *g);
bool view_hosts_act(struct tui *t, enum tui_action action);
size_t view_hosts_count(const struct tui *t);
long view_hosts_selected(const struct tui *t);
void view_hosts_select(struct tui *t, long position);
long view_hosts_at(const struct tui *t, int row);
void view_hosts_text(const struct tui *t, size_t position, struct gk_buf *out);
/*
 * Returns how many rows the alerts of all hosts take at the bottom of the
 * screen.
 */
int view_hosts_alert_lines(const struct tui *t, int rows);
void view_hosts_alerts(const struct tui *t, struct grid *g, int row, int lines);

/* The screen of alerts. */
int view_alerts(struct tui *t, struct grid *g);
bool view_alerts_open(struct tui *t);
bool view_alerts_act(struct tui *t, enum tui_action action);
size_t view_alerts_count(const struct tui *t);
long view_alerts_selected(const struct tui *t);
void view_alerts_select(struct tui *t, long position);
long view_alerts_at(const struct tui *t, int row);
void view_alerts_text(const struct tui *t, size_t position, struct gk_buf *out);

/* The settings screen. */
int view_settings(struct tui *t, struct grid *g);
bool view_settings_open(struct tui *t);
bool view_settings_act(struct tui *t, enum tui_action action);
size_t view_settings_count(const struct tui *t);
long view_settings_selected(const struct tui *t);
void view_settings_select(struct tui *t, long position);
long view_settings_at(const struct tui *t, int row);
void view_settings_text(const struct tui *t, size_t position,
			struct gk_buf *out);

#endif
