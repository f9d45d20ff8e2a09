/* state.c - finds out what a GPU is: lost, hot, busy... */
#include "tui/lanes/state.h"

#include "base/clock.h"
#include "format/names.h"
#include "tui/model.h"

#include <stdio.h>
#include <string.h>

#define HUNG_NS    (10 * GK_NS_PER_S)
#define ALERT_NS   (600 * GK_NS_PER_S)
#define IDLE_LEAST (60 * GK_NS_PER_S) /* that is told */
#define BUSY_LEAST 5                  /* percent */
#define HELD_LEAST 10                 /* percent below the clock */
#define LONG_WORDS 24                 /* columns for more than the state */
#define GIB        1073741824.0

/* Bits of nvmlClocksEventReasons. */
enum {
	BY_POWER = 0x4,
	BY_HARDWARE = 0x8,
	BY_HEAT = 0x20 | 0x40,
	BY_BRAKE = 0x80,
};

static const struct {
	wchar_t glyph;
	enum ink ink;
} looks[LANES_KINDS] = {
    [LANES_LOST] = {L'✕', INK_FAIL},      [LANES_HUNG] = {L'■', INK_FAIL},
    [LANES_STALE] = {L'◌', INK_WARN},     [LANES_UNREAD] = {L'…', INK_DIM},
    [LANES_ALERT] = {L'◆', INK_FAIL},     [LANES_HOT] = {L'▲', INK_WARN},
    [LANES_HELD] = {L'▼', INK_WARN},      [LANES_MIG] = {L'◫', INK_OWNER + 4},
    [LANES_BUSY] = {L'●', INK_WORK_MOST}, [LANES_IDLE] = {L'○', INK_DIM},
};

/* ---- numbers ---- */

double lanes_number(struct gk_value value)
{
	return value.why == GK_PRESENT ? (double)value.v : -1;
}

double lanes_gib(struct gk_value bytes)
{
	return bytes.why == GK_PRESENT ? (double)bytes.v / GIB : -1;
}

double lanes_watts(struct gk_value milliwatts)
{
	return milliwatts.why == GK_PRESENT ? (double)milliwatts.v / 1e3 : -1;
}

double lanes_mhz(struct gk_value hertz)
{
	return hertz.why == GK_PRESENT ? (double)hertz.v / 1e6 : -1;
}

struct gk_value lanes_power_limit(const struct gk_device *d)
{
	struct gk_value limit = d->m[GK_M_POWER_ENFORCED];

	return limit.why == GK_PRESENT ? limit : d->m[GK_M_POWER_LIMIT];
}

int lanes_below_clock(const struct gk_device *d)
{
	double now = lanes_mhz(d->m[GK_M_SM_CLOCK]);
	double most = lanes_mhz(d->m[GK_M_SM_CLOCK_MAX]);

	if (now < 0 || most <= 0)
		return -1;
	return now >= most ? 0 : (int)(100 * (most - now) / most + 0.5);
}

char *lanes_age(char *dst, uint64_t ns)
{
	static const struct {
		uint64_t seconds;
		char unit;
	} units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	uint64_t s = ns / GK_NS_PER_S;
	size_t i = 0;

	while (i < 3 && s < units[i].seconds)
		i++;
	snprintf(dst, LANES_AGE, "%u%c",
		 (unsigned)(s / units[i].seconds % 100000), units[i].unit);
	return dst;
}

/* ---- from frame to frame ---- */

static struct lanes_seen *seen_of(struct lanes *l, const char *uuid)
{
	struct lanes_seen *seen;

	for (int i = 0; i < l->seen_count; i++)
		if (!strcmp(l->seen[i].uuid, uuid))
			return &l->seen[i];
	if (l->seen_count == LANES_SEEN)
		return NULL;
	seen = &l->seen[l->seen_count++];
	*seen = (struct lanes_seen){0};
	gk_str_copy(seen->uuid, sizeof seen->uuid, uuid);
	return seen;
}

