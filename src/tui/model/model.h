/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - the state of the viewer: the snapshot on display; the selection,
 * order and filter of processes; and the stack of screens. Views read it,
 * update.c changes it.
 */
#ifndef GK_TUI_MODEL_H
#define GK_TUI_MODEL_H

#include "base/str.h"
#include "core/choose/pick.h"
#include "core/past/history.h"
#include "core/read/proctree.h"
#include "format/boxed/boxed.h"
#include "format/columns.h"
#include "format/identity.h"
#include "hosts/hosts.h"
#include "tui/alerts/alert.h"
#include "tui/screen/dialog.h"
#include "tui/model/environ.h"
#include "tui/model/filter.h"
#include "tui/model/hosts.h"
#include "tui/model/keep.h"
#include "tui/screen/key.h"
#include "tui/lanes/state.h"
#include "tui/views/main_screen.h"
#include "tui/model/order.h"
#include "tui/screen/prompt.h"
#include "tui/model/replay.h"
#include "tui/model/search.h"
#include "tui/model/signal.h"
#include "tui/screen/term.h"
#include "tui/model/time.h"

#include <gpukit/gpukit.h>

/* The maximum number of processes of a machine whose history is kept. */
#define TUI_PROCESSES_REMEMBERED 256

enum tui_key_set { KEYS_STANDARD, KEYS_VI };

enum tui_look { LOOK_LANES, LOOK_NVITOP };

enum tui_graph { GRAPH_BRAILLE, GRAPH_BLOCK, GRAPH_ASCII };

enum tui_mode { MODE_AUTO, MODE_FULL, MODE_COMPACT };

/*
 * The numbers of the screens. The bit of a screen in enum tui_screens is 1 <<
 * number.
 */
enum tui_screen {
	SCREEN_MAIN,
	SCREEN_TREE,
	SCREEN_METRICS,
	SCREEN_ENVIRON,
	SCREEN_HELP,
	SCREEN_DEVICE,
	SCREEN_USERS,
	SCREEN_SETTINGS,
	SCREEN_HOSTS,
	SCREEN_ALERTS,
	SCREEN_COUNT
};

/* Which processes are shown: those that meet all conditions. */
struct tui_filter {
	unsigned types; /* bits of gk_process_type; the process must have one
			 * of them */
	/* If not 0, the process may have no types other than these. */
	unsigned only_types;
	uint64_t gpus; /* bit mask of GPUs; 0: all */
	char user[GK_NAME_MAX];
	char text[GK_NAME_MAX]; /* part of the command or the pid */
	/* The process must use more GPU memory than this, in bytes. */
	uint64_t memory_over;
};

/* An action and the keys that the config file binds to it. */
struct tui_binding {
	char *action, *keys;
};

/*
 * The viewer's options, from tui_config_read() and the command line; see
 * config.h.
 */
struct tui_options {
	struct gk_boxed_options boxed;
	enum tui_look look;
	enum tui_graph graph;
	enum tui_mode mode;
	struct term_options term;
	bool readonly;
	bool devices_hidden, host_hidden, processes_hidden;
	struct tui_order order;
	enum tui_key_set key_set;
	uint64_t interval_ns;
	struct tui_filter filter;
	struct gk_pick pick; /* restricts what any screen shows */
	struct tui_alert_rules alerts;
	/* Path of the config file, or NULL if there is no directory for it. */
	char *path;
	struct tui_binding *bindings;
	size_t binding_count;
	struct gk_columns columns;       /* count 0: the default columns */
	const struct tui_replay *replay; /* NULL: shows a running machine */
	const struct tui_keep *keep;     /* NULL: keeps no frames */
	const struct tui_keep *const
	    *host_keeps;        /* one per host; NULL: keeps no frames */
	struct gk_hosts *hosts; /* NULL: shows only this machine */
};

/* Identifies a process on a device across snapshots. */
struct tui_identity {
	pid_t pid; /* 0: nothing */
	uint64_t start_ticks;
	char uuid[GK_NAME_MAX]; /* UUID of the device; "": any device */
};

/*
 * Byte counters of the NVLinks, and when they were read (CLOCK_MONOTONIC; 0:
 * never).
 */
struct tui_links {
	uint64_t read_ns;
	struct gk_value rx[GK_LINKS_MAX], tx[GK_LINKS_MAX];
};

/* The state of the screen of one GPU. */
struct tui_device {
	struct gk_identity gpu; /* the GPU on the screen; if it is not listed,
				 * the first GPU is shown */
	unsigned graphs;        /* number of the page of graphs */
	/*
	 * The last two readings of the counters. Both are of the GPU links_gpu.
	 */
	struct gk_identity links_gpu;
	struct tui_links links, before;
	/* The GPU's values from when it was last healthy. */
	struct gk_device last;
	struct gk_detail last_detail;
};

/*
 * The state of the screen of one process: the identity of the process, and the
 * facts that are shown even after it has ended.
 */
struct tui_metrics {
	pid_t pid;
	uint64_t start_ticks;
	char uuid[GK_NAME_MAX]; /* UUID of the device */
	char gpu[GK_NAME_MAX];  /* label of the device */
	char user[GK_NAME_MAX];
	char command[512];
	float gpu_total, host_total; /* total memory in MiB; 0: unknown */
};

struct tui_tree_closed {
	pid_t pid;
	uint64_t start_ticks;
};

/*
 * The state of the tree screen: the process tree, while the screen is open, and
 * the nodes that the user has closed.
 */
