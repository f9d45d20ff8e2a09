/*
 * model.h - what the viewer knows: the snapshot that is shown, what is
 * selected, how it is ordered and filtered, which screen is on top. Views
 * read it, update.c changes it.
 */
#ifndef GK_TUI_MODEL_H
#define GK_TUI_MODEL_H

#include "base/str.h"
#include "core/history.h"
#include "core/pick.h"
#include "format/boxed/boxed.h"
#include "format/columns.h"
#include "hosts/hosts.h"
#include "tui/alert.h"
#include "tui/device.h"
#include "tui/dialog.h"
#include "tui/environ.h"
#include "tui/filter.h"
#include "tui/hosts.h"
#include "tui/keep.h"
#include "tui/key.h"
#include "tui/lanes/state.h"
#include "tui/metrics.h"
#include "tui/main_screen.h"
#include "tui/order.h"
#include "tui/prompt.h"
#include "tui/replay.h"
#include "tui/search.h"
#include "tui/signal.h"
#include "tui/term.h"
#include "tui/time.h"
#include "tui/tree.h"
#include "tui/users.h"

#include <gpukit/gpukit.h>

/* Processes whose history is kept, of a machine. */
#define TUI_PROCESSES_REMEMBERED 256

enum tui_key_set { KEYS_STANDARD, KEYS_VI };

enum tui_look { LOOK_LANES, LOOK_NVITOP };

enum tui_graph { GRAPH_BRAILLE, GRAPH_BLOCK, GRAPH_ASCII };

enum tui_mode { MODE_AUTO, MODE_FULL, MODE_COMPACT };

/* Screens, by number; 1 << number is its bit of tui_screens. */
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

/* Whose processes are shown; all conditions must hold. */
struct tui_filter {
	unsigned types;      /* bits of gk_process_type that it must have */
	unsigned only_types; /* and have no others; 0: any */
	uint64_t gpus;       /* bit mask; 0: all */
	char user[GK_NAME_MAX];
	char text[GK_NAME_MAX]; /* part of the command or pid */
	uint64_t memory_over;   /* bytes of GPU memory */
};

/* Keys that the config file gives an action. */
struct tui_binding {
	char *action, *keys;
};

/* Made by tui_config_read() and the command line; see config.h. */
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
	struct gk_pick pick; /* all that is ever shown */
	struct tui_alert_rules alerts;
	char *path; /* of the config file; NULL: none can be */
	struct tui_binding *bindings;
	size_t binding_count;
	struct gk_columns columns;                /* count 0: the usual ones */
	const struct tui_replay *replay;          /* NULL: a machine is shown */
	const struct tui_keep *keep;              /* NULL: no frames are kept */
	const struct tui_keep *const *host_keeps; /* of each host; NULL: the
						     same */
	struct gk_hosts *hosts; /* NULL: this machine is shown, and no other */
};

/* A process on a device, whatever snapshot it is in. */
struct tui_identity {
	pid_t pid; /* 0: nothing */
	uint64_t start_ticks;
	char uuid[GK_NAME_MAX]; /* of the device; "": on any */
};

/* A screen under the one on top. */
struct tui_place {
	enum tui_screen screen;
	int scroll, scroll_left;
};

struct tui {
	struct tui_options options;
	struct tui_keymap *keymap;
	tui_key pending; /* first key of a sequence */
	struct gk_history *history;
	const struct gk_snapshot *snap; /* NULL: none yet */
	uid_t uid;
	const char *user; /* its name */

	int colors;             /* of the terminal; 0: 256 */
	int rows, columns;      /* of the terminal */
	enum tui_screen screen; /* on top */
	struct tui_place below[SCREEN_COUNT];
	int below_count;
	bool quit, paused;
	char message[256]; /* on the last row, until message_until_ns */
	uint64_t message_until_ns;

	struct tui_main main;
	struct lanes lanes;
	const struct tui_alerts *alerts; /* NULL: none are kept */
	struct tui_alert_list alert_list;
	struct tui_time time; /* of all graphs */
	struct tui_tree tree;
	struct tui_environ environ;
	struct tui_metrics metrics;
	struct tui_device device;
	struct tui_users users;
	struct tui_hosts hosts;

	struct tui_prompt prompt; /* over the screen, while open */
	struct tui_dialog dialog; /* over both, while open */
	struct tui_signal signal; /* what a dialog or prompt asks about */

	struct tui_search search;
	struct tui_words words; /* the filter that was typed */
	char words_before[TUI_PROMPT_MAX];

	/* Processes as they are listed: positions in snap->processes. */
	unsigned *list;
	size_t list_count, list_cap;
	struct tui_order order;
	struct tui_identity selected;
	struct tui_tag *tags;
	size_t tag_count;

	long setting; /* selected on the settings screen */

	int scroll;               /* first line of the screen that is shown */
	int scroll_left;          /* columns of the host part scrolled away */
	int line_count;           /* lines of the screen as last drawn */
	const struct grid *drawn; /* last; NULL: never */
	int first_process_line;   /* where list[0] was drawn, or -1 */
};

/* The rows of the process list, ordered and filtered; called after changes. */
void tui_list_update(struct tui *t);

/* The columns of processes that are chosen. */
struct gk_columns tui_columns(const struct tui *t);

/* Bits of gk_with that columns, order and filter need to know of processes. */
unsigned tui_with(const struct tui *t);

/* Position in t->list of the selected process, or -1. */
long tui_selected(const struct tui *t);
void tui_select(struct tui *t, long position);

/* The process selected or shown on the screen on top; NULL: none. It lives
 * until the next snapshot, or until the screen is left. */
const struct gk_process *tui_process(const struct tui *t);

/* Processes may be tagged, for the keys that send signals. */
bool tui_is_tagged(const struct tui *t, const struct gk_process *p);
void tui_tag_toggle(struct tui *t, const struct gk_process *p);

/* Do what a key, the mouse or an action asks for. */
void tui_key_pressed(struct tui *t, tui_key key);
void tui_do(struct tui *t, enum tui_action action);

/* Shows a text on the last row for some seconds. */
void tui_say(struct tui *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Brings a screen on top; one that is on top already is left. */
void tui_open(struct tui *t, enum tui_screen screen);

/* Leaves the screen on top for the one below; false: there is none. */
bool tui_back(struct tui *t);

/* Tells the screens that t->snap is a new one. */
void tui_frame(struct tui *t);

/* Draws the screen that is on top. */
void tui_draw(struct tui *t, struct grid *g);

#endif