static const struct lanes_seen *known_of(const struct tui *t,
					 const struct gk_device *d)
{
	static const struct lanes_seen nothing;
	const struct lanes *l = &t->lanes;

	for (int i = 0; i < l->seen_count; i++)
		if (!strcmp(l->seen[i].uuid, d->uuid))
			return &l->seen[i];
	return &nothing;
}

static void see_device(struct lanes_seen *seen, const struct gk_device *d,
		       uint64_t now)
{
	double busy = lanes_number(d->m[GK_M_GPU_UTIL]);
	double ecc = lanes_number(d->m[GK_M_ECC_UNCORRECTED]);

	if (busy >= BUSY_LEAST || busy < 0)
		seen->idle_ns = 0;
	else if (!seen->idle_ns)
		seen->idle_ns = now;
	if (ecc > (double)seen->ecc)
		seen->ecc_ns = now;
	if (ecc >= 0)
		seen->ecc = (int64_t)ecc;
}

static bool is_known_user(const struct gk_process *p)
{
	return *p->user && p->uid != (uid_t)-1;
}

static void see_owner(struct lanes *l, const struct gk_process *p)
{
	if (!is_known_user(p) || l->owner_count == LANES_OWNERS)
		return;
	for (int i = 0; i < l->owner_count; i++)
		if (!strcmp(l->owners[i], p->user))
			return;
	gk_str_copy(l->owners[l->owner_count++], GK_NAME_MAX, p->user);
}

void lanes_frame(struct tui *t)
{
	struct lanes *l = &t->lanes;
	const struct gk_snapshot *snap = t->snap;

	if (!snap || l->frame_ns == snap->mono_ns)
		return;
	l->frame_ns = snap->mono_ns;
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];
		struct lanes_seen *seen =
		    d->mig_index < 0 ? seen_of(l, d->uuid) : NULL;

		if (seen && d->health == GK_HEALTH_OK)
			see_device(seen, d, snap->mono_ns);
	}
	for (size_t i = 0; i < snap->process_count; i++)
		see_owner(l, &snap->processes[i]);
}

/* ---- what a GPU is ---- */

bool lanes_is_gone(const struct gk_device *d)
{
	return d->health == GK_HEALTH_LOST || d->health == GK_HEALTH_ERROR;
}

/* A word, and for how long where that is known. */
static void say_for(char *dst, size_t cap, const char *word, uint64_t ns)
{
	char age[LANES_AGE];

	if (ns && ns != UINT64_MAX)
		snprintf(dst, cap, "%s %s", word, lanes_age(age, ns));
	else
		snprintf(dst, cap, "%s", word);
}

static bool say_silent(const struct tui *t, const struct gk_device *d,
		       struct lanes_state *s)
{
	uint64_t age = gk_device_age(t->snap, d, GK_TIER_FAST);
	const char *word = d->health == GK_HEALTH_ERROR ? "error" : "lost";

	if (lanes_is_gone(d)) {
		s->kind = LANES_LOST;
	} else if (d->health == GK_HEALTH_STALE) {
		s->kind = age >= HUNG_NS ? LANES_HUNG : LANES_STALE;
		word = s->kind == LANES_HUNG ? "hung" : "stale";
	} else if (gk_device_unread(d)) {
		s->kind = LANES_UNREAD;
		word = "reading";
		age = 0;
	} else {
		return false;
	}
	say_for(s->words, sizeof s->words, word, age);
	return true;
}

static bool say_alert(const struct tui *t, const struct gk_device *d,
		      struct lanes_state *s)
{
	const struct lanes_seen *seen = known_of(t, d);
	double xid = lanes_number(d->m[GK_M_XID_LAST]);
	double at = lanes_number(d->m[GK_M_XID_TIME]);
	double now = (double)t->snap->wall_ns;

