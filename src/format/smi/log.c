/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - prints the tables of -q as text and as XML. */
#include "format/smi/log.h"
#include "base/array.h"
#include "format/smi/log_lists.h"

#include "format/units.h"

#include <limits.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum section {
	ANY = 0,
	MEMORY = 1 << 0,
	UTILIZATION = GK_SMI_UTILIZATION,
	ECC = 1 << 2,
	TEMPERATURE = 1 << 3,
	POWER = GK_SMI_POWER,
	CLOCK = GK_SMI_CLOCK,
	COMPUTE = 1 << 6,
	PIDS = GK_SMI_PIDS,
	PERFORMANCE = 1 << 8,
	SUPPORTED_CLOCKS = GK_SMI_SUPPORTED_CLOCKS,
	PAGE_RETIREMENT = 1 << 10,
	ACCOUNTING = 1 << 11,
	ENCODER_STATS = 1 << 12,
	TARGET_TEMPERATURE = 1 << 13,
	VOLTAGE = 1 << 14,
	FBC_STATS = 1 << 15,
	ROW_REMAPPER = 1 << 16,
	GSP_FIRMWARE_VERSION = 1 << 17,
	POWER_SMOOTHING = 1 << 18,
	POWER_PROFILES = 1 << 19,
	RESET_STATUS = 1 << 20,
};

const struct gk_smi_section gk_smi_sections[] = {
    {"MEMORY", MEMORY},
    {"UTILIZATION", UTILIZATION},
    {"ECC", ECC},
    {"TEMPERATURE", TEMPERATURE},
    {"POWER", POWER},
    {"CLOCK", CLOCK},
    {"COMPUTE", COMPUTE},
    {"PIDS", PIDS},
    {"PERFORMANCE", PERFORMANCE},
    {"SUPPORTED_CLOCKS", SUPPORTED_CLOCKS},
    {"PAGE_RETIREMENT", PAGE_RETIREMENT},
    {"ACCOUNTING", ACCOUNTING},
    {"ENCODER_STATS", ENCODER_STATS},
    {"SUPPORTED_GPU_TARGET_TEMP", TARGET_TEMPERATURE},
    {"VOLTAGE", VOLTAGE},
    {"FBC_STATS", FBC_STATS},
    {"ROW_REMAPPER", ROW_REMAPPER},
    {"GSP_FIRMWARE_VERSION", GSP_FIRMWARE_VERSION},
    {"POWER_SMOOTHING", POWER_SMOOTHING},
    {"POWER_PROFILES", POWER_PROFILES},
    {"RESET_STATUS", RESET_STATUS},
    {0},
};

/* Conditions of rows other than the driver; a row has at most one. */
#define ALWAYS          ((gk_smi_when)0)
#define CONDITION(n)    ((gk_smi_when)(n) << GK_SMI_OWN_BIT)
#define HEXADECIMAL     CONDITION(1) /* shown without 0x in XML */
#define WITH_SRAM       CONDITION(2) /* SRAM errors are counted by kind */
#define WITHOUT_SRAM    CONDITION(3)
#define BY_PLACE        CONDITION(4) /* errors are counted by location */
#define BY_KIND         CONDITION(5)
#define WITH_TLIMIT     CONDITION(6) /* thresholds are distances to a limit */
#define WITHOUT_TLIMIT  CONDITION(7)
#define CONDITION_OF(w) ((w) & ~(((gk_smi_when)1 << GK_SMI_OWN_BIT) - 1))

/*
 * Whether a GPU has at least this compute capability; true if its compute
 * capability is unknown.
 */
static bool is_newer_than(const struct gk_device *d, int major, int minor)
{
	int capability = d->compute_major * 10 + d->compute_minor;

	return d->compute_major <= 0 || capability >= major * 10 + minor;
}

/*
 * Boards since Ampere count errors of SRAM by kind. Drivers report these counts
 * since 550 and, in the branch of 535, since 535.161. Boards before Turing
 * count errors by place.
 */
static bool has_sram_kinds(const struct gk_smi_at *at, unsigned level)
{
	if (at->device->compute_major <= 0)
		return !at->device->m[GK_M_SRAM_PARITY].why;
	return gk_smi_fits(SINCE(550) | ALSO(535161), level) &&
	       is_newer_than(at->device, 8, 0);
}

