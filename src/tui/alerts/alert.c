/* SPDX-License-Identifier: Apache-2.0 */
/* alert.c - decides which alerts are raised and when they end. */
#include "tui/alerts/alert.h"

#include "base/assert.h"
#include "base/clock.h"
#include "core/read/held.h"
#include "format/names.h"
#include "format/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MINUTE (60 * GK_NS_PER_S)

/*
 * How long an error is shown, both as an alert and in its GPU's state
 * (format/state.h).
 */
#define OF_LATE_NS (10 * NS_PER_MINUTE)

/* ---- the value of each kind ---- */

static struct gk_value temperature(const struct gk_snapshot *snap,
				   const struct gk_device *d)
{
	(void)snap;
	return d->m[GK_M_TEMP];
}

static struct gk_value power(const struct gk_snapshot *snap,
			     const struct gk_device *d)
{
	struct gk_value drawn = d->m[GK_M_POWER];
	struct gk_value limit = d->m[GK_M_POWER_ENFORCED];

	(void)snap;
	if (limit.why != GK_PRESENT)
		limit = d->m[GK_M_POWER_LIMIT];
	if (drawn.why == GK_PRESENT &&
	    (limit.why != GK_PRESENT || limit.v <= 0))
		drawn.why = GK_ABSENT_NOT_SUPPORTED;
	else if (drawn.why == GK_PRESENT)
		drawn.v = drawn.v * 100 / limit.v;
	return drawn;
}

/* Returns 1 if the GPU has processes but no load. */
static struct gk_value idle(const struct gk_snapshot *snap,
			    const struct gk_device *d)
{
	struct gk_value busy = d->m[GK_M_GPU_UTIL];

	(void)snap;
	if (busy.why == GK_PRESENT)
		busy.v = !busy.v && d->process_count;
	return busy;
}

static struct gk_value uncorrected_errors(const struct gk_snapshot *snap,
					  const struct gk_device *d)
{
	(void)snap;
	return d->m[GK_M_ECC_UNCORRECTED];
}

/*
 * Returns the number of the last Xid, or 0 if that Xid is older than
 * OF_LATE_NS. A lost GPU still has a last Xid.
 */
static struct gk_value xid(const struct gk_snapshot *snap,
			   const struct gk_device *d)
{
	struct gk_value number = d->m[GK_M_XID_LAST];
	struct gk_value time = d->m[GK_M_XID_TIME];
	uint64_t now = snap->wall_ns;

	if (number.why == GK_PRESENT &&
	    (time.why != GK_PRESENT ||
	     (now > (uint64_t)time.v && now - (uint64_t)time.v > OF_LATE_NS)))
		number.v = 0;
	return number;
}

/* Returns 1 if the GPU is in the given state. A lost GPU has a state too. */
static struct gk_value is_in_state(const struct gk_snapshot *snap,
				   const struct gk_device *d,
				   enum gk_state_kind kind)
{
	static const struct gk_seen nothing_before;
	struct gk_state state = gk_state_of(
	    &nothing_before, snap, d, (struct gk_state_options){.width = 1});

	return (struct gk_value){.v = state.kind == kind && !state.slight};
}

static struct gk_value lost(const struct gk_snapshot *snap,
			    const struct gk_device *d)
{
	return is_in_state(snap, d, GK_STATE_LOST);
}

static struct gk_value in_error(const struct gk_snapshot *snap,
				const struct gk_device *d)
{
	return is_in_state(snap, d, GK_STATE_ERROR);
}

/*
 * Returns 1 if the GPU must be reset or replaced. The value is absent, which
 * leaves the alert unchanged, while the GPU does not answer and before its slow
 * tier has been read for the first time.
 */
static struct gk_value fault(const struct gk_snapshot *snap,
			     const struct gk_device *d)
{
	const struct gk_condition *c = gk_condition_of(d);
	struct gk_value value = {.v = c && c->fails};

	(void)snap;
	if (d->health == GK_HEALTH_STALE ||
	    (d->health == GK_HEALTH_OK && !c && !d->read_ns[GK_TIER_SLOW]))
		value.why = GK_ABSENT_NOT_READ;
	return value;
}

