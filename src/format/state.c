/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - determines the state of a GPU: lost, hot, busy, and so on. */
#include "format/state.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/round.h"
#include "base/str.h"
#include "format/names.h"

#include <stdio.h>
#include <string.h>

#define HUNG_NS    (10 * GK_NS_PER_S)
#define ALERT_NS   (600 * GK_NS_PER_S)
#define IDLE_LEAST (60 * GK_NS_PER_S) /* shorter idle times are not shown */
#define BUSY_LEAST 5                  /* percent */
#define LONG_WORDS 24 /* width from which a text has more than the state */
#define MORE_WORDS 34 /* width from which a text also has the duration */
#define GIB        1073741824.0

static const struct {
	const char *name, *glyph;
} kinds[GK_STATE_KINDS] = {
    [GK_STATE_LOST] = {"lost", "✕"},         [GK_STATE_ERROR] = {"error", "⊗"},
    [GK_STATE_HUNG] = {"hung", "■"},         [GK_STATE_STALE] = {"stale", "◌"},
    [GK_STATE_UNREAD] = {"reading", "…"},    [GK_STATE_FAULT] = {"fault", "◈"},
    [GK_STATE_ALERT] = {"alert", "◆"},       [GK_STATE_HOT] = {"hot", "▲"},
    [GK_STATE_DEGRADED] = {"degraded", "◇"}, [GK_STATE_HELD] = {"held", "▼"},
    [GK_STATE_MIG] = {"mig", "◫"},           [GK_STATE_BUSY] = {"busy", "●"},
    [GK_STATE_UNKNOWN] = {"unknown", "-"},   [GK_STATE_IDLE] = {"idle", "○"},
};

const char *gk_state_name(enum gk_state_kind kind)
{
	GK_ASSERT(kind < GK_STATE_KINDS);
	return kinds[kind].name;
}

const char *gk_state_glyph(enum gk_state_kind kind)
{
	GK_ASSERT(kind < GK_STATE_KINDS);
	return kinds[kind].glyph;
}

/* ---- values ---- */

static double number_of(const struct gk_device *d, enum gk_metric metric)
{
	return (double)gk_value_or_none(d->m[metric]);
}

struct gk_value gk_power_limit(const struct gk_device *d)
{
	struct gk_value limit = d->m[GK_M_POWER_ENFORCED];

	return limit.why == GK_PRESENT ? limit : d->m[GK_M_POWER_LIMIT];
}

char *gk_age_text(char dst[GK_AGE_MAX], uint64_t ns)
{
	static const struct {
		uint64_t seconds;
		char unit;
	} units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	uint64_t s = ns / GK_NS_PER_S;
	size_t i = 0;

	while (i < 3 && s < units[i].seconds)
		i++;
	snprintf(dst, GK_AGE_MAX, "%u%c",
		 (unsigned)(s / units[i].seconds % 100000), units[i].unit);
	return dst;
}

char *gk_lasting_text(char dst[GK_LASTING_MAX], struct gk_lasting lasting,
		      bool brief)
{
	char age[GK_AGE_MAX];

	gk_age_text(age, lasting.ns);
	if (brief)
		snprintf(dst, GK_LASTING_MAX, "%s%s", age,
			 lasting.at_least ? "+" : "");
	else
		snprintf(dst, GK_LASTING_MAX, "for %s%s",
			 lasting.at_least ? "at least " : "", age);
	return dst;
}

/* ---- remembering earlier snapshots ---- */

static struct gk_seen_gpu *add_seen(struct gk_seen *seen,
				    const struct gk_device *d, uint64_t now)
{
	struct gk_seen_gpu *gpu;

	for (int i = 0; i < seen->count; i++)
		if (gk_identity_is(&seen->gpus[i].who, d))
			return &seen->gpus[i];
	if (seen->count == GK_SEEN_GPUS)
		return NULL;
	gpu = &seen->gpus[seen->count++];
	*gpu = (struct gk_seen_gpu){.who = gk_identity_of(d), .first_ns = now};
	return gpu;
}

static const struct gk_seen_gpu *find_seen(const struct gk_seen *seen,
					   const struct gk_device *d)
{
	static const struct gk_seen_gpu nothing;

	for (int i = 0; i < seen->count; i++)
		if (gk_identity_is(&seen->gpus[i].who, d))
			return &seen->gpus[i];
	return &nothing;
}