/* Drivers up to 525 show the thresholds of all boards in degrees. */
static bool has_tlimit(const struct gk_smi_at *at, unsigned level)
{
	return level >= GK_SMI_LEVEL(526, 0) &&
	       !at->device->m[GK_M_MARGIN_SHUTDOWN].why;
}

static bool is_when(gk_smi_when when, const struct gk_smi_at *at)
{
	unsigned level = gk_smi_level(at->snap);
	gk_smi_when condition = CONDITION_OF(when);
	bool by_kind = is_newer_than(at->device, 7, 5);

	if (!gk_smi_fits(when & ~condition, level))
		return false;
	if (condition == WITH_SRAM)
		return has_sram_kinds(at, level);
	if (condition == WITHOUT_SRAM)
		return by_kind && !has_sram_kinds(at, level);
	if (condition == BY_PLACE)
		return !by_kind;
	if (condition == BY_KIND)
		return by_kind;
	if (condition == WITH_TLIMIT)
		return has_tlimit(at, level);
	if (condition == WITHOUT_TLIMIT)
		return !has_tlimit(at, level);
	return true;
}

/* The metrics that is_when() needs. */
static const enum gk_metric judged[] = {GK_M_SRAM_PARITY, GK_M_MARGIN_SHUTDOWN};

/* ---- lists: parts without a table ---- */

struct row {
	int depth; /* the outermost has 1 */
	unsigned section;
	const char *label, *element, *unit;
	gk_smi_when when;
	/* for a GROUP: show N/A if this metric is absent; -1: never */
	int collapse;
	struct gk_smi_source source;
	gk_smi_log_list *list;
};

static void add_log_rows(struct gk_buf *out, const struct gk_smi_at *at,
			 const struct row *row, size_t count, unsigned sections,
			 bool xml);

#define SHOW(name)                                                             \
	static enum gk_absence gk_smi_##name(                                  \
	    struct gk_buf *out, const struct gk_smi_at *at,                    \
	    __attribute__((unused)) int what,                                  \
	    __attribute__((unused)) int64_t arg)

SHOW(mig_index)
{
	gk_buf_printf(out, "%d", at->device->mig_index);
	return GK_PRESENT;
}

/*
 * The instance ids of a MIG device; arg is 0 for the GPU instance, 1 for the
 * compute instance.
 */
SHOW(instance)
{
	int id = arg ? at->device->compute_instance : at->device->gpu_instance;

	if (id < 0)
		return GK_ABSENT_NOT_SUPPORTED;
	gk_buf_printf(out, "%d", id);
	return GK_PRESENT;
}

#define ROW(depth, label, element, unit, when, ...)                            \
	ROW_(depth, ANY, label, element, unit, when, __VA_ARGS__)
#define TOP(section, label, element, unit, when, ...)                          \
	ROW_(1, section, label, element, unit, when, __VA_ARGS__)
#define ROW_(depth, section, label, element, unit, when, ...)                  \
	{depth, section, label, element, unit, when, -1, {__VA_ARGS__}, NULL},
#define GROUP(depth, label, element, when, metric)                             \
	{depth, ANY, label, element, NULL, when, metric, {NULL, 0, 0}, NULL},
#define PART(section, label, element, when, metric)                            \
	{1, section, label, element, NULL, when, metric, {NULL, 0, 0}, NULL},
