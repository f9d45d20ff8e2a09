/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c - owns the list of facts about a GPU and formats their values. */
#include "tui/model/facts.h"

#include "base/assert.h"
#include "base/clock.h"
#include "format/names.h"
#include "tui/model/value.h"

#include <inttypes.h>
#include <string.h>

/*
 * Values that are read only on request are not shown when they are older than
 * this.
 */
#define ASKED_AGE_MAX (5 * GK_NS_PER_S)

struct fact {
	const char *title;
	/*
	 * Adds the value as text. Returns false if there is no value; the text
	 * then says why. NULL: the fact is a heading.
	 */
	bool (*add)(struct gk_buf *out, const struct fact *fact,
		    const struct gk_snapshot *snap, const struct gk_device *d);
	enum gk_metric a, b;
	const char *words; /* names of the values, or text before the value */
	enum gk_fact text;
	bool is_long;
};

#define ADD(name)                                                              \
	static bool name(struct gk_buf *out, const struct fact *fact,          \
			 const struct gk_snapshot *snap,                       \
			 const struct gk_device *d)

/* Like gk_absence_text(), but short enough to stand in place of a number. */
const char *tui_absence(enum gk_absence why)
{
	static const char *const words[GK_ABSENCE_COUNT] = {
	    [GK_ABSENT_NO_FUNCTION] = "unknown to driver",
	    [GK_ABSENT_PERMISSION] = "no permission",
	    [GK_ABSENT_TIMEOUT] = "no answer",
	    [GK_ABSENT_ERROR] = "driver error",
	    [GK_ABSENT_RESET] = "needs a reset",
	};

	return words[why] ? words[why] : gk_absence_text(why);
}

static bool say_absent(struct gk_buf *out, enum gk_absence why)
{
	gk_buf_puts(out, tui_absence(why));
	return false;
}

const char *tui_reason(char *dst, struct gk_value value, enum gk_unit unit)
{
	return value.why == GK_ABSENT_NONSENSE ? gk_reason(dst, value, unit)
					       : tui_absence(value.why);
}

static bool has_metric(const struct gk_device *d, enum gk_metric metric)
{
	return d->m[metric].why == GK_PRESENT;
}

/* Adds the value, or the reason why there is none. */
static bool add_fact_value(struct gk_buf *out, const struct gk_device *d,
			   enum gk_metric metric)
{
	enum gk_unit unit = gk_metrics[metric].unit;
	char text[GK_UNITS_MAX], reason[GK_REASON_MAX];

	if (has_metric(d, metric))
		gk_buf_puts(out, tui_value(text, d->m[metric], unit));
	else
		gk_buf_puts(out, tui_reason(reason, d->m[metric], unit));
	return has_metric(d, metric);
}

static bool add_fact_text(struct gk_buf *out, const char *text)
{
	gk_buf_puts(out, *text ? text : "unknown");
	return *text;
}

/* ---- facts that are properties of the device ---- */

ADD(bus_id)
{
	(void)fact;
	(void)snap;
	return add_fact_text(out, d->bus_id);
}

ADD(serial)
{
	(void)fact;
	(void)snap;
	return add_fact_text(out, d->serial);
}

ADD(vbios)
{
	(void)fact;
	(void)snap;
	return add_fact_text(out, d->vbios);
}

ADD(node)
{
	(void)fact;
	(void)snap;
	if (d->minor < 0)
		return add_fact_text(out, "");
	gk_buf_printf(out, "/dev/nvidia%d", d->minor);
	return true;
}

ADD(compute_capability)
{
	(void)fact;
	(void)snap;
	if (d->compute_major < 0)
		return add_fact_text(out, "");
	gk_buf_printf(out, "%d.%d", d->compute_major, d->compute_minor);
	return true;
}

ADD(processes)
{
	(void)fact;
	(void)snap;
	if (d->processes_why != GK_PRESENT)
		return say_absent(out, d->processes_why);
	gk_buf_printf(out, "%u", d->process_count);
	return true;
}

ADD(detail)
{
	const struct gk_detail *detail = d->detail;

	(void)snap;
	/*
	 * If no details were read, takes the reason from one of the numbers
	 * that are read together with them.
	 */
	if (!detail)
		return say_absent(out, has_metric(d, GK_M_GSP_MODE)
					   ? GK_ABSENT_NOT_READ
					   : d->m[GK_M_GSP_MODE].why);
	if (detail->facts[fact->text].why != GK_PRESENT)
		return say_absent(out, detail->facts[fact->text].why);
	return add_fact_text(out, detail->facts[fact->text].s);
}

