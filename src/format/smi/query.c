/* SPDX-License-Identifier: Apache-2.0 */
/* query.c - finds the fields of a query and prints rows of their values. */
#include "format/smi/query.h"
#include "base/array.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bits of gk_smi_field.when other than the drivers. */
#define ALL            ((gk_smi_when)0)
#define BIT_OF(n)      ((gk_smi_when)1 << (GK_SMI_OWN_BIT + (n)))
#define DEPRECATED     BIT_OF(0)
#define DEPRECATED_580 BIT_OF(1)
#define BARE           BIT_OF(2)
#define NEW_NAME       BIT_OF(3)
#define DRIVERS(when)  ((when) & (BIT_OF(0) - 1))

/* The first driver with the names of NEW_NAME. */
#define RENAMED GK_SMI_LEVEL(535, 0)

/* ---- fields that only lists have ---- */

#define SHOW(name)                                                             \
	static enum gk_absence gk_smi_##name(                                  \
	    struct gk_buf *out, const struct gk_smi_at *at,                    \
	    __attribute__((unused)) int what,                                  \
	    __attribute__((unused)) int64_t arg)

static enum gk_absence put_mib(struct gk_buf *out, const struct gk_smi_at *at,
			       struct gk_value value)
{
	if (!value.why)
		gk_buf_printf(out, "%" PRId64,
			      gk_smi_to_mib(at->snap, value.v));
	return value.why;
}

SHOW(pid)
{
	gk_buf_printf(out, "%d", (int)at->process->pid);
	return GK_PRESENT;
}

SHOW(process)
{
	gk_smi_process_name(out, at->process);
	return GK_PRESENT;
}

SHOW(process_memory)
{
	return put_mib(out, at, at->process->m[GK_PM_GPU_MEM]);
}

SHOW(ended_pid)
{
	gk_buf_printf(out, "%u", at->account->pid);
	return GK_PRESENT;
}

static enum gk_absence put_divided(struct gk_buf *out, struct gk_value value,
				   int64_t divisor)
{
	if (!value.why)
		gk_buf_printf(out, "%" PRId64, value.v / divisor);
	return value.why;
}

SHOW(ended_gpu)
{
	return put_divided(out, at->account->gpu_util, 1);
}

SHOW(ended_memory_util)
{
	return put_divided(out, at->account->mem_util, 1);
}

SHOW(ended_memory)
{
	return put_mib(out, at, at->account->max_memory);
}

SHOW(ended_time)
{
	return put_divided(out, at->account->time, (int64_t)GK_NS_PER_MS);
}

SHOW(page_address)
{
	if (!at->page)
		return GK_ABSENT_NOT_SUPPORTED;
	gk_buf_printf(out, "0x%016" PRIx64, at->page->address);
	return GK_PRESENT;
}

SHOW(page_time)
{
	char text[32];

	if (!at->page || !at->page->wall_ns)
		return GK_ABSENT_NOT_SUPPORTED;
	gk_smi_date(text, at->page->wall_ns);
	gk_buf_puts(out, text);
	return GK_PRESENT;
}

SHOW(page_cause)
{
	gk_buf_puts(out, at->cause == GK_PAGE_UNCORRECTED ? "Double Bit ECC"
							  : "Single Bit ECC");
	return GK_PRESENT;
}

SHOW(memory_clock)
{
	gk_buf_printf(out, "%u", at->clock->memory_mhz);
	return GK_PRESENT;
}

SHOW(graphics_clock)
{
	gk_buf_printf(out, "%u", at->clock->graphics_mhz);
	return GK_PRESENT;
}

/* ---- the tables ---- */

#define FIELD(name, other, unit, when, source, ...)                            \
	FIELD_(name, other, unit, when, source, __VA_ARGS__)
/* Here, FIELD has already expanded `source` to the three arguments show, what
 * and arg. */
#define FIELD_(name, other, unit, when, show, what, arg, help)                 \
	{name, other, unit, when, {show, what, arg}, help},

static const struct gk_smi_field gpu[] = {
#include "format/smi/fields.def"
};

/* The first columns of every list. */
#define OF_GPU                                                                 \
	FIELD("timestamp", NULL, NULL, ALL, THIS(timestamp),                   \
	      "local time of the query")                                       \
	FIELD("gpu_name", NULL, NULL, ALL, THIS(name), "product name")         \
	FIELD("gpu_bus_id", NULL, NULL, ALL, THIS(bus_id),                     \
	      "PCI address of the GPU")                                        \
	FIELD("gpu_serial", NULL, NULL, ALL, THIS(serial),                     \
	      "number printed on the board")                                   \
	FIELD("gpu_uuid", NULL, NULL, ALL, THIS(uuid),                         \
	      "unique identifier of the GPU")