static struct gk_value hung(const struct gk_snapshot *snap,
			    const struct gk_device *d)
{
	return is_in_state(snap, d, GK_STATE_HUNG);
}

/*
 * Returns 1 if heat slows the GPU down, or if power or a brake reduces its
 * clock by at least a tenth. A hung GPU does not count.
 */
static struct gk_value held(const struct gk_snapshot *snap,
			    const struct gk_device *d)
{
	struct gk_value why = d->m[GK_M_THROTTLE];
	int below = gk_below_clock(d);
	bool slight = below >= 0 && below < GK_HELD_LEAST;

	if (why.why == GK_PRESENT)
		why.v = gk_held_back(d) && (why.v & GK_BY_HEAT || !slight) &&
			!hung(snap, d).v;
	return why;
}

static const struct {
	const char *name;
	enum gk_state_kind state; /* the GPU's state during the alert */
	bool fails;
	int64_t usual; /* without a rule, events are recorded from this
			* threshold on; 0: no events without a rule */
	struct gk_value (*read)(const struct gk_snapshot *snap,
				const struct gk_device *d);
	int margin; /* the alert ends this far below its threshold */
	/*
	 * If not 0, the alert's value is a duration in this unit: read()
	 * returns 0 or 1, and the value is how long it has returned 1.
	 */
	uint64_t lasts_ns;
	bool grows; /* each increase of `count` raises the alert again */
	enum gk_metric count;
	/*
	 * A printf format for the value and the threshold. If lasts_ns is set,
	 * a string comes before these two: "at least " or "".
	 */
	const char *format;
	const char *(*meaning)(int64_t value); /* text to append; NULL: none */
} kinds[ALERT_KINDS] = {
    [ALERT_TEMPERATURE] = {.name = "temperature",
			   .state = GK_STATE_HOT,

			   .read = temperature,
			   .margin = 2,
			   .format =
			       "%" PRId64 " C (alert from %" PRId64 " C)"},
    [ALERT_POWER] = {.name = "power",
		     .state = GK_STATE_HELD,

		     .read = power,
		     .margin = 2,
		     .format = "%" PRId64 "%% of the power limit (alert from "
			       "%" PRId64 "%%)"},
    [ALERT_IDLE] = {.name = "idle",
		    .state = GK_STATE_IDLE,

		    .read = idle,
		    .lasts_ns = NS_PER_MINUTE,
		    .format = "held but idle for %s%" PRId64
			      " min (alert from %" PRId64 ")"},
    [ALERT_ECC] = {.name = "ecc",
		   .state = GK_STATE_ALERT,
		   .fails = true,
		   .usual = 1,
		   .read = uncorrected_errors,
		   .grows = true,
		   .count = GK_M_ECC_UNCORRECTED,
		   .format = "%" PRId64 " uncorrected memory errors (alert "
			     "from %" PRId64 ")"},
    [ALERT_XID] = {.name = "xid",
		   .state = GK_STATE_ALERT,
		   .fails = true,
		   .usual = 1,
		   .read = xid,
		   .grows = true,
		   .count = GK_M_XID_COUNT,
		   .format = "Xid %" PRId64 ": ",
		   .meaning = gk_xid_text},
    [ALERT_LOST] = {.name = "lost",
		    .state = GK_STATE_LOST,
		    .fails = true,
		    .usual = 1,
		    .read = lost,
		    .format = "lost"},
    [ALERT_ERROR] = {.name = "error",
		     .state = GK_STATE_ERROR,
		     .fails = true,
		     .usual = 1,
		     .read = in_error,
		     .format = "in error"},
    [ALERT_FAULT] = {.name = "fault",
		     .state = GK_STATE_FAULT,
		     .fails = true,
		     .usual = 1,
		     .read = fault,
		     .format = ""},
    [ALERT_HUNG] = {.name = "hung",
		    .state = GK_STATE_HUNG,
		    .fails = true,
		    .usual = 1,
		    .read = hung,
		    .format = "does not answer"},
    [ALERT_HELD] = {.name = "held",
		    .state = GK_STATE_HELD,
		    .usual = 30,
		    .read = held,
		    .lasts_ns = GK_NS_PER_S,
		    .format = "slowed down for %s%" PRId64
			      " s (alert from %" PRId64 " s)"},
};

