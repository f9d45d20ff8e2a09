/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts.h - shows several machines: keeps the state of each, and which of them
 * the other screens show.
 */
#ifndef GK_TUI_HOSTS_H
#define GK_TUI_HOSTS_H

#include "base/str.h"
#include "core/past/history.h"
#include "format/owners.h"
#include "format/state.h"
#include "hosts/hosts.h"
#include "tui/alerts/alert.h"
#include "tui/model/keep.h"

struct tui;
struct tui_options;

#define TUI_HOSTS_TEXT 320

struct tui_host {
	/*
	 * The last frame (NULL: none yet), and the part of it that options.pick
	 * selects.
	 */
	struct gk_snapshot *snap, part;
	struct gk_history *history;
	struct gk_seen seen;
	struct gk_owners owners;
	struct tui_alerts alerts; /* only shown; no command is run for them */
	struct gk_host_state state;
	bool is_old; /* the host has gone away since its last frame */
	/* The host's frames of the last minutes; NULL: not kept. */
	const struct tui_keep *keep;
	/* The frame of the past moment on display, or NULL. */
	struct gk_snapshot *past, past_part;
	int rank; /* the host with the smallest rank is on top */
	/*
	 * When the host's state became better than its rank; 0: it is not
	 * better.
	 */
	uint64_t better_ns;
};

/*
 * The state of all hosts, a part of struct tui. Empty if options.hosts is NULL.
 */
struct tui_hosts {
	struct tui_host *list;
	size_t count, selected;
	size_t *order;           /* positions in list, from top to bottom */
	uint64_t shown_ns;       /* time.end_ns of the frames on display */
	uint64_t told_s;         /* the second in which the screen was last
				  * drawn */
	int list_row, list_rows; /* where the list is on the screen */
};

/*
 * Opens the screen of all hosts, or the main screen if there is only one.
 * Returns 0 or GK_ERR_NOMEM; call tui_hosts_end() in either case.
 */
int tui_hosts_begin(struct tui *t);
void tui_hosts_end(struct tui *t);

/*
 * Receives new frames and states. Returns whether the screen must be redrawn.
 */
bool tui_hosts_turn(struct tui *t);

/*
 * Returns the last frame of the only host, for the caller to free. NULL if
 * there are several hosts or no frame has arrived.
 */
struct gk_snapshot *tui_hosts_last(struct tui *t);

/*
 * Waits until each host has sent a frame or is known to be away, and adds the
 * rows of the hosts screen as text. *ret_heard is the number of hosts that have
 * sent a frame. wait() must return true when fd is readable. Returns 0 or a
 * gk_err: GK_ERR_TIMEOUT if wait() returned false.
 */
int tui_hosts_table(const struct tui_options *options, int columns, bool color,
		    bool (*wait)(int fd), struct gk_buf *out,
		    size_t *ret_heard);

/* Makes the other screens show the host at a position in the list. */
void tui_hosts_show(struct tui *t, size_t at);

/*
 * tui_host_gpu_state() returns the state of one GPU, tui_host_worst() the GPU
 * in the worst state, or NULL.
 */
struct gk_state tui_host_gpu_state(const struct tui *t,
				   const struct tui_host *host,
				   const struct gk_device *d);
const struct gk_device *tui_host_worst(const struct tui *t,
				       const struct tui_host *host,
				       struct gk_state *ret_state);

/*
 * Sorts hosts in trouble to the top; the others keep the order given by the
 * user. A host that gets worse moves up at once. A host that gets better moves
 * down after 10 s.
 */
void tui_hosts_sort(struct tui *t, uint64_t now_ns);

/* Returns the row of a host on the screen, or -1. */
long tui_hosts_place(const struct tui *t, size_t host);

/*
 * If the moment in t->time has changed, shows the frame kept for it. Returns
 * whether the screen must be redrawn.
 */
bool tui_hosts_follow_time(struct tui *t);
void tui_host_forget_past(struct tui_host *host);

/*
 * Writes why a host sends no frames: "away 2m: no route to host · since
 * 21:40:02, again in 8s"; "" if it does send them.
 */
char *tui_host_why(const struct tui_host *host, uint64_t now,
		   char dst[TUI_HOSTS_TEXT]);

/*
 * Writes a short form of tui_host_why()'s text for the host whose frame is
 * shown. If that host is not away, dst is untouched.
 */
void tui_hosts_away_text(const struct tui *t, char *dst, size_t cap);

/* Returns the text of a screen that has no frame yet. */
const char *tui_hosts_waiting(const struct tui *t, char dst[TUI_HOSTS_TEXT]);

#endif