	s->kind = LANES_ALERT;
	if (xid > 0 && at >= 0 && now - at < (double)ALERT_NS)
		snprintf(s->words, sizeof s->words, "Xid %.0f", xid);
	else if (seen->ecc_ns && t->snap->mono_ns - seen->ecc_ns < ALERT_NS)
		snprintf(s->words, sizeof s->words, "ECC %lld",
			 (long long)seen->ecc);
	else
		return false;
	return true;
}

static void add_clocks(char *dst, size_t cap, int below, int width)
{
	size_t len = strlen(dst);

	if (below > 0 && width >= LONG_WORDS)
		snprintf(dst + len, cap - len, " · clocks −%d%%", below);
}

static bool say_held(const struct tui *t, const struct gk_device *d, int width,
		     struct lanes_state *s)
{
	double heat = lanes_number(d->m[GK_M_TEMP]);
	double reasons = lanes_number(d->m[GK_M_THROTTLE]);
	unsigned why = reasons > 0 ? (unsigned)reasons : 0;
	int below = lanes_below_clock(d), most = t->options.alerts.temperature;
	const char *unit = width >= LONG_WORDS ? " °C" : "°";

	if ((most && heat >= most) || why & BY_HEAT) {
		s->kind = LANES_HOT;
		if (heat >= 0)
			snprintf(s->words, sizeof s->words, "hot %.0f%s", heat,
				 unit);
		else
			snprintf(s->words, sizeof s->words, "hot");
	} else if (why & (BY_POWER | BY_BRAKE | BY_HARDWARE)) {
		s->kind = LANES_HELD;
		snprintf(s->words, sizeof s->words, "%s",
			 why & BY_BRAKE   ? "power brake"
			 : why & BY_POWER ? "power cap"
					  : "hw slowdown");
		s->ink = below >= HELD_LEAST || below < 0 ? INK_WARN : INK_TEXT;
	} else {
		return false;
	}
	add_clocks(s->words, sizeof s->words, below, width);
	return true;
}

static unsigned count_migs(const struct tui *t, const struct gk_device *d)
{
	unsigned count = 0;

	for (size_t i = 0; i < t->snap->device_count; i++)
		count += t->snap->devices[i].mig_index >= 0 &&
			 t->snap->devices[i].index == d->index;
	return count;
}

/* Idle for how long, where somebody holds its memory all the same. */
static void say_idle(const struct tui *t, const struct gk_device *d, int width,
		     struct lanes_state *s)
{
	uint64_t since = known_of(t, d)->idle_ns;
	uint64_t age = since ? t->snap->mono_ns - since : 0;
	double held = lanes_gib(d->m[GK_M_MEM_USED]);
	size_t len;

	s->kind = LANES_IDLE;
	if (!d->process_count)
		age = 0;
	say_for(s->words, sizeof s->words, "idle", age < IDLE_LEAST ? 0 : age);
	len = strlen(s->words);
	if (d->process_count && held >= 1 && width >= LONG_WORDS)
		snprintf(s->words + len, sizeof s->words - len,
			 ", %.0f GiB held", held);
}

struct lanes_state lanes_state(const struct tui *t, const struct gk_device *d,
			       int width)
{
	struct lanes_state s = {.ink = INK_COUNT};
	double mig = lanes_number(d->m[GK_M_MIG_MODE]);

	if (say_silent(t, d, &s) || say_alert(t, d, &s) ||
	    say_held(t, d, width, &s)) {
		/* said */
	} else if (mig > 0) {
		s.kind = LANES_MIG;
		snprintf(s.words, sizeof s.words, "MIG %u", count_migs(t, d));
	} else if (lanes_number(d->m[GK_M_GPU_UTIL]) >= BUSY_LEAST) {
		s.kind = LANES_BUSY;
		snprintf(s.words, sizeof s.words, "busy");
	} else {
		say_idle(t, d, width, &s);
	}
	s.glyph = looks[s.kind].glyph;
	if (s.ink == INK_COUNT)
		s.ink = looks[s.kind].ink;
	return s;
}