static int64_t limit_of(const struct tui_alert_rules *r,
			enum tui_alert_kind kind)
{
	const int64_t limits[ALERT_KINDS] = {
	    [ALERT_TEMPERATURE] = r->temperature,
	    [ALERT_POWER] = r->power,
	    [ALERT_IDLE] = r->idle,
	    [ALERT_ECC] = r->ecc,
	    [ALERT_XID] = r->xid,
	    [ALERT_LOST] = r->lost,
	    [ALERT_ERROR] = r->lost,
	    [ALERT_FAULT] = r->fault,
	    [ALERT_HUNG] = r->hung,
	    [ALERT_HELD] = r->held,
	};

	return limits[kind];
}

/* ---- rows ---- */

static struct tui_alert *row_of_alert(struct tui_alerts *alerts,
				      const struct gk_device *d,
				      enum tui_alert_kind kind)
{
	struct tui_alert *more;

	for (size_t i = 0; i < alerts->count; i++)
		if (alerts->rows[i].kind == kind &&
		    gk_identity_is(&alerts->rows[i].gpu, d))
			return &alerts->rows[i];
	more = realloc(alerts->rows, (alerts->count + 1) * sizeof *more);
	if (!more)
		return NULL;
	alerts->rows = more;
	more += alerts->count++;
	*more = (struct tui_alert){.gpu = gk_identity_of(d), .kind = kind};
	return more;
}

static void end_alert(struct tui_alert *a)
{
	a->on = a->noticed = a->from_start = false;
	a->since_ns = 0;
}

/* Ends the alerts of unlisted GPUs. A lost GPU is still listed. */
static void end_alerts_of_gone(struct tui_alerts *alerts,
			       const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < alerts->count; i++)
		if (!gk_identity_find(&alerts->rows[i].gpu, snap))
			end_alert(&alerts->rows[i]);
}

/*
 * Handles a value that cannot be read: its alert ends if the GPU is lost. An
 * alert on a counter ends only OF_LATE_NS after the counter's last increase.
 */
static void forget_alert(struct tui_alerts *alerts,
			 const struct gk_snapshot *snap,
			 const struct gk_device *d, enum tui_alert_kind kind)
{
	for (size_t i = 0; i < alerts->count; i++) {
		struct tui_alert *a = &alerts->rows[i];

		bool is_over = kinds[kind].grows
				   ? snap->mono_ns - a->grew_ns >= OF_LATE_NS
				   : d->health == GK_HEALTH_LOST;

		if (!is_over || a->kind != kind || !gk_identity_is(&a->gpu, d))
			continue;
		end_alert(a);
	}
}

/* Returns how long the condition has held, in units of lasts_ns, or -1. */
static int64_t measure_duration(struct tui_alert *a, int64_t holds,
				uint64_t now_ns)
{
	if (!holds)
		a->since_ns = 0;
	else if (!a->since_ns)
		a->since_ns = now_ns;
	return holds
		   ? (int64_t)((now_ns - a->since_ns) / kinds[a->kind].lasts_ns)
		   : -1;
}

/*
 * Sets the time of the last increase, and a->before. Without a rule, the first
 * count read becomes a->before, because only higher counts are reported. After
 * a reset of the counter, the lower count becomes a->before.
 */
static void follow_count(struct tui_alert *a, int64_t limit, int64_t count,
			 uint64_t now_ns)
{
	if ((!a->seen && !limit) || count < a->before)
		a->before = count;
	if (!a->seen || count > a->count)
		a->grew_ns = now_ns;
}

/*
 * Whether a count has increased within OF_LATE_NS. Without a rule, increases
 * before the first reading are ignored. Always true for kinds without a count.
 */
static bool is_news(const struct tui_alert *a, int64_t limit, int64_t count,
		    uint64_t now_ns)
{
	return !kinds[a->kind].grows || ((limit || count > a->before) &&
					 now_ns - a->grew_ns < OF_LATE_NS);
}

