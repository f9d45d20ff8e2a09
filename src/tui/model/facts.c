/* facts.c - writes down all that a snapshot knows of a GPU. */
#include "tui/facts.h"

#include "base/clock.h"
#include "format/names.h"
#include "tui/value.h"

#include <inttypes.h>
#include <string.h>

/* Readings of what blocks the driver that are older than this say nothing. */
#define ASKED_AGE_MAX (5 * GK_NS_PER_S)

struct fact {
	const char *title;
	/* Adds the text: of metrics, or of the device as a whole; false: there
	 * is none, and the text says why. NULL: it is a heading. */
	bool (*add)(struct gk_buf *out, const struct fact *fact,
		    const struct gk_snapshot *snap, const struct gk_device *d);
	enum gk_metric a, b;
	const char *words; /* between or of the values */
	enum gk_fact text;
	bool is_long;
};

#define ADD(name)                                                              \
	static bool name(struct gk_buf *out, const struct fact *fact,          \
			 const struct gk_snapshot *snap,                       \
			 const struct gk_device *d)

/* Shorter than gk_absence_text(): it stands where a number would. */
const char *tui_absence(enum gk_absence why)
{
	static const char *const words[GK_ABSENCE_COUNT] = {
	    [GK_ABSENT_NO_FUNCTION] = "unknown to driver",
	    [GK_ABSENT_PERMISSION] = "no permission",
	    [GK_ABSENT_TIMEOUT] = "no answer",
	    [GK_ABSENT_ERROR] = "driver error",
	    [GK_ABSENT_RESET] = "wants a reset",
	};

	return words[why] ? words[why] : gk_absence_text(why);
}

static bool say_absent(struct gk_buf *out, enum gk_absence why)
{
	gk_buf_puts(out, tui_absence(why));
	return false;
}

static bool has_metric(const struct gk_device *d, enum gk_metric metric)
{
	return d->m[metric].why == GK_PRESENT;
}

/* The value, or why there is none. */
static bool add_fact_value(struct gk_buf *out, const struct gk_device *d,
			   enum gk_metric metric)
{
	char text[GK_UNITS_MAX];

	if (!has_metric(d, metric))
		return say_absent(out, d->m[metric].why);
	gk_buf_puts(out,
		    tui_value(text, d->m[metric], gk_metrics[metric].unit));
	return true;
}

static bool add_text(struct gk_buf *out, const char *text)
{
	gk_buf_puts(out, *text ? text : "unknown");
	return *text;
}

/* ---- of the device ---- */

ADD(bus_id)
{
	(void)fact;
	(void)snap;
	return add_text(out, d->bus_id);
}

ADD(serial)
{
	(void)fact;
	(void)snap;
	return add_text(out, d->serial);
}

ADD(vbios)
{
	(void)fact;
	(void)snap;
	return add_text(out, d->vbios);
}

ADD(node)
{
	(void)fact;
	(void)snap;
	if (d->minor < 0)
		return add_text(out, "");
	gk_buf_printf(out, "/dev/nvidia%d", d->minor);
	return true;
}

ADD(compute_capability)
{
	(void)fact;
	(void)snap;
	if (d->compute_major < 0)
		return add_text(out, "");
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
	/* Why there are no details at all any of their numbers tells. */
	if (!detail)
		return say_absent(out, has_metric(d, GK_M_GSP_MODE)
					   ? GK_ABSENT_NOT_READ
					   : d->m[GK_M_GSP_MODE].why);
	if (detail->facts[fact->text].why != GK_PRESENT)
		return say_absent(out, detail->facts[fact->text].why);
	return add_text(out, detail->facts[fact->text].s);
}

/* ---- of metrics ---- */

ADD(one)
{
	(void)snap;
	return add_fact_value(out, d, fact->a);
}

/* "a / b", and in brackets what part it is. */
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

/* "a of b". */
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

/* "a to b". */
ADD(range)
{
	(void)snap;
	if (!has_metric(d, fact->a) || !has_metric(d, fact->b))
		return say_absent(out, has_metric(d, fact->a)
					   ? d->m[fact->b].why
					   : d->m[fact->a].why);
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
		return add_text(out, "failed");
	return add_text(out, d->m[fact->a].v ? "pending a reset" : "ok");
}

ADD(pstate)
{
	(void)snap;
	if (has_metric(d, fact->a))
		gk_buf_putc(out, 'P');
	return add_fact_value(out, d, fact->a);
}

/* A word of a list "off|on" by number. */
ADD(word)
{
	struct gk_value value = d->m[fact->a];
	const char *at = fact->words;

	(void)snap;
	if (value.why != GK_PRESENT)
		return say_absent(out, value.why);
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

/* A word now, and another after a reset. */
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

/* A value that was read only because it was asked for may be old. */
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

/* Bits of nvmlClocksEventReasons, as NVML's documentation explains them. */
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
		return say_absent(out, value.why);
	if (!left)
		return add_text(out, "none");
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
		return say_absent(out, count.why);
	if (!count.v || number.why != GK_PRESENT)
		return add_text(out, "none since start");
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
#include "tui/facts.def"
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
	return facts[fact].is_long;
}

bool tui_fact_is_section(int fact)
{
	return !facts[fact].add;
}

const char *tui_fact_title(int fact)
{
	return facts[fact].title;
}

bool tui_fact_add(struct gk_buf *out, int fact, const struct gk_snapshot *snap,
		  const struct gk_device *device)
{
	return facts[fact].add(out, &facts[fact], snap, device);
}
