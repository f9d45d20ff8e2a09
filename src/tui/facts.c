/* facts.c - what a snapshot knows of a GPU; see facts.h. */
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
	 * is none, and the text says why. */
	bool (*add)(struct gk_buf *out, const struct fact *fact,
		    const struct gk_snapshot *snap, const struct gk_device *d);
	enum gk_metric a, b;
	const char *words; /* between or of the values */
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

static bool has(const struct gk_device *d, enum gk_metric metric)
{
	return d->m[metric].why == GK_PRESENT;
}

/* The value, or why there is none. */
static bool add_value(struct gk_buf *out, const struct gk_device *d,
		      enum gk_metric metric)
{
	char text[GK_UNITS_MAX];

	if (!has(d, metric))
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

ADD(health)
{
	char text[GK_NAME_MAX];
	uint64_t age = gk_device_age(snap, d, GK_TIER_FAST);

	(void)fact;
	gk_device_trouble(text, snap, d);
	if (!*text)
		return add_text(out, "ok");
	gk_buf_puts(out, text);
	if (d->health != GK_HEALTH_STALE && age != UINT64_MAX)
		gk_buf_printf(out, " for %s",
			      gk_human_time(text, (int64_t)age, 4));
	return true;
}

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

/* ---- of metrics ---- */

ADD(one)
{
	(void)snap;
	return add_value(out, d, fact->a);
}

/* "a / b", and in brackets what part it is. */
ADD(part)
{
	struct gk_value share = tui_part(d->m[fact->a], d->m[fact->b]);
	char text[GK_UNITS_MAX];

	(void)snap;
	if (!add_value(out, d, fact->a))
		return false;
	if (!has(d, fact->b))
		return true;
	gk_buf_puts(out, " / ");
	add_value(out, d, fact->b);
	if (share.why == GK_PRESENT)
		gk_buf_printf(out, " (%s)",
			      tui_value(text, share, GK_UNIT_CENTIPERCENT));
	return true;
}

/* "a of b". */
ADD(of)
{
	(void)snap;
	if (!has(d, fact->a))
		return add_value(out, d, fact->a);
	gk_buf_puts(out, fact->words);
	add_value(out, d, fact->a);
	if (!has(d, fact->b))
		return true;
	gk_buf_puts(out, " of ");
	gk_buf_puts(out, fact->words);
	return add_value(out, d, fact->b);
}

/* "a to b". */
ADD(range)
{
	(void)snap;
	if (!has(d, fact->a) || !has(d, fact->b))
		return say_absent(out, has(d, fact->a) ? d->m[fact->b].why
						       : d->m[fact->a].why);
	add_value(out, d, fact->a);
	gk_buf_puts(out, " to ");
	return add_value(out, d, fact->b);
}

ADD(remapping)
{
	(void)snap;
	if (!has(d, fact->a))
		return add_value(out, d, fact->a);
	if (gk_value_or_none(d->m[fact->b]) > 0)
		return add_text(out, "failed");
	return add_text(out, d->m[fact->a].v ? "pending a reset" : "ok");
}

ADD(pstate)
{
	(void)snap;
	if (has(d, fact->a))
		gk_buf_putc(out, 'P');
	return add_value(out, d, fact->a);
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

/* What was read only because it was asked for may be old. */
ADD(traffic)
{
	char text[GK_UNITS_MAX];

	if (!has(d, fact->a))
		return add_value(out, d, fact->a);
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
	struct gk_value value = d->m[fact->a];
	unsigned long long left = (unsigned long long)value.v;
	bool first = true;

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

static const struct fact facts[] = {
    {.title = "Health", .add = health},
    {.title = "Bus", .add = bus_id},
    {.title = "Device file", .add = node},
    {.title = "Serial", .add = serial},
    {.title = "VBIOS", .add = vbios},
    {.title = "Compute capability", .add = compute_capability},
    {.title = "Processes", .add = processes},
    {"Performance state", pstate, GK_M_PSTATE, 0, NULL},
    {"Utilisation", one, GK_M_GPU_UTIL, 0, NULL},
    {"Memory bandwidth", one, GK_M_MEM_UTIL, 0, NULL},
    {"Encoder", one, GK_M_ENC_UTIL, 0, NULL},
    {"Decoder", one, GK_M_DEC_UTIL, 0, NULL},
    {"JPEG", one, GK_M_JPG_UTIL, 0, NULL},
    {"Optical flow", one, GK_M_OFA_UTIL, 0, NULL},
    {"Memory", part, GK_M_MEM_USED, GK_M_MEM_TOTAL, NULL},
    {"Memory free", one, GK_M_MEM_FREE, 0, NULL},
    {"Memory reserved", one, GK_M_MEM_RESERVED, 0, NULL},
    {"BAR1", part, GK_M_BAR1_USED, GK_M_BAR1_TOTAL, NULL},
    {"Power", part, GK_M_POWER, GK_M_POWER_ENFORCED, NULL},
    {"Power limit", one, GK_M_POWER_LIMIT, 0, NULL},
    {"Power default", one, GK_M_POWER_DEFAULT, 0, NULL},
    {"Power range", range, GK_M_POWER_MIN, GK_M_POWER_MAX, NULL},
    {"Energy", one, GK_M_ENERGY, 0, NULL},
    {"Temperature", one, GK_M_TEMP, 0, NULL},
    {"Memory temperature", one, GK_M_TEMP_MEM, 0, NULL},
    {"Slows down at", one, GK_M_TEMP_SLOWDOWN, 0, NULL},
    {"Shuts down at", one, GK_M_TEMP_SHUTDOWN, 0, NULL},
    {"Fan", one, GK_M_FAN, 0, NULL},
    {"SM clock", of, GK_M_SM_CLOCK, GK_M_SM_CLOCK_MAX, ""},
    {"Memory clock", of, GK_M_MEM_CLOCK, GK_M_MEM_CLOCK_MAX, ""},
    {"Graphics clock", of, GK_M_GR_CLOCK, GK_M_GR_CLOCK_MAX, ""},
    {"Video clock", of, GK_M_VIDEO_CLOCK, GK_M_VIDEO_CLOCK_MAX, ""},
    {"PCIe generation", of, GK_M_PCIE_GEN, GK_M_PCIE_GEN_MAX, ""},
    {"PCIe width", of, GK_M_PCIE_WIDTH, GK_M_PCIE_WIDTH_MAX, "x"},
    {"PCIe to GPU", traffic, GK_M_PCIE_RX, 0, NULL},
    {"PCIe from GPU", traffic, GK_M_PCIE_TX, 0, NULL},
    {"ECC", word, GK_M_ECC_MODE, 0, "off|on"},
    {"ECC corrected", one, GK_M_ECC_CORRECTED, 0, NULL},
    {"ECC uncorrected", one, GK_M_ECC_UNCORRECTED, 0, NULL},
    {"Rows, corrected", one, GK_M_ROWS_CORRECTED, 0, NULL},
    {"Rows, uncorrected", one, GK_M_ROWS_UNCORRECTED, 0, NULL},
    {"Row remapping", remapping, GK_M_ROWS_PENDING, GK_M_ROWS_FAILED, NULL},
    {"Persistence", word, GK_M_PERSISTENCE, 0, "off|on"},
    {"Compute mode", word, GK_M_COMPUTE_MODE, 0,
     "default|exclusive thread|prohibited|exclusive process"},
    {"Display", word, GK_M_DISPLAY_ACTIVE, 0, "inactive|active"},
    {"Display attached", word, GK_M_DISPLAY_MODE, 0, "no|yes"},
    {"MIG", word, GK_M_MIG_MODE, 0, "off|on"},
    {"Clocks held by", event_reasons, GK_M_THROTTLE, 0, NULL},
};

int tui_fact_count(void)
{
	return (int)(sizeof facts / sizeof *facts);
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