static unsigned reasons_of(const struct gk_device *d)
{
	double reasons = number_of(d, GK_M_THROTTLE);

	return reasons > 0 ? (unsigned)(uint64_t)reasons : 0;
}

/* Returns the reason that holds the clocks back, or NULL. Heat is left out,
 * because it is a state of its own. */
static const char *held_by(unsigned why)
{
	static const struct {
		unsigned reason;
		const char *words;
	} rows[] = {{GK_BY_BRAKE, "power brake"},
		    {GK_BY_POWER, "power cap"},
		    {GK_BY_HARDWARE, "hw slowdown"}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (why & rows[i].reason)
			return rows[i].words;
	return NULL;
}

/* Records in *since when a condition began to hold; 0: it does not hold. */
static void see_since(uint64_t *since, bool holds, uint64_t now)
{
	if (!holds)
		*since = 0;
	else if (!*since)
		*since = now;
}

static void see_device(struct gk_seen_gpu *gpu, const struct gk_device *d,
		       uint64_t now)
{
	double busy = number_of(d, GK_M_GPU_UTIL);
	int64_t ecc = gk_value_or_none(d->m[GK_M_ECC_UNCORRECTED]);

	see_since(&gpu->idle_ns, busy >= 0 && busy < BUSY_LEAST, now);
	see_since(&gpu->heat_ns, reasons_of(d) & GK_BY_HEAT, now);
	if (gpu->held_by != held_by(reasons_of(d)))
		gpu->held_ns = 0;
	gpu->held_by = held_by(reasons_of(d));
	see_since(&gpu->held_ns, gpu->held_by, now);
	if (gpu->condition != gk_condition_of(d))
		gpu->condition_ns = 0;
	gpu->condition = gk_condition_of(d);
	/*
	 * The SLOW tier is first read a little later than the others. If that
	 * reading finds a condition, the condition is dated from when the GPU
	 * was first seen.
	 */
	see_since(&gpu->condition_ns, gpu->condition,
		  gpu->whole ? now : gpu->first_ns);
	gpu->whole |= d->read_ns[GK_TIER_SLOW] != 0;
	if (ecc > gpu->ecc)
		gpu->ecc_ns = now;
	if (ecc >= 0)
		gpu->ecc = ecc;
}

void gk_seen_take(struct gk_seen *seen, const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];
		struct gk_seen_gpu *gpu;

		if (d->mig_index >= 0 || d->health != GK_HEALTH_OK ||
		    gk_device_unread(d))
			continue;
		gpu = add_seen(seen, d, snap->mono_ns);
		if (!gpu)
			continue;
		gk_identity_follow(&gpu->who, d);
		see_device(gpu, d, snap->mono_ns);
	}
}

/* ---- the states ---- */

bool gk_device_gone(const struct gk_device *d)
{
	return d->health == GK_HEALTH_LOST || d->health == GK_HEALTH_ERROR;
}

bool gk_state_fails(enum gk_state_kind kind)
{
	return kind == GK_STATE_LOST || kind == GK_STATE_ERROR ||
	       kind == GK_STATE_HUNG || kind == GK_STATE_FAULT ||
	       kind == GK_STATE_ALERT;
}

bool gk_state_is_trouble(const struct gk_state *s)
{
	return gk_state_fails(s->kind) || s->kind == GK_STATE_STALE ||
	       s->kind == GK_STATE_HOT || s->kind == GK_STATE_DEGRADED ||
	       (s->kind == GK_STATE_HELD && !s->slight);
}

/* Writes a word and, if known, how long the state has lasted. */
static void say_for(struct gk_state *s, const char *word,
		    struct gk_lasting lasting, int width)
{
	char text[GK_LASTING_MAX];

	if (lasting.ns && lasting.ns != UINT64_MAX)
		snprintf(s->words, sizeof s->words, "%s %s", word,
			 gk_lasting_text(text, lasting, width < LONG_WORDS));
	else
		snprintf(s->words, sizeof s->words, "%s", word);
}