static void update_alert(struct tui_alert *a, int64_t limit, int64_t value,
			 int64_t count, uint64_t now_ns)
{
	bool was = a->on, noticed = a->noticed, more = count > a->count;
	bool first = !a->seen;

	if (kinds[a->kind].lasts_ns)
		value = measure_duration(a, value, now_ns);
	follow_count(a, limit, count, now_ns);
	a->seen = true;
	a->limit = limit ? limit : kinds[a->kind].usual;
	a->noticed =
	    a->limit &&
	    value >= a->limit - (noticed ? kinds[a->kind].margin : 0) &&
	    is_news(a, limit, count, now_ns);
	a->from_start = (a->noticed || a->since_ns) && (first || a->from_start);
	if (a->noticed || !noticed)
		a->value = value; /* an ended alert keeps its last value */
	a->on = limit && a->noticed;
	a->fresh = a->on && (!was || more);
	if (a->fresh)
		a->fresh_ns = now_ns;
	a->again = a->noticed && (!noticed || more);
	a->count = count;
}

/*
 * Sets the text of an ALERT_HELD to what slows the GPU down, such as "power
 * cap". Uses the words of the GPU's state, but computes them without its Xids,
 * because the words might otherwise name an Xid.
 */
static void held_words(struct tui_alert *a, const struct gk_snapshot *snap,
		       const struct gk_device *d)
{
	static const struct gk_seen nothing_before;
	struct gk_device calm = *d;
	struct gk_state state;

	calm.health = GK_HEALTH_OK;
	calm.m[GK_M_XID_LAST].why = GK_ABSENT_NONE;
	state = gk_state_of(&nothing_before, snap, &calm,
			    (struct gk_state_options){.width = 20});
	gk_str_copy(a->words, sizeof a->words, state.words);
}

/* Returns the count that raises the alert again when it grows; 0: none. */
static int64_t repeat_count(const struct tui_alert *a,
			    const struct gk_device *d)
{
	struct gk_value count = d->m[kinds[a->kind].count];

	if (!kinds[a->kind].grows)
		return 0;
	return count.why == GK_PRESENT ? count.v : a->count;
}

static void update_row(struct tui_alert *a, const struct tui_alert_rules *rules,
		       const struct gk_snapshot *snap,
		       const struct gk_device *d, int64_t value)
{
	gk_identity_follow(&a->gpu, d);
	update_alert(a, limit_of(rules, a->kind), value, repeat_count(a, d),
		     snap->mono_ns);
	if (a->kind == ALERT_HELD && value)
		held_words(a, snap, d);
	if (a->kind == ALERT_FAULT && value)
		gk_condition_text(a->words, gk_condition_of(d), d);
	if (a->kind == ALERT_HUNG)
		a->since_ns = a->noticed ? d->read_ns[GK_TIER_FAST] : 0;
}

/* Converts wall clock time to CLOCK_MONOTONIC; at least 0, its start. */
static uint64_t mono_of(const struct gk_snapshot *snap, uint64_t wall_ns)
{
	uint64_t ago = snap->wall_ns > wall_ns ? snap->wall_ns - wall_ns : 0;

	return snap->mono_ns > ago ? snap->mono_ns - ago : 0;
}

/*
 * Handles all Xids since the last update except the newest, which becomes the
 * value of the row afterwards. Records each as an event and queues its command.
 * Xids from before the first update count only if there is a rule. Returns
 * whether an alert was raised.
 */
static bool update_burst(struct tui_alerts *alerts, struct tui_alert *a,
			 const struct tui_alert_rules *rules,
			 const struct gk_snapshot *snap,
			 const struct gk_device *d)
{
	int64_t limit = limit_of(rules, ALERT_XID);
	const struct gk_xids *xids = d->xids;
	size_t row = (size_t)(a - alerts->rows);
	bool fresh = false;

	for (size_t i = 0; xids && i < xids->count; i++) {
		const struct gk_xid *x = &xids->last[i];
		bool late = snap->wall_ns > x->wall_ns &&
			    snap->wall_ns - x->wall_ns > OF_LATE_NS;

		a->came_ns = mono_of(snap, x->wall_ns);
		if (i + 1 == xids->count || (int64_t)x->at <= a->count ||
		    late || (!a->seen && !limit))
			continue;
		gk_identity_follow(&a->gpu, d);
		update_alert(a, limit, x->number, (int64_t)x->at,
			     snap->mono_ns);
		if (a->fresh && rules->command)
			tui_alerts_add_due(alerts, row);
		fresh |= a->fresh;
		tui_alerts_note_row(alerts, row, snap);
	}
	return fresh;
}

