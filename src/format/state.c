/* state.c - finds out what a GPU is: lost, hot, busy... */
#include "format/state.h"

#include "base/clock.h"
#include "base/round.h"
#include "format/names.h"

#include <stdio.h>
#include <string.h>

#define HUNG_NS    (10 * GK_NS_PER_S)
#define ALERT_NS   (600 * GK_NS_PER_S)
#define IDLE_LEAST (60 * GK_NS_PER_S) /* that is told */
#define BUSY_LEAST 5                  /* percent */
#define LONG_WORDS 24                 /* columns for more than the state */
#define MORE_WORDS 34                 /* for the time as well */
#define GIB        1073741824.0

static const struct {
	const char *name, *glyph;
} kinds[GK_STATE_KINDS] = {
    [GK_STATE_LOST] = {"lost", "✕"},   [GK_STATE_HUNG] = {"hung", "■"},
    [GK_STATE_STALE] = {"stale", "◌"}, [GK_STATE_UNREAD] = {"reading", "…"},
    [GK_STATE_ALERT] = {"alert", "◆"}, [GK_STATE_HOT] = {"hot", "▲"},
    [GK_STATE_HELD] = {"held", "▼"},   [GK_STATE_MIG] = {"mig", "◫"},
    [GK_STATE_BUSY] = {"busy", "●"},   [GK_STATE_UNKNOWN] = {"unknown", "-"},
    [GK_STATE_IDLE] = {"idle", "○"},
};

const char *gk_state_name(enum gk_state_kind kind)
{
	return kinds[kind].name;
}

const char *gk_state_glyph(enum gk_state_kind kind)
{
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

/* ---- from snapshot to snapshot ---- */

static struct gk_seen_gpu *add_seen(struct gk_seen *seen,
				    const struct gk_device *d)
{
	struct gk_seen_gpu *gpu;

	for (int i = 0; i < seen->count; i++)
		if (gk_identity_is(&seen->gpus[i].who, d))
			return &seen->gpus[i];
	if (seen->count == GK_SEEN_GPUS)
		return NULL;
	gpu = &seen->gpus[seen->count++];
	*gpu = (struct gk_seen_gpu){.who = gk_identity_of(d)};
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

	return reasons > 0 ? (unsigned)reasons : 0;
}

/* What holds it back, but for heat; NULL: nothing. */
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

/* Since when, for what holds now. */
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
		gpu = add_seen(seen, d);
		if (!gpu)
			continue;
		gk_identity_follow(&gpu->who, d);
		see_device(gpu, d, snap->mono_ns);
	}
}

/* ---- what a GPU is ---- */

bool gk_device_gone(const struct gk_device *d)
{
	return d->health == GK_HEALTH_LOST || d->health == GK_HEALTH_ERROR;
}

/* A word, and for how long where that is known. */
static void say_for(struct gk_state *s, const char *word, uint64_t ns,
		    int width)
{
	char age[GK_AGE_MAX];

	if (ns && ns != UINT64_MAX)
		snprintf(s->words, sizeof s->words, "%s %s%s", word,
			 width >= LONG_WORDS ? "for " : "",
			 gk_age_text(age, ns));
	else
		snprintf(s->words, sizeof s->words, "%s", word);
}

static bool say_silent(const struct gk_snapshot *snap,
		       const struct gk_device *d, int width, struct gk_state *s)
{
	uint64_t age = gk_device_age(snap, d, GK_TIER_FAST);
	const char *word = d->health == GK_HEALTH_ERROR ? "error" : "lost";

	if (gk_device_gone(d)) {
		s->kind = GK_STATE_LOST;
	} else if (d->health == GK_HEALTH_STALE) {
		s->kind = age >= HUNG_NS ? GK_STATE_HUNG : GK_STATE_STALE;
		word = kinds[s->kind].name;
	} else if (gk_device_unread(d)) {
		s->kind = GK_STATE_UNREAD;
		word = "reading";
		age = 0;
	} else {
		return false;
	}
	say_for(s, word, age, width);
	return true;
}

static bool say_alert(const struct gk_seen_gpu *gpu,
		      const struct gk_snapshot *snap, const struct gk_device *d,
		      struct gk_state *s)
{
	double xid = number_of(d, GK_M_XID_LAST);
	double at = number_of(d, GK_M_XID_TIME);
	double now = (double)snap->wall_ns;

	s->kind = GK_STATE_ALERT;
	if (xid > 0 && at >= 0 && now - at < (double)ALERT_NS)
		snprintf(s->words, sizeof s->words, "Xid %.0f", xid);
	else if (gpu->ecc_ns && snap->mono_ns - gpu->ecc_ns < ALERT_NS)
		snprintf(s->words, sizeof s->words, "ECC %lld",
			 (long long)gpu->ecc);
	else
		return false;
	return true;
}

/* For how long it was seen so, a second at least; not of a frame before that.
 */
static void add_since(struct gk_state *s, uint64_t since_ns, uint64_t now_ns,
		      int width)
{
	size_t len = strlen(s->words);
	char age[GK_AGE_MAX];

	if (since_ns && since_ns + GK_NS_PER_S <= now_ns && width >= MORE_WORDS)
		snprintf(s->words + len, sizeof s->words - len, " for %s",
			 gk_age_text(age, now_ns - since_ns));
}

static void add_clocks(struct gk_state *s, int below, int width)
{
	size_t len = strlen(s->words);

	if (below > 0 && width >= LONG_WORDS)
		snprintf(s->words + len, sizeof s->words - len,
			 " · clocks −%d%%", below);
}

static bool say_held(const struct gk_seen_gpu *gpu,
		     const struct gk_snapshot *snap, const struct gk_device *d,
		     struct gk_state_options o, struct gk_state *s)
{
	double heat = number_of(d, GK_M_TEMP);
	unsigned why = reasons_of(d);
	int below = gk_below_clock(d);
	const char *unit = o.width >= LONG_WORDS ? " °C" : "°";

	if ((o.hot && heat >= o.hot) || why & GK_BY_HEAT) {
		s->kind = GK_STATE_HOT;
		if (heat >= 0)
			snprintf(s->words, sizeof s->words, "hot %.0f%s", heat,
				 unit);
		else
			snprintf(s->words, sizeof s->words, "hot");
		add_since(s, gpu->heat_ns, snap->mono_ns, o.width);
	} else if (held_by(why)) {
		s->kind = GK_STATE_HELD;
		snprintf(s->words, sizeof s->words, "%s", held_by(why));
		add_since(s, gpu->held_ns, snap->mono_ns, o.width);
		s->slight = below >= 0 && below < GK_HELD_LEAST;
	} else {
		return false;
	}
	add_clocks(s, below, o.width);
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

/* Idle for how long, where somebody holds its memory all the same. */
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
	say_for(s, "idle", age < IDLE_LEAST ? 0 : age, width);
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
	    say_alert(gpu, snap, d, &s) ||
	    say_held(gpu, snap, d, options, &s)) {
		/* said */
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
	int64_t xid = gk_value_or_none(d->m[GK_M_XID_LAST]);
	char text[GK_NAME_MAX];

	if (xid > 0)
		snprintf(dst, GK_WHY_MAX, "Xid %lld: %s", (long long)xid,
			 gk_xid_text(xid));
	else
		snprintf(dst, GK_WHY_MAX, "%s",
			 gk_device_trouble(text, snap, d));
	return dst;
}