static const struct gk_smi_field apps[] = {
    OF_GPU FIELD("pid", NULL, NULL, ALL, THIS(pid), "process id")
	FIELD("process_name", "name", NULL, ALL, THIS(process),
	      "program of the process")
	    FIELD("used_gpu_memory", "used_memory", "MiB", ALL,
		  THIS(process_memory), "memory that it uses on the GPU")};

static const struct gk_smi_field accounted[] = {
    OF_GPU FIELD("vgpu_instance", NULL, NULL, ALL, NEVER, "vGPU that it ran on")
	FIELD("pid", NULL, NULL, ALL, THIS(ended_pid), "process id")
	    FIELD("gpu_utilization", "gpu_util", "%", ALL, THIS(ended_gpu),
		  "time with its kernels running")
		FIELD("mem_utilization", "mem_util", "%", ALL,
		      THIS(ended_memory_util),
		      "time with it reading or writing memory")
		    FIELD("max_memory_usage", NULL, "MiB", ALL,
			  THIS(ended_memory), "most memory that it used")
			FIELD("time", NULL, "ms", ALL, THIS(ended_time),
			      "how long it used the GPU")};

static const struct gk_smi_field pages[] = {
    OF_GPU FIELD("retired_pages.address", NULL, NULL, ALL, THIS(page_address),
		 "address of a retired page")
	FIELD("retired_pages.timestamp", NULL, NULL, ALL, THIS(page_time),
	      "when it was retired")
	    FIELD("retired_pages.cause", NULL, NULL, ALL, THIS(page_cause),
		  "Single Bit ECC or Double Bit ECC")};

static const struct gk_smi_field remapped[] = {
    OF_GPU FIELD("remapped_rows.correctable", "remapped_rows.sbe", NULL, ALL,
		 NUMBER(ROWS_CORRECTED),
		 "rows replaced because of corrected errors")
	FIELD("remapped_rows.uncorrectable", "remapped_rows.dbe", NULL, ALL,
	      NUMBER(ROWS_UNCORRECTED),
	      "rows replaced because of uncorrected errors")
	    FIELD("remapped_rows.pending", NULL, NULL, ALL,
		  WORD(ROWS_PENDING, YES),
		  "Yes: a row is replaced at the next reset")
		FIELD("remapped_rows.failure", NULL, NULL, ALL,
		      WORD(ROWS_FAILED, YES),
		      "Yes: a row could not be replaced")};

static const struct gk_smi_field clocks[] = {OF_GPU FIELD(
    "memory", "mem", "MHz", ALL, THIS(memory_clock),
    "memory clock") FIELD("graphics", "gr", "MHz", ALL, THIS(graphics_clock),
			  "matching graphics clock")};

const struct gk_smi_query gk_smi_queries[] = {
    {"query-gpu", "values of each GPU", GK_SMI_PER_GPU, gpu, COUNT(gpu)},
    {"query-compute-apps", "processes that compute now", GK_SMI_PER_PROCESS,
     apps, COUNT(apps)},
    {"query-accounted-apps", "processes whose accounts are kept",
     GK_SMI_PER_ACCOUNT, accounted, COUNT(accounted)},
    {"query-retired-pages", "memory pages that were retired", GK_SMI_PER_PAGE,
     pages, COUNT(pages)},
    {"query-remapped-rows", "memory rows that were replaced", GK_SMI_PER_GPU,
     remapped, COUNT(remapped)},
    {"query-supported-clocks", "pairs of clocks that can be set",
     GK_SMI_PER_CLOCK, clocks, COUNT(clocks)},
    {0},
};

/* ---- choosing fields ---- */

static bool is_field_name(const char *name, const char *text, size_t len)
{
	return name && strlen(name) == len && !memcmp(name, text, len);
}

static const struct gk_smi_field *
find_field_name(const struct gk_smi_query *query, const char *text, size_t len,
		bool *ret_other)
{
	for (size_t i = 0; i < query->count; i++) {
		const struct gk_smi_field *field = &query->fields[i];

		*ret_other = !is_field_name(field->name, text, len);
		if (!*ret_other || is_field_name(field->other, text, len))
			return field;
	}
	return NULL;
}