struct tui_tree {
	int proc_fd; /* descriptor of a directory to read instead of /proc;
		      * 0: read /proc */
	struct gk_family *family;
	struct gk_tree *tree; /* NULL: the screen is not open */
	unsigned *rows;       /* visible nodes, as positions in tree->nodes */
	size_t row_count;
	int widths[3]; /* widths of the longest pid, user and device */
	struct tui_tree_closed *closed;
	size_t closed_count;
};

struct tui_user {
	char name[GK_NAME_MAX]; /* "": unknown */
	unsigned processes;     /* number of processes; a process on two GPUs
				 * counts once */
	unsigned gpus, migs;
	struct gk_value sum[GK_PM_COUNT];
};

enum tui_user_order {
	USER_BY_NAME,
	USER_BY_PROCESSES,
	USER_BY_GPUS,
	USER_BY_MIGS,
	USER_BY_MEMORY,
	USER_BY_SM,
	USER_BY_CPU,
	USER_BY_HOST,
	USER_ORDERS
};

/*
 * The state of the users screen: the totals over each user's processes, and the
 * order of the rows.
 */
struct tui_users {
	struct tui_user *users; /* NULL: the screen is not open */
	size_t count;
	enum tui_user_order order;
	bool reversed, chosen; /* chosen: the user has chosen the order */
	char selected[GK_NAME_MAX];
	bool is_selected;
};

/* A screen below the top one, to which the user can go back. */
struct tui_below {
	enum tui_screen screen;
	int scroll, scroll_left;
};

struct tui {
	struct tui_options options;
	const struct view *views; /* indexed by enum tui_screen */
	struct tui_keymap *keymap;
	tui_key pending; /* first key of an unfinished sequence */
	struct gk_history *history;
	const struct gk_snapshot *snap; /* NULL: none yet */
	uid_t uid;
	const char *user; /* name of the user uid */

	int colors;             /* number of the terminal's colours; 0: 256 */
	int rows, columns;      /* size of the terminal */
	enum tui_screen screen; /* the topmost screen */
	struct tui_below below[SCREEN_COUNT];
	int below_count;
	bool quit, paused;
	char message[256]; /* shown on the last row until message_until_ns */
	uint64_t message_until_ns;

	struct tui_main main;
	struct lanes lanes;
	const struct tui_alerts *alerts; /* NULL: there are no alerts */
	struct tui_alert_list alert_list;
	struct tui_time time; /* the time span of all graphs */
	struct tui_tree tree;
	struct tui_environ environ;
	struct tui_metrics metrics;
	struct tui_device device;
	struct tui_users users;
	struct tui_hosts hosts;

	struct tui_prompt prompt; /* drawn over the screen while open */
	struct tui_dialog dialog; /* drawn over screen and prompt while open */
	struct tui_signal
	    signal; /* the processes that the dialog or prompt is about */

	struct tui_search search;
	struct tui_words words;            /* the filter as typed */
	char words_before[TUI_PROMPT_MAX]; /* the filter before the prompt
					    * was opened; Esc restores it */

	/*
	 * The listed processes, as positions in snap->processes, in the order
	 * of the list.
	 */
	unsigned *list;
	size_t list_count, list_cap;
	struct tui_order order;
	struct tui_identity selected;
	struct tui_tag *tags;
	size_t tag_count;

	long setting; /* index of the selected setting */

	int scroll;      /* first visible line */
	int scroll_left; /* number of columns scrolled out at the left */
	int line_count;  /* number of lines when last drawn */
	const struct grid *drawn; /* the last frame drawn; NULL: none yet */
	int first_process_line;   /* where list[0] was drawn, or -1 */
};

/*
 * Filters and sorts t->list again. Call it when the snapshot, the filter or the
 * order has changed.
 */
void tui_list_update(struct tui *t);

/* Returns the columns of the process list. */
struct gk_columns tui_columns(const struct tui *t);

/* Returns the bits of gk_with that columns, order, filter and tree need. */
unsigned tui_with(const struct tui *t);

/* Returns the position in t->list of the selected process, or -1. */
long tui_selected(const struct tui *t);
void tui_select(struct tui *t, long position);

/*
 * Returns the process that the top screen selects or shows, or NULL. Valid
 * until the next snapshot, or until the user leaves the screen.
 */
const struct gk_process *tui_process(const struct tui *t);

/*
 * Whether a process is tagged. Keys that send signals act on all tagged
 * processes.
 */
bool tui_is_tagged(const struct tui *t, const struct gk_process *p);
void tui_tag_toggle(struct tui *t, const struct gk_process *p);

/*
 * Whether a node of the tree is closed, so that its descendants have no rows.
 */
bool tui_tree_is_closed(const struct tui_tree *tree,
			const struct gk_tree_node *node);

/* Returns the node in a row of the tree. `position` is less than row_count. */
const struct gk_tree_node *tui_tree_node(const struct tui_tree *tree,
					 long position);

/* Handle a key, and perform an action. */
void tui_key_pressed(struct tui *t, tui_key key);
void tui_do(struct tui *t, enum tui_action action);

/* Shows a text on the last row for 3 s. */
void tui_say(struct tui *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts a screen on top. If it is on top already, goes back to the one below. */
void tui_open(struct tui *t, enum tui_screen screen);

/* Goes back to the screen below the top one. Returns false if there is none. */
bool tui_back(struct tui *t);

/* Updates the state of the open screens. Call it when t->snap is new. */
void tui_frame(struct tui *t);

/* Draws the top screen. */
void tui_draw(struct tui *t, struct grid *g);

#endif