bool tui_alerts_update(struct tui_alerts *alerts,
		       const struct tui_alert_rules *rules,
		       const struct gk_snapshot *snap)
{
	bool fresh = false;

	for (size_t i = 0; i < alerts->count; i++)
		alerts->rows[i].fresh = alerts->rows[i].again = false;
	end_alerts_of_gone(alerts, snap);
	for (size_t i = 0; i < snap->device_count * ALERT_KINDS; i++) {
		const struct gk_device *d = &snap->devices[i / ALERT_KINDS];
		enum tui_alert_kind kind = i % ALERT_KINDS;
		struct gk_value value = kinds[kind].read(snap, d);
		struct tui_alert *a;

		if (d->mig_index >= 0 || gk_device_unread(d))
			continue;
		if (value.why != GK_PRESENT) {
			forget_alert(alerts, snap, d, kind);
			continue;
		}
		a = row_of_alert(alerts, d, kind);
		if (!a)
			return fresh;
		if (kind == ALERT_XID)
			fresh |= update_burst(alerts, a, rules, snap, d);
		update_row(a, rules, snap, d, value.v);
		fresh |= a->fresh;
	}
	alerts->on = 0;
	for (size_t i = 0; i < alerts->count; i++)
		alerts->on += alerts->rows[i].on;
	tui_alerts_note(alerts, snap);
	return fresh;
}

void tui_alerts_free(struct tui_alerts *alerts)
{
	free(alerts->rows);
	free(alerts->events);
	*alerts = (struct tui_alerts){0};
}

int64_t tui_alert_value_after(enum tui_alert_kind kind, uint64_t ns)
{
	uint64_t unit = kinds[kind].lasts_ns;

	return unit ? (int64_t)(ns / unit) : -1;
}

int tui_alert_compare(const struct tui_alert *a, const struct tui_alert *b)
{
	int fails = kinds[b->kind].fails - kinds[a->kind].fails;

	if (fails)
		return fails;
	return (a->fresh_ns < b->fresh_ns) - (a->fresh_ns > b->fresh_ns);
}

/* ---- texts ---- */

const char *tui_alert_kind_name(enum tui_alert_kind kind)
{
	GK_ASSERT(kind < ALERT_KINDS);
	return kinds[kind].name;
}

bool tui_alert_fails(enum tui_alert_kind kind)
{
	GK_ASSERT(kind < ALERT_KINDS);
	return kinds[kind].fails;
}

enum gk_state_kind tui_alert_state(enum tui_alert_kind kind)
{
	GK_ASSERT(kind < ALERT_KINDS);
	return kinds[kind].state;
}

void tui_alert_what(const struct tui_alert *alert, char *dst, size_t cap)
{
	const char *format = kinds[alert->kind].format;
	const char *between = *alert->words && *format ? ": " : "";
	char what[128];

	/* The formats in the table take exactly these arguments. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (kinds[alert->kind].lasts_ns)
		snprintf(what, sizeof what, format,
			 alert->from_start ? "at least " : "", alert->value,
			 alert->limit);
	else
		snprintf(what, sizeof what, format, alert->value, alert->limit);
#pragma GCC diagnostic pop
	snprintf(dst, cap, "%s%s%s%s", alert->words, between, what,
		 kinds[alert->kind].meaning
		     ? kinds[alert->kind].meaning(alert->value)
		     : "");
}

void tui_alert_text(const struct tui_alert *alert, char *dst, size_t cap)
{
	char what[128];

	tui_alert_what(alert, what, sizeof what);
	snprintf(dst, cap, "GPU %u: %s", alert->gpu.index, what);
}

void tui_alerts_line(const struct tui_alerts *alerts, struct gk_buf *out)
{
	const char *between = "! ";

	for (size_t i = 0; i < alerts->count; i++) {
		char text[160];

		if (!alerts->rows[i].on)
			continue;
		tui_alert_text(&alerts->rows[i], text, sizeof text);
		gk_buf_printf(out, "%s%s", between, text);
		between = "; ";
	}
}