int gk_smi_choose(const struct gk_smi_query *query, const char *list,
		  struct gk_smi_chosen *ret_chosen, char *ret_unknown)
{
	struct gk_smi_chosen chosen = {.query = query};

	while (list) {
		const char *end = strchr(list, ',');
		const char *text = list + strspn(list, " ");
		size_t len = strcspn(text, " ,");

		list = end ? end + 1 : NULL;
		if (chosen.count == GK_SMI_FIELDS_MAX)
			return GK_ERR_RANGE;
		chosen.fields[chosen.count] = find_field_name(
		    query, text, len, &chosen.by_other[chosen.count]);
		if (!chosen.fields[chosen.count++]) {
			len = len < 127 ? len : 127;
			memcpy(ret_unknown, text, len);
			ret_unknown[len] = '\0';
			return GK_ERR_NOT_FOUND;
		}
	}
	*ret_chosen = chosen;
	return 0;
}

static bool is_deprecated(const struct gk_smi_field *field, unsigned level)
{
	return (field->when & DEPRECATED && level >= GK_SMI_LEVEL(590, 0)) ||
	       (field->when & DEPRECATED_580 && level >= GK_SMI_LEVEL(580, 0));
}

bool gk_smi_has_field(const struct gk_smi_field *field,
		      const struct gk_snapshot *snap)
{
	unsigned level = gk_smi_level(snap);

	return gk_smi_fits(DRIVERS(field->when), level) &&
	       !is_deprecated(field, level);
}

const char *gk_smi_not_there(const struct gk_smi_chosen *chosen,
			     const struct gk_snapshot *snap)
{
	unsigned level = gk_smi_level(snap);

	for (size_t i = 0; i < chosen->count; i++) {
		const struct gk_smi_field *field = chosen->fields[i];
		bool too_new = field->when & NEW_NAME && level < RENAMED &&
			       !chosen->by_other[i];

		if (!gk_smi_fits(DRIVERS(field->when), level) || too_new)
			return chosen->by_other[i] ? field->other : field->name;
	}
	return NULL;
}

void gk_smi_wanted(const struct gk_smi_chosen *chosen,
		   struct gk_metric_set *set)
{
	for (size_t i = 0; i < chosen->count; i++)
		gk_smi_want(&chosen->fields[i]->source, set);
}

bool gk_smi_wants(const struct gk_smi_chosen *chosen,
		  bool (*is_such)(const struct gk_smi_source *source))
{
	for (size_t i = 0; i < chosen->count; i++)
		if (is_such(&chosen->fields[i]->source))
			return true;
	return false;
}

/* ---- printing rows ---- */

/* Returns the name that a driver of this level shows for a field. */
static const char *field_name(const struct gk_smi_field *field, unsigned level)
{
	return field->when & NEW_NAME && level < RENAMED ? field->other
							 : field->name;
}

void gk_smi_csv_titles(struct gk_buf *out, const struct gk_snapshot *snap,
		       const struct gk_smi_chosen *chosen)
{
	for (size_t i = 0; i < chosen->count; i++) {
		const struct gk_smi_field *field = chosen->fields[i];

		gk_buf_printf(out, "%s%s", i ? ", " : "",
			      field_name(field, gk_smi_level(snap)));
		if (field->unit)
			gk_buf_printf(out, " [%s]", field->unit);
	}
	gk_buf_putc(out, '\n');
}

static void add_query_cell(struct gk_buf *out, const struct gk_smi_at *at,
			   const struct gk_smi_field *field, bool units)
{
	const struct gk_smi_source *source = &field->source;
	enum gk_absence why;

	if (is_deprecated(field, gk_smi_level(at->snap))) {
		gk_buf_puts(out, "[" GK_SMI_DEPRECATED "]");
		return;
	}
	why = source->show(out, at, source->what, source->arg);
	if (why)
		gk_buf_puts(out, field->when & BARE ? gk_smi_absent_bare(why)
						    : gk_smi_absent(why));
	else if (field->unit && units)
		gk_buf_printf(out, " %s", field->unit);
}

/* Prepends an apostrophe to a text that a spreadsheet would evaluate. */
static void guard_text(struct gk_buf *out, size_t at)
{
	char *text, *end;

	if (out->len == at || !gk_str_is_formula(out->data + at, out->len - at))
		return;
	strtod(out->data + at, &end);
	if (!*end)
		return; /* it is a number, not a formula */
	gk_buf_putc(out, '\'');
	text = out->data + at;
	if (out->failed)
		return;
	memmove(text + 1, text, out->len - at - 1);
	*text = '\'';
}

