/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alert.h - derives alerts from rules and snapshots: a GPU that is lost, hangs
 * or must be reset, is hot or slowed down, draws much power, is held but idle,
 * or had uncorrected memory errors or Xids. It also keeps them as events and
 * runs the user's command for them.
 */
#ifndef GK_TUI_ALERT_H
#define GK_TUI_ALERT_H

#include "base/str.h"
#include "format/identity.h"
#include "format/state.h"

#include <gpukit/gpukit.h>

/* Thresholds from the config file; 0 or false means no such alert. */
struct tui_alert_rules {
	int temperature; /* degrees Celsius */
	int power;       /* percent of the enforced power limit */
	int idle;        /* minutes */
	bool ecc;        /* uncorrected memory errors */
	bool xid;        /* every Xid */
	/* lost: the GPU is lost or in error; hung: it does not answer */
	bool lost, hung;
	bool fault; /* the GPU must be reset or replaced */
	int held;   /* seconds of reduced clocks */
	/*
	 * The program to run for each alert, and its arguments,
	 * NULL-terminated. NULL: none. The rules own it.
	 */
	char **command;
	/*
	 * Why the command in the config file is not run, and what to do about
	 * it. NULL: it is run, or there is none. The rules own this text.
	 */
	char *refused;
	uint64_t
	    command_ns; /* shortest time between two runs for the same alert */
};

enum tui_alert_kind {
	ALERT_TEMPERATURE,
	ALERT_POWER,
	ALERT_IDLE,
	ALERT_ECC,
	ALERT_XID,
	ALERT_LOST,
	ALERT_ERROR,
	ALERT_FAULT,
	ALERT_HUNG,
	ALERT_HELD,
	ALERT_KINDS
};

#define TUI_ALERT_WORDS 64
#define TUI_ALERT_RUNS  8

/* The state of one kind of alert on one GPU. Times are CLOCK_MONOTONIC. */
struct tui_alert {
	struct gk_identity gpu;
	enum tui_alert_kind kind;
	/* on: the alert is active; fresh: the last update raised it */
	bool on, fresh;
	int64_t value, limit; /* in the unit of the kind; the value of an Xid is
			       * its number */
	int64_t count;        /* an increase raises the alert again */
	uint64_t grew_ns;     /* time of the last increase */
	/*
	 * For kinds with a duration: when the condition began to hold; 0: it
	 * does not hold.
	 */
	uint64_t since_ns;
	/*
	 * The last runs of the command for the alert, newest first. Each number
	 * of an Xid counts as an alert of its own here.
	 */
	struct tui_alert_run {
		int64_t what; /* number of the Xid; 0: not an Xid */
		uint64_t ns;  /* 0: never */
	} ran[TUI_ALERT_RUNS];
	uint64_t came_ns; /* time of the last Xid; 0: unknown */
	/*
	 * noticed: the condition holds, so there is an event, even without a
	 * rule. again: the last update began an event.
	 */
	bool noticed, again;
	bool seen;         /* the value has been read at least once */
	bool from_start;   /* the condition has held since the first reading */
	int64_t before;    /* without a rule, only higher counts are reported */
	uint64_t fresh_ns; /* when `fresh` was last set */
	char words[TUI_ALERT_WORDS]; /* why the GPU fails or is slow */
};

/*
 * A period in which an alert's condition held. began_ns and ended_ns are wall
 * clock times since 1970. Durations are computed from the CLOCK_MONOTONIC
 * times, because the wall clock may be set. If ended_ns is 0, the condition
 * still holds.
 */
struct tui_alert_event {
	struct tui_alert alert; /* state after the event's last update */
	size_t row;             /* index of the alert's row */
	uint64_t number;        /* unique; the first event has 1 */
	uint64_t began_ns, ended_ns;
	uint64_t began_mono_ns, ended_mono_ns;
};

#define TUI_ALERT_EVENTS 200 /* maximum number of events kept */

/* An alert whose command is waiting to be run. */
struct tui_alert_due {
	struct tui_alert alert;
	size_t row;
};

#define TUI_ALERT_DUE 64