/* ---- facts that are metrics ---- */

ADD(one)
{
	(void)snap;
	return add_fact_value(out, d, fact->a);
}

/* Writes "a / b (percent)". */
ADD(part)
{
	struct gk_value share = tui_part(d->m[fact->a], d->m[fact->b]);
	char text[GK_UNITS_MAX];

	(void)snap;
	if (!add_fact_value(out, d, fact->a))
		return false;
	if (!has_metric(d, fact->b))
		return true;
	gk_buf_puts(out, " / ");
	add_fact_value(out, d, fact->b);
	if (share.why == GK_PRESENT)
		gk_buf_printf(out, " (%s)",
			      tui_value(text, share, GK_UNIT_CENTIPERCENT));
	return true;
}

/* Writes "a of b". */
ADD(of)
{
	(void)snap;
	if (!has_metric(d, fact->a))
		return add_fact_value(out, d, fact->a);
	gk_buf_puts(out, fact->words);
	add_fact_value(out, d, fact->a);
	if (!has_metric(d, fact->b))
		return true;
	gk_buf_puts(out, " of ");
	gk_buf_puts(out, fact->words);
	return add_fact_value(out, d, fact->b);
}

/* Writes "a to b". */
ADD(range)
{
	(void)snap;
	if (!has_metric(d, fact->a) || !has_metric(d, fact->b))
		return add_fact_value(
		    out, d, has_metric(d, fact->a) ? fact->b : fact->a);
	add_fact_value(out, d, fact->a);
	gk_buf_puts(out, " to ");
	return add_fact_value(out, d, fact->b);
}

ADD(remapping)
{
	(void)snap;
	if (!has_metric(d, fact->a))
		return add_fact_value(out, d, fact->a);
	if (gk_value_or_none(d->m[fact->b]) > 0)
		return add_fact_text(out, "failed");
	return add_fact_text(out, d->m[fact->a].v ? "pending a reset" : "ok");
}

ADD(pstate)
{
	(void)snap;
	if (has_metric(d, fact->a))
		gk_buf_putc(out, 'P');
	return add_fact_value(out, d, fact->a);
}

/*
 * Writes the word that stands for the value: the value is a position in a list
 * such as "off|on".
 */
ADD(word)
{
	struct gk_value value = d->m[fact->a];
	const char *at = fact->words;

	(void)snap;
	if (value.why != GK_PRESENT)
		return add_fact_value(out, d, fact->a);
	for (int64_t i = 0; i < value.v && at; i++) {
		at = strchr(at, '|');
		at = at ? at + 1 : NULL;
	}
	if (at)
		gk_buf_add(out, at, strcspn(at, "|"));
	else
		gk_buf_printf(out, "%" PRId64, value.v);
	return true;
}

/*
 * Writes the word that stands for the current value. Adds the word for the
 * value after a reset if that differs.
 */
ADD(pending)
{
	if (!word(out, fact, snap, d))
		return false;
	if (has_metric(d, fact->b) && d->m[fact->b].v != d->m[fact->a].v) {
		struct fact next = {.a = fact->b, .words = fact->words};

		gk_buf_puts(out, ", ");
		word(out, &next, snap, d);
		gk_buf_puts(out, " after reset");
	}
	return true;
}

/* Writes a rate, unless it is too old: it is read only on request. */
ADD(traffic)
{
	char text[GK_UNITS_MAX];

	if (!has_metric(d, fact->a))
		return add_fact_value(out, d, fact->a);
	if (gk_device_age(snap, d, GK_TIER_ASKED) > ASKED_AGE_MAX)
		return say_absent(out, GK_ABSENT_NOT_READ);
	gk_buf_printf(out, "%s/s", gk_human_size(text, d->m[fact->a].v));
	return true;
}

/*
 * Words for the bits of nvmlClocksEventReasons, as explained by NVML's
 * documentation.
 */
static const struct {
	unsigned long long bit;
	const char *words;
} reasons[] = {
    {0x1, "idle"},
    {0x2, "set clocks"},
    {0x4, "power limit"},
    {0x8, "hardware slowdown"},
    {0x10, "sync boost"},
    {0x20, "too warm"},
    {0x40, "overheated"},
    {0x80, "power brake"},
    {0x100, "display clocks"},
};