#define LIST(section, function)                                                \
	{1,    section,      NULL,                                             \
	 NULL, NULL,         ALWAYS,                                           \
	 -1,   {NULL, 0, 0}, gk_smi_log_##function},

static const struct row mig_rows[] = {
#include "format/smi/mig.def"
};

void gk_smi_log_mig_devices(struct gk_buf *out, const struct gk_smi_at *at,
			    bool xml)
{
	struct gk_smi_at mig = *at;
	bool any = false;

	if (xml)
		gk_buf_puts(out, "\t\t<mig_devices>\n");
	for (size_t i = 0; i < at->snap->device_count; i++) {
		mig.device = &at->snap->devices[i];
		if (mig.device->mig_index < 0 ||
		    mig.device->index != at->device->index)
			continue;
		add_log_rows(out, &mig, mig_rows, COUNT(mig_rows), ANY, xml);
		any = true;
	}
	if (xml)
		gk_buf_puts(out, any ? "\t\t</mig_devices>\n"
				     : "\t\t\tNone\n\t\t</mig_devices>\n");
}

static const struct row gpu_rows[] = {
#include "format/smi/log.def"
};

/* ---- the tables ---- */

/* Adds the value of a row with its unit, or why it is absent. */
static void put_row_value(struct gk_buf *out, const struct gk_smi_at *at,
			  const struct row *row)
{
	const struct gk_smi_source *source = &row->source;
	enum gk_absence why;

	why = source->show(out, at, source->what, source->arg);
	gk_buf_puts(out, why ? gk_smi_absent_bare(why) : row->unit);
}

static bool is_collapsed(const struct row *row, const struct gk_smi_at *at)
{
	return row->collapse >= 0 && at->device->m[row->collapse].why;
}

static void text_row(struct gk_buf *out, const struct gk_smi_at *at,
		     const struct row *row)
{
	if (!row->label)
		return;
	if (!row->source.show && !is_collapsed(row, at)) {
		gk_buf_printf(out, "%*s%s\n", row->depth * GK_SMI_STEP, "",
			      row->label);
		return;
	}
	gk_smi_key(out, at->snap, row->depth, row->label);
	if (row->source.show)
		put_row_value(out, at, row);
	else
		gk_buf_puts(
		    out, gk_smi_absent_bare(at->device->m[row->collapse].why));
	gk_buf_putc(out, '\n');
}

/* The XML elements that are open now, indexed by depth. */
struct open {
	const char *name[8];
};

static void close_to(struct gk_buf *out, struct open *open, int depth)
{
	for (int i = (int)COUNT(open->name) - 1; i >= depth; i--) {
		if (!open->name[i])
			continue;
		gk_smi_tabs(out, i);
		gk_buf_printf(out, "</%s>\n", open->name[i]);
		open->name[i] = NULL;
	}
}

static void xml_row(struct gk_buf *out, const struct gk_smi_at *at,
		    const struct row *row, int depth, struct open *open)
{
	struct gk_buf text = {0};
	const char *shown;

	close_to(out, open, depth);
	if (!row->element)
		return;
	if (!row->source.show && !is_collapsed(row, at)) {
		gk_smi_tabs(out, depth);
		gk_buf_printf(out, "<%s>\n", row->element);
		open->name[depth] = row->element;
		return;
	}
	if (row->source.show)
		put_row_value(&text, at, row);
	else
		gk_buf_puts(&text, gk_smi_absent_bare(
				       at->device->m[row->collapse].why));
	shown = text.data ? text.data : "";
	if (CONDITION_OF(row->when) == HEXADECIMAL && !strncmp(shown, "0x", 2))
		shown += 2;
	gk_smi_element(out, depth, row->element, shown);
	out->failed |= text.failed;
	gk_buf_free(&text);
}

/* Adds rows. A row of depth 1 determines the section of the rows after it. */
static void add_log_rows(struct gk_buf *out, const struct gk_smi_at *at,
			 const struct row *row, size_t count, unsigned sections,
			 bool xml)
{
	int deeper = at->device->mig_index >= 0 && xml; /* inside
							 * <mig_devices> */
	const struct row *end = row + count;
	struct open open = {{NULL}};
	unsigned section = ANY;
	int skip = 0; /* skip rows deeper than this; 0: skip none */

	for (; row < end; row++) {
		if (row->depth == 1)
			section = row->section;
		if (skip && row->depth > skip)
			continue;
		skip = 0;
		if (sections && !(section & sections))
			continue;
		if (!is_when(row->when, at)) {
			skip = row->depth;
			continue;
		}
		/* Long lists are shown only if their section was requested. */
		if (row->list && section & GK_SMI_LISTED && !sections &&
		    (!xml || section != SUPPORTED_CLOCKS))
			continue;
		if (!row->source.show && is_collapsed(row, at))
			skip = row->depth;
		if (row->list)
			close_to(out, &open, 1 + deeper);
		if (row->list)
			row->list(out, at, xml);
		else if (xml)
			xml_row(out, at, row, row->depth + deeper, &open);
		else
			text_row(out, at, row);
	}
	close_to(out, &open, 0);
}

void gk_smi_log_wanted(unsigned sections, struct gk_metric_set *set)
{
	unsigned section = ANY;

	for (size_t i = 0; i < COUNT(judged); i++)
		gk_metric_set_add(set, judged[i]);
	for (size_t i = 0; i < COUNT(gpu_rows); i++) {
		const struct row *row = &gpu_rows[i];

		if (row->depth == 1)
			section = row->section;
		if (sections && !(section & sections))
			continue;
		if (row->source.show)
			gk_smi_want(&row->source, set);
		if (row->collapse >= 0)
			gk_metric_set_add(set, (enum gk_metric)row->collapse);
	}
	for (size_t i = 0; !sections && i < COUNT(mig_rows); i++)
		if (mig_rows[i].source.show)
			gk_smi_want(&mig_rows[i].source, set);
}

/* ---- the whole report ---- */

/* The lines about the whole machine. */
struct head {
	const char *label, *element;
	char value[192];
};

static size_t fill_heads(const struct gk_snapshot *snap, struct head head[5])
{
	char date[32], cuda[GK_UNITS_MAX];
	bool new_names = gk_smi_level(snap) >= GK_SMI_LEVEL(610, 0);
	const char *late =
	    new_names ? " [Deprecated; will be removed in CUDA 14.0. Use " : "";
	struct head all[] = {
	    {"Timestamp", "timestamp", ""},
	    {"Driver Version", "driver_version", ""},
	    {"CUDA Version", "cuda_version", ""},
	    {"KMD Version", "kmd_version", ""},
	    {"CUDA UMD Version", "cuda_umd_version", ""},
	};

	gk_smi_date(date, snap->wall_ns);
	gk_cuda_version(cuda, snap->cuda_version);
	snprintf(all[0].value, sizeof all[0].value, "%s", date);
	snprintf(all[1].value, sizeof all[1].value, "%s%s%s",
		 snap->driver_version, late,
		 new_names ? "KMD Version instead]" : "");
	snprintf(all[2].value, sizeof all[2].value, "%s%s%s", cuda, late,
		 new_names ? "CUDA UMD Version instead]" : "");
	snprintf(all[3].value, sizeof all[3].value, "%s", snap->driver_version);
	snprintf(all[4].value, sizeof all[4].value, "%s", cuda);
	memcpy(head, all, sizeof all);
	return new_names ? 5 : 3;
}

static void add_head(struct gk_buf *out, const struct gk_snapshot *snap)
{
	struct head head[5];
	size_t count = fill_heads(snap, head);

	gk_buf_puts(out, "\n==============NVSMI LOG==============\n\n");
	for (size_t i = 0; i < count; i++) {
		gk_smi_key(out, snap, 0, head[i].label);
		gk_buf_printf(out, "%s\n", head[i].value);
	}
	gk_buf_putc(out, '\n');
}

/* Drivers since 470 report no host interface card. */
void gk_smi_log_units(struct gk_buf *out, const struct gk_snapshot *snap,
		      const char *units)
{
	add_head(out, snap);
	gk_smi_key(out, snap, 0, "HIC Info");
	gk_buf_puts(out, "N/A\n");
	gk_smi_key(out, snap, 0, "Attached Units");
	gk_buf_printf(out, "%s\n", units);
}

void gk_smi_log_text(struct gk_buf *out, const struct gk_snapshot *snap,
		     unsigned sections, unsigned gpus,
		     const struct gk_smi_absent *absent)
{
	add_head(out, snap);
	gk_smi_key(out, snap, 0, "Attached GPUs");
	gk_buf_printf(out, "%u\n", gpus);
	for (size_t i = 0; i < snap->device_count; i++) {
		struct gk_smi_at at = {
		    .snap = snap, .device = &snap->devices[i], .gpus = gpus};

		if (at.device->mig_index >= 0)
			continue;
		gk_smi_add_absent(out, &absent, at.device->index);
		gk_buf_puts(out, "GPU ");
		gk_smi_text(out, at.device, at.device->bus_id);
		gk_buf_putc(out, '\n');
		add_log_rows(out, &at, gpu_rows, COUNT(gpu_rows), sections,
			     false);
		gk_buf_putc(out, '\n');
	}
	gk_smi_add_absent(out, &absent, UINT_MAX);
}

int gk_smi_log_dtd_version(const struct gk_snapshot *snap)
{
	return gk_smi_form(gk_smi_level(snap))->dtd;
}

static void add_doctype(struct gk_buf *out, const struct gk_snapshot *snap,
			gk_smi_declare *declare)
{
	gk_buf_puts(out, "<?xml version=\"1.0\" ?>\n"
			 "<!DOCTYPE nvidia_smi_log ");
	if (!declare) {
		gk_buf_printf(out, "SYSTEM \"nvsmi_device_v%d.dtd\">\n",
			      gk_smi_log_dtd_version(snap));
		return;
	}
	gk_buf_puts(out, "[\n");
	declare(out, snap);
	gk_buf_puts(out, "]>\n");
}

void gk_smi_log_xml(struct gk_buf *out, const struct gk_snapshot *snap,
		    unsigned gpus, gk_smi_declare *declare)
{
	struct head head[5];
	size_t count = fill_heads(snap, head);

	add_doctype(out, snap, declare);
	gk_buf_puts(out, "<nvidia_smi_log>\n");
	for (size_t i = 0; i < count; i++)
		gk_smi_element(out, 0, head[i].element, head[i].value);
	gk_buf_printf(out, "\t<attached_gpus>%u</attached_gpus>\n", gpus);
	for (size_t i = 0; i < snap->device_count; i++) {
		struct gk_smi_at at = {
		    .snap = snap, .device = &snap->devices[i], .gpus = gpus};

		if (at.device->mig_index >= 0)
			continue;
		gk_buf_puts(out, "\t<gpu id=\"");
		gk_smi_text(out, at.device, at.device->bus_id);
		gk_buf_puts(out, "\">\n");
		add_log_rows(out, &at, gpu_rows, COUNT(gpu_rows), ANY, true);
		gk_buf_puts(out, "\t</gpu>\n\n");
	}
	gk_buf_puts(out, "</nvidia_smi_log>\n");
}

/* ---- the elements of the XML ---- */

/* Checks only conditions on the driver, because the others differ between
 * boards. */
static bool may_be(gk_smi_when when, const struct gk_snapshot *snap)
{
	return gk_smi_fits(when & ~CONDITION_OF(when), gk_smi_level(snap));
}

/* Reports the elements of rows; `deeper` is the depth of the element that
 * contains them. */
static void tell_rows(const struct gk_snapshot *snap, const struct row *rows,
		      size_t count, int deeper, gk_smi_log_on *on, void *arg)
{
	int skip = 0;

	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		struct gk_smi_log_element e = {
		    row->depth + deeper, row->element, !row->source.show,
		    row->collapse >= 0,  '?',          row->list};

		if (skip && row->depth > skip)
			continue;
		skip = may_be(row->when, snap) ? 0 : row->depth;
		if (skip)
			continue;
		if (rows == mig_rows && row->depth == 1)
			e.times = '*';
		if (row->element || row->list)
			on(arg, &e);
		if (row->list == gk_smi_log_mig_devices)
			tell_rows(snap, mig_rows, COUNT(mig_rows), e.depth, on,
				  arg);
	}
}

/* The child elements of the root that follow those about the machine. */
static const struct gk_smi_log_element of_root[] = {
    {1, "attached_gpus", false, false, 0, NULL},
    {1, "error_string", false, false, '?', NULL},
    {1, "gpu", true, false, '*', NULL},
};

void gk_smi_log_elements(const struct gk_snapshot *snap, gk_smi_log_on *on,
			 void *arg)
{
	struct gk_smi_log_element e = {0,   "nvidia_smi_log", true, false, 0,
				       NULL};
	struct head head[5];
	size_t count = fill_heads(snap, head);

	on(arg, &e);
	e.depth = 1;
	e.group = false;
	for (size_t i = 0; i < count; i++) {
		e.name = head[i].element;
		on(arg, &e);
	}
	for (size_t i = 0; i < COUNT(of_root); i++)
		on(arg, &of_root[i]);
	tell_rows(snap, gpu_rows, COUNT(gpu_rows), 1, on, arg);
}
