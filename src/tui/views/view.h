/*
 * view.h - screens, and their parts. A part draws itself into a grid from a
 * line on, which may lie above or below what is seen: what does not fit is
 * cut. Each returns its height. Views only read the model.
 */
#ifndef GK_TUI_VIEW_H
#define GK_TUI_VIEW_H

#include "tui/grid.h"
#include "tui/model.h"

/*
 * A screen: how it is drawn, and what the keys that move do on it. A function
 * that is NULL does not exist there.
 */
struct view {
	const char *title;
	/* Draws it, the first line at -t->scroll; returns how many there are.
	 */
	int (*draw)(struct tui *t, struct grid *g);
	/* It comes on top; false: not now, and tui_say() told why. */
	bool (*open)(struct tui *t);
	/* It is left; not called when another screen comes on top of it. */
	void (*close)(struct tui *t);
	/* t->snap is a new one; called while it is open. */
	void (*frame)(struct tui *t);
	/*
	 * Takes a key before all others do; false: it does what it always does.
	 * Keys without an action come as ACTION_NONE.
	 */
	bool (*act)(struct tui *t, enum tui_action action);
	/* Its list: how many lines, which is selected (-1: none). */
	size_t (*count)(const struct tui *t);
	long (*selected)(const struct tui *t);
	void (*select)(struct tui *t, long position);
	/* The process that is selected or shown; NULL: none. */
	const struct gk_process *(*process)(const struct tui *t);
	int step; /* columns that Left and Right scroll; 0: 2 */
	/* The line of the list that is seen at a row of the screen, or -1. */
	long (*at)(const struct tui *t, int row);
	/* The text of a list's line that a search looks at. */
	void (*text)(const struct tui *t, size_t position, struct gk_buf *out);
	bool scrolls_whole; /* pages scroll it; otherwise they select */
};

/* The screen on top. */
const struct view *view_of(const struct tui *t);

/*
 * Scrolls as little as needed so that a line (counted from the top of the
 * screen's text) is seen in rows rows from row first on.
 */
void view_follow(struct tui *t, int line, int first, int rows);

/* Draws the lines of a text from a line on; returns how many there are. */
int view_lines(struct grid *g, int line, const struct gk_buf *text);

/* Keys of the main screen; see main_screen.h. */
bool view_main_act(struct tui *t, enum tui_action action);

/* Whole screens: their number of lines. */
int view_main(struct tui *t, struct grid *g);

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

/* What is wrong with a GPU, and how old its values are; "": nothing. */
void view_device_trouble(const struct tui *t, const struct gk_device *d,
			 char *dst, size_t cap);

/* The NVML index of the GPU that it shows; -1: it is not on top. */
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
/* How many of so many rows the alerts of hosts take, which are below. */
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