static bool say_silent(const struct gk_snapshot *snap,
		       const struct gk_device *d, int width, struct gk_state *s)
{
	uint64_t age = gk_device_age(snap, d, GK_TIER_FAST);

	if (gk_device_gone(d)) {
		s->kind = d->health == GK_HEALTH_LOST ? GK_STATE_LOST
						      : GK_STATE_ERROR;
	} else if (d->health == GK_HEALTH_STALE) {
		s->kind = age >= HUNG_NS ? GK_STATE_HUNG : GK_STATE_STALE;
	} else if (gk_device_unread(d)) {
		s->kind = GK_STATE_UNREAD;
		age = 0;
	} else {
		return false;
	}
	say_for(s,
		s->kind == GK_STATE_ERROR && width >= LONG_WORDS
		    ? "in error"
		    : kinds[s->kind].name,
		(struct gk_lasting){.ns = age}, width);
	return true;
}

/*
 * Adds an error of the last minutes, such as "Xid 63" or "ECC 2". Returns false
 * if there was none.
 */
static bool add_error(const struct gk_seen_gpu *gpu,
		      const struct gk_snapshot *snap, const struct gk_device *d,
		      const char *before, struct gk_state *s)
{
	size_t len = strlen(s->words);
	double xid = number_of(d, GK_M_XID_LAST);
	double at = number_of(d, GK_M_XID_TIME);
	double now = (double)snap->wall_ns;

	if (xid > 0 && at >= 0 && now - at < (double)ALERT_NS)
		snprintf(s->words + len, sizeof s->words - len, "%sXid %.0f",
			 before, xid);
	else if (gpu->ecc_ns && snap->mono_ns - gpu->ecc_ns < ALERT_NS)
		snprintf(s->words + len, sizeof s->words - len, "%sECC %lld",
			 before, (long long)gpu->ecc);
	else
		return false;
	return true;
}

static bool say_alert(const struct gk_seen_gpu *gpu,
		      const struct gk_snapshot *snap, const struct gk_device *d,
		      struct gk_state *s)
{
	s->kind = GK_STATE_ALERT;
	return add_error(gpu, snap, d, "", s);
}

/* Adds the duration of the state, if that is at least a second. */
static void add_since(struct gk_state *s, const struct gk_seen_gpu *gpu,
		      uint64_t since_ns, uint64_t now_ns, int width)
{
	size_t len = strlen(s->words);
	char text[GK_LASTING_MAX];

	if (since_ns && since_ns + GK_NS_PER_S <= now_ns && width >= MORE_WORDS)
		snprintf(s->words + len, sizeof s->words - len, " %s",
			 gk_lasting_text(
			     text,
			     (struct gk_lasting){now_ns - since_ns,
						 since_ns == gpu->first_ns},
			     false));
}

/*
 * Writes a condition, with its duration, and a recent error, which may be its
 * cause.
 */
static bool say_condition(const struct gk_seen_gpu *gpu,
			  const struct gk_snapshot *snap,
			  const struct gk_device *d, bool fails, int width,
			  struct gk_state *s)
{
	const struct gk_condition *c = gk_condition_of(d);
	char text[GK_CONDITION_MAX];

	if (!c || c->fails != fails)
		return false;
	s->kind = fails ? GK_STATE_FAULT : GK_STATE_DEGRADED;
	gk_condition_text(text, c, d);
	gk_str_copy(s->words, sizeof s->words,
		    width < LONG_WORDS ? c->brief : text);
	if (width < MORE_WORDS || !fails || !add_error(gpu, snap, d, " · ", s))
		add_since(s, gpu, gpu->condition_ns, snap->mono_ns, width);
	return true;
}

static void add_clocks(struct gk_state *s, int below, int width)
{
	size_t len = strlen(s->words);

	if (below > 0 && width >= LONG_WORDS)
		snprintf(s->words + len, sizeof s->words - len,
			 " · clocks −%d%%", below);
}

static bool say_hot(const struct gk_seen_gpu *gpu,
		    const struct gk_snapshot *snap, const struct gk_device *d,
		    struct gk_state_options o, struct gk_state *s)
{
	double heat = number_of(d, GK_M_TEMP);
	const char *unit = o.width >= LONG_WORDS ? " °C" : "°";

	if ((!o.hot || heat < o.hot) && !(reasons_of(d) & GK_BY_HEAT))
		return false;
	s->kind = GK_STATE_HOT;
	if (heat >= 0)
		snprintf(s->words, sizeof s->words, "hot %.0f%s", heat, unit);
	else
		snprintf(s->words, sizeof s->words, "hot");
	add_since(s, gpu, gpu->heat_ns, snap->mono_ns, o.width);
	add_clocks(s, gk_below_clock(d), o.width);
	return true;
}