/* The selection on the alerts screen. */
struct tui_alert_list {
	uint64_t number; /* number of the selected event; 0: none */
	int row, rows;   /* where the list is on the screen */
};

struct tui_alerts {
	struct tui_alert *rows;
	size_t count;
	size_t on;                      /* number of active alerts */
	struct tui_alert_event *events; /* oldest first */
	size_t event_count;
	uint64_t last_number;
	/* The queue of commands to run. */
	struct tui_alert_due due[TUI_ALERT_DUE];
	size_t due_count;
};

/*
 * Updates the alerts from a snapshot. Returns whether one was raised. An alert
 * ends a little below its threshold, so that it does not flicker. If a value
 * cannot be read, its alert stays as it is; but if the GPU is lost, the alert
 * ends, unless it is an alert on a counter. When a GPU is no longer listed, all
 * of its alerts end.
 */
bool tui_alerts_update(struct tui_alerts *alerts,
		       const struct tui_alert_rules *rules,
		       const struct gk_snapshot *snap);
void tui_alerts_free(struct tui_alerts *alerts);

/*
 * Add or complete the events of alerts that began or ended with a snapshot. The
 * first function does so for all alerts, the second for the alert of one row.
 */
void tui_alerts_note(struct tui_alerts *alerts, const struct gk_snapshot *snap);
void tui_alerts_note_row(struct tui_alerts *alerts, size_t row,
			 const struct gk_snapshot *snap);

/*
 * Queues the command for a row in its present state. If the queue is full, the
 * command is dropped.
 */
void tui_alerts_add_due(struct tui_alerts *alerts, size_t row);

/*
 * Returns how many events had begun by a moment (CLOCK_MONOTONIC). They are the
 * first ones in the list, which is sorted by beginning.
 */
size_t tui_alert_events_until(const struct tui_alerts *alerts, uint64_t at_ns);

/*
 * Return the state of an event at a moment after its beginning, and how long it
 * had lasted then.
 */
struct tui_alert_event tui_alert_event_at(const struct tui_alert_event *event,
					  uint64_t at_ns);
uint64_t tui_alert_event_lasted(const struct tui_alert_event *event,
				uint64_t at_ns);

/*
 * Converts a duration to the unit of a kind's values. Returns -1 if the kind's
 * values are not durations.
 */
int64_t tui_alert_value_after(enum tui_alert_kind kind, uint64_t ns);

/* Whether a kind is a failure rather than a warning. */
bool tui_alert_fails(enum tui_alert_kind kind);

/* Returns the GPU state that the alert stands for. It determines the glyph. */
enum gk_state_kind tui_alert_state(enum tui_alert_kind kind);

/*
 * Returns a negative number if a is shown before b: failures come first, then
 * newer alerts.
 */
int tui_alert_compare(const struct tui_alert *a, const struct tui_alert *b);

/* Returns the name of a kind, such as "temperature". */
const char *tui_alert_kind_name(enum tui_alert_kind kind);

/*
 * tui_alert_text() writes "GPU 3: 95 C (alert from 90 C)", tui_alert_what() the
 * same without the GPU.
 */
void tui_alert_text(const struct tui_alert *alert, char *dst, size_t cap);
void tui_alert_what(const struct tui_alert *alert, char *dst, size_t cap);

/* Adds a line with all active alerts. */
void tui_alerts_line(const struct tui_alerts *alerts, struct gk_buf *out);

/*
 * Runs the command for fresh alerts, including each Xid of a burst, without
 * waiting for it to end. At most 8 commands run at a time; later calls run the
 * rest. A command is started without a shell, with /dev/null as its standard
 * streams. GPUKIT_ALERT, GPUKIT_ALERT_GPU, GPUKIT_ALERT_UUID,
 * GPUKIT_ALERT_VALUE, GPUKIT_ALERT_LIMIT and GPUKIT_ALERT_TEXT describe the
 * alert. Returns 0, or an errno value if a command could not be started.
 */
int tui_alerts_run(struct tui_alerts *alerts,
		   const struct tui_alert_rules *rules, uint64_t now_ns);

/* Reaps commands that have ended. */
void tui_alerts_reap(void);

#endif