static void add_query_row(struct gk_buf *out, const struct gk_smi_at *at,
			  const struct gk_smi_chosen *chosen, bool units)
{
	for (size_t i = 0; i < chosen->count; i++) {
		size_t begin;

		gk_buf_puts(out, i ? ", " : "");
		begin = out->len;
		add_query_cell(out, at, chosen->fields[i], units);
		if (!chosen->fields[i]->unit)
			guard_text(out, begin);
	}
	gk_buf_putc(out, '\n');
}

/* Prints the processes of a GPU and of its MIG devices. */
static void process_rows(struct gk_buf *out, struct gk_smi_at *at,
			 const struct gk_smi_chosen *chosen, bool units)
{
	const struct gk_snapshot *snap = at->snap;

	for (size_t i = 0; i < snap->process_count; i++) {
		at->process = &snap->processes[i];
		if (snap->devices[at->process->device].index ==
			at->device->index &&
		    at->process->types & (GK_PROCESS_COMPUTE | GK_PROCESS_MPS))
			add_query_row(out, at, chosen, units);
	}
}

static void account_rows(struct gk_buf *out, struct gk_smi_at *at,
			 const struct gk_smi_chosen *chosen, bool units)
{
	const struct gk_detail *detail = at->device->detail;

	for (size_t i = 0; detail && i < detail->account_count; i++) {
		at->account = &detail->accounts[i];
		add_query_row(out, at, chosen, units);
	}
}

/* Prints at least one row per cause, even if there are no pages. */
static void page_rows(struct gk_buf *out, struct gk_smi_at *at,
		      const struct gk_smi_chosen *chosen, bool units)
{
	static const enum gk_page_cause causes[] = {GK_PAGE_CORRECTED,
						    GK_PAGE_UNCORRECTED};
	const struct gk_detail *detail = at->device->detail;

	for (size_t c = 0; c < COUNT(causes); c++) {
		bool any = false;

		at->cause = causes[c];
		for (size_t i = 0; detail && i < detail->page_count; i++) {
			if (detail->pages[i].cause != causes[c])
				continue;
			at->page = &detail->pages[i];
			add_query_row(out, at, chosen, units);
			any = true;
		}
		at->page = NULL;
		if (!any)
			add_query_row(out, at, chosen, units);
	}
}

static void clock_rows(struct gk_buf *out, struct gk_smi_at *at,
		       const struct gk_smi_chosen *chosen, bool units)
{
	const struct gk_detail *detail = at->device->detail;

	for (size_t i = 0; detail && i < detail->clock_count; i++) {
		at->clock = &detail->clocks[i];
		add_query_row(out, at, chosen, units);
	}
}

void gk_smi_csv_rows(struct gk_buf *out, const struct gk_snapshot *snap,
		     const struct gk_smi_chosen *chosen, bool units,
		     unsigned gpus)
{
	typedef void rows_of(struct gk_buf *, struct gk_smi_at *,
			     const struct gk_smi_chosen *, bool);
	static rows_of *const rows[] = {
	    [GK_SMI_PER_PROCESS] = process_rows,
	    [GK_SMI_PER_ACCOUNT] = account_rows,
	    [GK_SMI_PER_PAGE] = page_rows,
	    [GK_SMI_PER_CLOCK] = clock_rows,
	};

	for (size_t i = 0; i < snap->device_count; i++) {
		struct gk_smi_at at = {
		    .snap = snap, .device = &snap->devices[i], .gpus = gpus};

		if (at.device->mig_index >= 0)
			continue;
		if (chosen->query->rows == GK_SMI_PER_GPU)
			add_query_row(out, &at, chosen, units);
		else
			rows[chosen->query->rows](out, &at, chosen, units);
	}
}

void gk_smi_query_help(struct gk_buf *out, const struct gk_smi_query *query,
		       unsigned level)
{
	gk_buf_printf(out, "What --%s= can ask for (%s):\n", query->option,
		      query->about);
	for (size_t i = 0; i < query->count; i++) {
		const struct gk_smi_field *field = &query->fields[i];
		const char *name = field_name(field, level);

		if (!gk_smi_fits(DRIVERS(field->when), level))
			continue;
		gk_buf_printf(out, "\n\"%s\"", name);
		if (field->other && name != field->other)
			gk_buf_printf(out, " or \"%s\"", field->other);
		gk_buf_printf(out, "\n%s.\n", field->help);
	}
	gk_buf_putc(out, '\n');
}
