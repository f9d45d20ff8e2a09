/*
 * hosts.h - several machines: what is remembered of each, and which of them the
 * other screens show.
 */
#ifndef GK_TUI_HOSTS_H
#define GK_TUI_HOSTS_H

#include "base/str.h"
#include "core/history.h"
#include "format/owners.h"
#include "format/state.h"
#include "hosts/hosts.h"
#include "tui/alert.h"
#include "tui/keep.h"

struct tui;
struct tui_options;

#define TUI_HOSTS_TEXT 320

struct tui_host {
	/* The last frame, and the part of it that is asked for; NULL: none
	 * yet. */
	struct gk_snapshot *snap, part;
	struct gk_history *history;
	struct gk_seen seen;
	struct gk_owners owners;
	struct tui_alerts alerts; /* told, never run */
	struct gk_host_state state;
	bool is_old; /* nothing has been heard since that frame */
	/* Its frames of the last minutes; NULL: none are kept. That of a moment
	 * before, while it is looked at; NULL: none. */
	const struct tui_keep *keep;
	struct gk_snapshot *past, past_part;
	int rank;           /* the smaller, the nearer to the top */
	uint64_t better_ns; /* since when it should be lower; 0: it should not
			     */
};

/* Part of struct tui; of no host as long as options.hosts is NULL. */
struct tui_hosts {
	struct tui_host *list;
	size_t count, selected;
	size_t *order;     /* positions in list, as they stand on the screen */
	uint64_t shown_ns; /* the time.end_ns that is shown */
	uint64_t told_s;   /* the second that was drawn last */
	int list_row, list_rows;
};

/* Begins with the screen of all, or the main screen of the only one. 0 or
 * GK_ERR_NOMEM; tui_hosts_end() in either case. */
int tui_hosts_begin(struct tui *t);
void tui_hosts_end(struct tui *t);

/* Takes in what came; whether something is to be drawn. */
bool tui_hosts_turn(struct tui *t);

/* The last frame of the only host, the caller's from now on; NULL: there are
 * several, or none came. */
struct gk_snapshot *tui_hosts_last(struct tui *t);

/*
 * Waits until each host has told a frame or is known to be away, and adds the
 * rows of the screen as text; *ret_heard: how many have. wait() waits until a
 * descriptor polls readable. 0 or a gk_err; GK_ERR_TIMEOUT: wait() said false.
 */
int tui_hosts_table(const struct tui_options *options, int columns, bool color,
		    bool (*wait)(int fd), struct gk_buf *out,
		    size_t *ret_heard);

/* The other screens show the host at a position from now on. */
void tui_hosts_show(struct tui *t, size_t at);

/* The state of a GPU, and the GPU that is worst; NULL: there is none. */
struct gk_state tui_host_gpu_state(const struct tui *t,
				   const struct tui_host *host,
				   const struct gk_device *d);
const struct gk_device *tui_host_worst(const struct tui *t,
				       const struct tui_host *host,
				       struct gk_state *ret_state);

/*
 * Those in trouble stand first, the others as they were named. What gets worse
 * goes up at once, what gets better comes down after a while.
 */
void tui_hosts_sort(struct tui *t, uint64_t now_ns);

/* Where a host stands; -1: nowhere. */
long tui_hosts_place(const struct tui *t, size_t host);

/* Shows the frame of another moment, where one was asked for and is kept;
 * whether something is to be drawn. */
bool tui_hosts_follow_time(struct tui *t);
void tui_host_forget_past(struct tui_host *host);

/* Why nothing is heard of a host: "away 2m: no route to host · since
 * 21:40:02, again in 8s". */
char *tui_host_why(const struct tui_host *host, uint64_t now,
		   char dst[TUI_HOSTS_TEXT]);

/* The same of the host that is shown, in short; "": it is heard. */
void tui_hosts_away_text(const struct tui *t, char *dst, size_t cap);

/* What a screen says that has no frame yet. */
const char *tui_hosts_waiting(const struct tui *t, char dst[TUI_HOSTS_TEXT]);

#endif