ADD(event_reasons)
{
	struct gk_value value = d->m[GK_M_THROTTLE];
	unsigned long long left = (unsigned long long)value.v;
	bool first = true;

	(void)fact;
	(void)snap;
	if (value.why != GK_PRESENT)
		return add_fact_value(out, d, GK_M_THROTTLE);
	if (!left)
		return add_fact_text(out, "none");
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
		if (!(left & reasons[i].bit))
			continue;
		gk_buf_printf(out, "%s%s", first ? "" : ", ", reasons[i].words);
		left &= ~reasons[i].bit;
		first = false;
	}
	if (left)
		gk_buf_printf(out, "%s%#llx", first ? "" : ", ", left);
	return true;
}

ADD(last_xid)
{
	struct gk_value count = d->m[GK_M_XID_COUNT];
	struct gk_value number = d->m[GK_M_XID_LAST];
	struct gk_value time = d->m[GK_M_XID_TIME];
	char text[GK_UNITS_MAX];

	(void)fact;
	if (count.why != GK_PRESENT)
		return add_fact_value(out, d, GK_M_XID_COUNT);
	if (!count.v || number.why != GK_PRESENT)
		return add_fact_text(out, "none since start");
	gk_buf_printf(out, "%" PRId64, number.v);
	if (time.why == GK_PRESENT && time.v <= (int64_t)snap->wall_ns)
		gk_buf_printf(
		    out, ", %s ago",
		    gk_human_time(text, (int64_t)snap->wall_ns - time.v, 4));
	gk_buf_printf(out, ": %s (%" PRId64 " in all)", gk_xid_text(number.v),
		      count.v);
	return true;
}

static const struct fact facts[] = {
#define WHOLE(title, add) {title, add, 0, 0, NULL, 0, false},
#define TEXT(title, id)   {title, detail, 0, 0, NULL, GK_T_##id, false},
#define ONE(title, id)    {title, one, GK_M_##id, 0, NULL, 0, false},
#define TWO(title, add, a, b, words)                                           \
	{title, add, GK_M_##a, GK_M_##b, words, 0, false},
#define LONG(title, add) {title, add, 0, 0, NULL, 0, true},
#define SECTION(title)   {title, NULL, 0, 0, NULL, 0, false},
#include "tui/model/facts.def"
#undef WHOLE
#undef TEXT
#undef ONE
#undef TWO
#undef LONG
#undef SECTION
};

int tui_fact_count(void)
{
	return (int)(sizeof facts / sizeof *facts);
}

bool tui_fact_is_long(int fact)
{
	GK_ASSERT(fact >= 0 && fact < tui_fact_count());
	return facts[fact].is_long;
}

bool tui_fact_is_section(int fact)
{
	GK_ASSERT(fact >= 0 && fact < tui_fact_count());
	return !facts[fact].add;
}

const char *tui_fact_title(int fact)
{
	GK_ASSERT(fact >= 0 && fact < tui_fact_count());
	return facts[fact].title;
}

bool tui_fact_add(struct gk_buf *out, int fact, const struct gk_snapshot *snap,
		  const struct gk_device *device)
{
	GK_ASSERT(fact >= 0 && fact < tui_fact_count());
	GK_ASSERT(facts[fact].add);
	return facts[fact].add(out, &facts[fact], snap, device);
}

bool tui_fact_is_unsupported(int fact, const struct gk_snapshot *snap,
			     const struct gk_device *device)
{
	struct gk_buf text = {0};
	bool absent = !tui_fact_is_section(fact) &&
		      !tui_fact_add(&text, fact, snap, device) && text.len &&
		      !strcmp(text.data, tui_absence(GK_ABSENT_NOT_SUPPORTED));

	gk_buf_free(&text);
	return absent;
}

void tui_facts_add_unsupported(struct gk_buf *out,
			       const struct gk_snapshot *snap,
			       const struct gk_device *device)
{
	for (int fact = 0; fact < tui_fact_count(); fact++) {
		const char *title = tui_fact_title(fact);

		if (tui_fact_is_unsupported(fact, snap, device))
			gk_buf_printf(out, "%s%s", out->len ? ", " : "",
				      title + strspn(title, " "));
	}
}
