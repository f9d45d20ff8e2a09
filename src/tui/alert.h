/*
 * alert.h - what the user wants to be told: a GPU that is lost or hangs, that
 * is hot or slowed down, that draws much power, whose memory is held while it
 * does nothing, whose memory failed, or of which the driver told an Xid error.
 * Rules and a snapshot in, alerts out; running the command is apart.
 */
#ifndef GK_TUI_ALERT_H
#define GK_TUI_ALERT_H

#include "base/str.h"
#include "format/identity.h"
#include "format/state.h"

#include <gpukit/gpukit.h>

/* From the config file; 0: no such alert. */
struct tui_alert_rules {
	int temperature; /* degrees Celsius */
	int power;       /* percent of the limit in force */
	int idle;        /* minutes */
	bool ecc;        /* uncorrected errors */
	bool xid;        /* Xid errors, each of them */
	bool lost, hung; /* no GPU any more, no answer */
	int held;        /* seconds of clocks that are held back */
	/* Arguments of a program that is run for each alert, NULL at the end;
	 * NULL: none. The rules own it. */
	char **command;
	/* Why the config file's command is not run, with the cure; NULL: there
	 * is none, or it is run. The rules own it. */
	char *refused;
	uint64_t command_ns; /* the same alert runs it not again within */
};

enum tui_alert_kind {
	ALERT_TEMPERATURE,
	ALERT_POWER,
	ALERT_IDLE,
	ALERT_ECC,
	ALERT_XID,
	ALERT_LOST,
	ALERT_HUNG,
	ALERT_HELD,
	ALERT_KINDS
};

#define TUI_ALERT_WORDS 32

/* A row for each GPU and kind; it keeps what must be remembered. */
struct tui_alert {
	struct gk_identity gpu;
	enum tui_alert_kind kind;
	bool on, fresh;       /* fresh: since the last update */
	int64_t value, limit; /* in the unit of the kind; an Xid's number */
	int64_t count;        /* of what is told again when it grows */
	uint64_t grew_ns;     /* when it did; CLOCK_MONOTONIC */
	/* Since when it is so, of what has to last to be told; 0: not. */
	uint64_t since_ns;
	uint64_t run_ns; /* when the command ran for it; 0: never */
	/* It is so, though the rules may want no alert of it: it is written
	 * down. again: since the last update. */
	bool noticed, again;
	bool seen;         /* by an update */
	int64_t before;    /* of a count without a rule: not told of */
	uint64_t fresh_ns; /* CLOCK_MONOTONIC; when it was last fresh */
	char words[TUI_ALERT_WORDS]; /* of a GPU held back: by what */
};

/* What happened: an alert as it was last, and when. began_ns and ended_ns are
 * since 1970, the others CLOCK_MONOTONIC, that tells how long it lasted though
 * somebody set the clock; ended 0: it is on. */
struct tui_alert_event {
	struct tui_alert alert;
	size_t row;      /* of the alert */
	uint64_t number; /* from 1 on; no other has it */
	uint64_t began_ns, ended_ns;
	uint64_t began_mono_ns, ended_mono_ns;
};

#define TUI_ALERT_EVENTS 200 /* that are remembered */

/* The screen of events: what is selected there. */
struct tui_alert_list {
	uint64_t number; /* of an event; 0: none */
	int row, rows;   /* where the list was drawn */
};

struct tui_alerts {
	struct tui_alert *rows;
	size_t count;
	size_t on;                      /* how many are on */
	struct tui_alert_event *events; /* what began first is first */
	size_t event_count;
	uint64_t last_number;
};

/*
 * Takes a snapshot in; true when an alert began. One that is on ends a little
 * below its threshold, so that it does not flicker. A value that cannot be read
 * changes nothing; with a GPU that is lost ends what is not counted. With one
 * that is in the list no more all of it ends.
 */
bool tui_alerts_update(struct tui_alerts *alerts,
		       const struct tui_alert_rules *rules,
		       const struct gk_snapshot *snap);
void tui_alerts_free(struct tui_alerts *alerts);

/* Writes down what began and what ended with a snapshot. */
void tui_alerts_note(struct tui_alerts *alerts, const struct gk_snapshot *snap);

/* How many events had begun at a moment of CLOCK_MONOTONIC: the first ones. */
size_t tui_alert_events_until(const struct tui_alerts *alerts, uint64_t at_ns);

/* An event that had begun, as it was at that moment; and for how long. */
struct tui_alert_event tui_alert_event_at(const struct tui_alert_event *event,
					  uint64_t at_ns);
uint64_t tui_alert_event_lasted(const struct tui_alert_event *event,
				uint64_t at_ns);

/* How many units of its value a time is; -1: its value is no time. */
int64_t tui_alert_value_after(enum tui_alert_kind kind, uint64_t ns);

/* Whether it is a failure, not a warning. */
bool tui_alert_fails(enum tui_alert_kind kind);

/* The state that it is a sign of: it has its glyph. */
enum gk_state_kind tui_alert_state(enum tui_alert_kind kind);

/* Less than 0: the first is told first, as what failed, else as the newer one;
 * 0: either. */
int tui_alert_compare(const struct tui_alert *a, const struct tui_alert *b);

/* "temperature"... */
const char *tui_alert_kind_name(enum tui_alert_kind kind);

/* "GPU 3: 95 C (alert from 90 C)"; the same without the GPU. */
void tui_alert_text(const struct tui_alert *alert, char *dst, size_t cap);
void tui_alert_what(const struct tui_alert *alert, char *dst, size_t cap);

/* All that are on, in a line. */
void tui_alerts_line(const struct tui_alerts *alerts, struct gk_buf *out);

/*
 * Runs the command for the alerts that are fresh and may; never waits for it.
 * No shell; its streams are /dev/null; GPUKIT_ALERT, GPUKIT_ALERT_GPU,
 * GPUKIT_ALERT_UUID, GPUKIT_ALERT_VALUE, GPUKIT_ALERT_LIMIT and
 * GPUKIT_ALERT_TEXT tell it what. Returns 0, or the errno value of a program
 * that cannot be started.
 */
int tui_alerts_run(struct tui_alerts *alerts,
		   const struct tui_alert_rules *rules, uint64_t now_ns);

/* Takes the exit status of commands that ended. */
void tui_alerts_reap(void);

#endif