static bool say_held(const struct gk_seen_gpu *gpu,
		     const struct gk_snapshot *snap, const struct gk_device *d,
		     int width, struct gk_state *s)
{
	const char *by = held_by(reasons_of(d));
	int below = gk_below_clock(d);

	if (!by)
		return false;
	s->kind = GK_STATE_HELD;
	snprintf(s->words, sizeof s->words, "%s", by);
	add_since(s, gpu, gpu->held_ns, snap->mono_ns, width);
	s->slight = below >= 0 && below < GK_HELD_LEAST;
	add_clocks(s, below, width);
	return true;
}

static unsigned count_migs(const struct gk_snapshot *snap,
			   const struct gk_device *d)
{
	unsigned count = 0;

	for (size_t i = 0; i < snap->device_count; i++)
		count += snap->devices[i].mig_index >= 0 &&
			 snap->devices[i].index == d->index;
	return count;
}

/*
 * Writes for how long the GPU has been idle, and how much of its memory is
 * nevertheless in use.
 */
static void say_idle(const struct gk_seen_gpu *gpu,
		     const struct gk_snapshot *snap, const struct gk_device *d,
		     int width, struct gk_state *s)
{
	bool idle = gpu->idle_ns && gpu->idle_ns < snap->mono_ns;
	uint64_t age = idle ? snap->mono_ns - gpu->idle_ns : 0;
	double held = number_of(d, GK_M_MEM_USED) / GIB;
	size_t len;

	s->kind = GK_STATE_IDLE;
	if (!d->process_count)
		age = 0;
	s->taken = d->process_count && held >= 1;
	say_for(s, "idle",
		(struct gk_lasting){age < IDLE_LEAST ? 0 : age,
				    gpu->idle_ns == gpu->first_ns},
		width);
	len = strlen(s->words);
	if (s->taken && width >= LONG_WORDS)
		snprintf(s->words + len, sizeof s->words - len,
			 ", %.0f GiB held", gk_half_up(held));
}

struct gk_state gk_state_of(const struct gk_seen *seen,
			    const struct gk_snapshot *snap,
			    const struct gk_device *d,
			    struct gk_state_options options)
{
	const struct gk_seen_gpu *gpu = find_seen(seen, d);
	struct gk_state s = {0};

	if (say_silent(snap, d, options.width, &s) ||
	    say_condition(gpu, snap, d, true, options.width, &s) ||
	    say_alert(gpu, snap, d, &s) || say_hot(gpu, snap, d, options, &s) ||
	    say_condition(gpu, snap, d, false, options.width, &s) ||
	    say_held(gpu, snap, d, options.width, &s)) {
		/* one of the functions above has written the text */
	} else if (number_of(d, GK_M_MIG_MODE) > 0) {
		s.kind = GK_STATE_MIG;
		snprintf(s.words, sizeof s.words, "MIG %u",
			 count_migs(snap, d));
	} else if (number_of(d, GK_M_GPU_UTIL) >= BUSY_LEAST) {
		s.kind = GK_STATE_BUSY;
		snprintf(s.words, sizeof s.words, "busy");
	} else if (number_of(d, GK_M_GPU_UTIL) < 0) {
		s.kind = GK_STATE_UNKNOWN;
		snprintf(s.words, sizeof s.words, "load unknown");
	} else {
		say_idle(gpu, snap, d, options.width, &s);
	}
	return s;
}

char *gk_state_why(char dst[GK_WHY_MAX], const struct gk_snapshot *snap,
		   const struct gk_device *d)
{
	const struct gk_condition *c = gk_condition_of(d);
	int64_t xid = gk_value_or_none(d->m[GK_M_XID_LAST]);
	char text[GK_NAME_MAX];
	size_t len;

	snprintf(dst, GK_WHY_MAX, "%s", c ? c->why : "");
	len = strlen(dst);
	if (xid > 0)
		snprintf(dst + len, GK_WHY_MAX - len, "%sXid %lld: %s",
			 c ? " · " : "", (long long)xid, gk_xid_text(xid));
	else if (!c)
		snprintf(dst, GK_WHY_MAX, "%s",
			 gk_device_trouble(text, snap, d));
	return dst;
}
