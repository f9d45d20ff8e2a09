/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - prints the table of GPUs and of processes. */
#include "format/smi/table.h"
#include "format/smi/table_form.h"

#include "format/units.h"
#include "format/width.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Sizes of the buffers for a cell, and for one with two values. */
#define CELL      GK_UNITS_MAX
#define TWO_CELLS (2 * CELL + 4)

/* A table being added, and its layout. */
struct paper {
	struct gk_buf *out;
	const struct gk_snapshot *snap;
	const struct gk_smi_table_form *form;
};

/*
 * Adds a line between rows. `of` has four characters: the left edge, the fill
 * of the cells, the joint between cells, the right edge.
 */
static void rule(const struct paper *p, const gk_smi_cells cells,
		 const char *of)
{
	gk_buf_putc(p->out, of[0]);
	for (int i = 0; cells[i]; i++) {
		gk_buf_pad(p->out, of[1], (size_t)cells[i]);
		gk_buf_putc(p->out, of[cells[i + 1] ? 2 : 3]);
	}
	gk_buf_putc(p->out, '\n');
}

static void line(const struct paper *p)
{
	rule(p, p->form->whole, "+--+");
}

/* Adds a row with one text, such as the name of a table. */
static void text_line(const struct paper *p, const char *text)
{
	gk_buf_printf(p->out, "| %-*s |\n", p->form->whole[0] - 2, text);
}

static const enum gk_metric shown[] = {
    GK_M_PERSISTENCE,
    GK_M_DISPLAY_ACTIVE,
    GK_M_ECC_MODE,
    GK_M_ECC_UNCORRECTED,
    GK_M_FAN,
    GK_M_TEMP,
    GK_M_PSTATE,
    GK_M_POWER,
    GK_M_POWER_ENFORCED,
    GK_M_MEM_USED,
    GK_M_MEM_TOTAL,
    GK_M_GPU_UTIL,
    GK_M_COMPUTE_MODE,
    GK_M_MIG_MODE,
    GK_M_BAR1_USED,
    GK_M_BAR1_TOTAL,
    GK_M_MIG_SMS,
    GK_M_MIG_COPIES,
    GK_M_MIG_ENCODERS,
    GK_M_MIG_DECODERS,
    GK_M_MIG_OFAS,
    GK_M_MIG_JPEGS,
    GK_M_ECC_VOL_U_SRAM,
};

void gk_smi_table_wanted(struct gk_metric_set *set)
{
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
		gk_metric_set_add(set, shown[i]);
}

/*
 * Returns the text for an absent value: "ERR!" if the absence is an error, else
 * "N/A".
 */
static const char *missing_text(enum gk_absence why)
{
	bool broken = why == GK_ABSENT_LOST || why == GK_ABSENT_ERROR ||
		      why == GK_ABSENT_RESET || why == GK_ABSENT_TIMEOUT ||
		      why == GK_ABSENT_NONSENSE;

	return broken ? "ERR!" : "N/A";
}

/*
 * For a GPU that must be reset, some cells show N/A rather than ERR!. Source: a
 * capture of an A100 with driver 595.71.
 */
static struct gk_value quiet(struct gk_value value)
{
	if (value.why == GK_ABSENT_RESET)
		value.why = GK_ABSENT_NOT_SUPPORTED;
	return value;
}

/* Formats value / divisor and its unit. */
static const char *format_divided(char dst[CELL], struct gk_value value,
				  int64_t divisor, const char *unit)
{
	if (value.why)
		return missing_text(value.why);
	snprintf(dst, CELL, "%" PRId64 "%s", value.v / divisor, unit);
	return dst;
}

static const char *format_mib(char dst[CELL], const struct paper *p,
			      struct gk_value value)
{
	if (value.why)
		return missing_text(value.why);
	snprintf(dst, CELL, "%" PRId64 "MiB", gk_smi_to_mib(p->snap, value.v));
	return dst;
}

/*
 * Formats power and its limit. In the widest layout, if both are N/A, they are
 * shifted one column to the left.
 */
static const char *format_power(char dst[TWO_CELLS], const struct paper *p,
				const struct gk_device *d)
{
	const struct gk_smi_table_form *f = p->form;
	struct gk_value used = quiet(d->m[GK_M_POWER]),
			limit = quiet(d->m[GK_M_POWER_ENFORCED]);
	char a[CELL], b[CELL];
	const char *left = format_divided(a, used, 1000, "W"),
		   *right = format_divided(b, limit, 1000, "W");
	int shift =
	    f->limit == 5 && !strcmp(left, "N/A") && !strcmp(right, "N/A");

	snprintf(dst, TWO_CELLS, "%*s%*s / %*s%*s", f->power - shift, left,
		 shift, "", f->limit - shift, right, f->after_limit + shift,
		 "");
	return dst;
}

/* Formats used and total memory. For GPUs that use the host's memory, both are
 * shown as absent. */
static const char *format_memory(char dst[TWO_CELLS], const struct paper *p,
				 const struct gk_device *d)
{
	struct gk_value used = d->m[GK_M_MEM_USED],
			total = d->m[GK_M_MEM_TOTAL];
	char a[CELL], b[CELL];

	if (used.why == GK_ABSENT_NOT_SUPPORTED &&
	    total.why == GK_ABSENT_NOT_SUPPORTED)
		snprintf(dst, TWO_CELLS, " %-*s", p->form->gpu[1] - 1,
			 "Not Supported");
	else
		snprintf(dst, TWO_CELLS, "%*s / %*s ", p->form->used,
			 format_mib(a, p, used), p->form->total,
			 format_mib(b, p, total));
	return dst;
}

static const char *choose_word(struct gk_value value, const char *const words[],
			       int64_t count)
{
	if (value.why)
		return missing_text(value.why);
	return value.v >= 0 && value.v < count ? words[value.v] : "ERR!";
}

static const char *on_off(struct gk_value value)
{
	static const char *const words[] = {"Off", "On"};

	return choose_word(value, words, 2);
}

/*
 * Shows the number of uncorrected errors. If MIG is on or ECC is off, shows
 * "On" or "Off" for ECC instead.
 */
static const char *format_ecc(char dst[CELL], const struct gk_device *d)
{
	struct gk_value mode = quiet(d->m[GK_M_ECC_MODE]);

	if (d->m[GK_M_MIG_MODE].v && !d->m[GK_M_MIG_MODE].why)
		return on_off(mode);
	if (mode.why || !mode.v)
		return on_off(mode);
	return format_divided(dst, d->m[GK_M_ECC_UNCORRECTED], 1, "");
}

/* Returns a GPU's text, or "ERR!" if it is unknown. */
static const char *known_text(const char *text)
{
	return *text ? text : "ERR!";
}

/* Adds a GPU's name, persistence mode, PCI address, display and errors. */
static void first_row(const struct paper *p, const struct gk_device *d)
{
	const struct gk_smi_table_form *f = p->form;
	const struct gk_value *m = d->m;
	char errors[CELL];

	gk_buf_printf(p->out, "|%4u  ", d->index);
	gk_cell(p->out, known_text(d->name), (size_t)f->name, GK_LEFT, "...");
	gk_buf_printf(p->out, "%*s%*s%*s|%*s%-16s%4s | %20s |\n", f->gap, "",
		      f->persistence, on_off(m[GK_M_PERSISTENCE]), f->after, "",
		      f->place, "", known_text(d->bus_id),
		      on_off(quiet(m[GK_M_DISPLAY_ACTIVE])),
		      format_ecc(errors, d));
}

/*
 * Adds the GPU's current state: fan, temperature, power, memory, utilisation.
 */
static void second_row(const struct paper *p, const struct gk_device *d)
{
	static const char *const modes[] = {"Default", "E. Thread",
					    "Prohibited", "E. Process"};
	char fan[CELL], temp[CELL], util[CELL], pstate[CELL];
	char memory[TWO_CELLS], power[TWO_CELLS];
	const struct gk_value *m = d->m;

	snprintf(pstate, sizeof pstate, "P%" PRId64, m[GK_M_PSTATE].v);
	gk_buf_printf(p->out, "|%4s %5s    %-4s%s|%s|%8s %12s |\n",
		      format_divided(fan, m[GK_M_FAN], 1, "%"),
		      format_divided(temp, m[GK_M_TEMP], 1, "C"),
		      m[GK_M_PSTATE].why ? missing_text(m[GK_M_PSTATE].why)
					 : pstate,
		      format_power(power, p, d), format_memory(memory, p, d),
		      format_divided(util, quiet(m[GK_M_GPU_UTIL]), 1, "%"),
		      choose_word(m[GK_M_COMPUTE_MODE], modes, 4));
}

static void gpu_rows(const struct paper *p, const struct gk_device *d)
{
	static const char *const mig_modes[] = {"Disabled", "Enabled"};

	first_row(p, d);
	second_row(p, d);
	gk_buf_printf(p->out, "|%*s|%*s| %20s |\n", p->form->gpu[0], "",
		      p->form->gpu[1], "",
		      choose_word(d->m[GK_M_MIG_MODE], mig_modes, 2));
	rule(p, p->form->gpu, "+-++");
}

static void mig_rows(const struct paper *p, const struct gk_device *d)
{
	char a[CELL], b[CELL], c[CELL], e[CELL], f[CELL], g[CELL], h[CELL];
	const struct gk_smi_table_form *form = p->form;
	const struct gk_value *m = d->m;

	gk_buf_printf(p->out, "|%3u%5d%4d%4d  |%*s / %8s%*s|", d->index,
		      d->gpu_instance, d->compute_instance, d->mig_index,
		      form->mig_used, format_mib(a, p, m[GK_M_MEM_USED]),
		      format_mib(b, p, m[GK_M_MEM_TOTAL]), form->mig_after, "");
	gk_buf_printf(p->out, "%3s%7s |%3s%4s%5s%5s%5s |\n",
		      format_divided(a, m[GK_M_MIG_SMS], 1, ""),
		      format_divided(b, m[GK_M_ECC_VOL_U_SRAM], 1, ""),
		      format_divided(c, m[GK_M_MIG_COPIES], 1, ""),
		      format_divided(e, m[GK_M_MIG_ENCODERS], 1, ""),
		      format_divided(f, m[GK_M_MIG_DECODERS], 1, ""),
		      format_divided(g, m[GK_M_MIG_OFAS], 1, ""),
		      format_divided(h, m[GK_M_MIG_JPEGS], 1, ""));
	gk_buf_printf(p->out, "|%18s|%*s / %8s%*s|%11s|%23s|\n", "",
		      form->bar1_used, format_mib(a, p, m[GK_M_BAR1_USED]),
		      format_mib(b, p, m[GK_M_BAR1_TOTAL]), form->bar1_after,
		      "", "", "");
	rule(p, form->mig, "+-++");
}

static void mig_table(const struct paper *p)
{
	const struct gk_snapshot *snap = p->snap;
	bool enabled = false, any = false;

	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_value mode = snap->devices[i].m[GK_M_MIG_MODE];

		enabled |=
		    snap->devices[i].mig_index < 0 && !mode.why && mode.v;
		any |= snap->devices[i].mig_index >= 0;
	}
	if (!enabled)
		return;
	gk_buf_putc(p->out, '\n');
	line(p);
	text_line(p, "MIG devices:");
	rule(p, p->form->mig, "+-++");
	gk_buf_puts(p->out, p->form->mig_heads);
	rule(p, p->form->mig, "|=+|");
	for (size_t i = 0; i < snap->device_count; i++)
		if (snap->devices[i].mig_index >= 0)
			mig_rows(p, &snap->devices[i]);
	if (any)
		return;
	text_line(p, " No MIG devices found");
	line(p);
}

/*
 * Formats the instance ids of a process. N/A is shifted one column to the
 * right.
 */
static void format_instances(char dst[TWO_CELLS], const struct gk_device *d)
{
	char gi[CELL], ci[CELL];

	if (d->gpu_instance < 0 || d->compute_instance < 0) {
		gk_str_copy(dst, TWO_CELLS, "   N/A  N/A");
		return;
	}
	gk_number(gi, d->gpu_instance, GK_UNIT_NONE);
	gk_number(ci, d->compute_instance, GK_UNIT_NONE);
	snprintf(dst, TWO_CELLS, "%5s%5s ", gi, ci);
}

static void process_row(const struct paper *p, const struct gk_process *process)
{
	const struct gk_device *d = &p->snap->devices[process->device];
	const struct gk_smi_table_form *f = p->form;
	char instances[TWO_CELLS], used[CELL];
	struct gk_buf name = {0};

	format_instances(instances, d);
	gk_smi_process_name(&name, process);
	gk_buf_printf(p->out, "|%5u%s%*d%7s   ", d->index, instances, f->pid,
		      (int)process->pid, gk_smi_process_type(process));
	gk_cell_tail(p->out, name.data ? name.data : "", (size_t)f->process,
		     "...");
	gk_buf_printf(p->out, "%*s |\n", f->process_memory,
		      format_mib(used, p, process->m[GK_PM_GPU_MEM]));
	p->out->failed |= name.failed;
	gk_buf_free(&name);
}

static void process_table(const struct paper *p)
{
	gk_buf_pad(p->out, ' ', (size_t)p->form->blanks);
	gk_buf_putc(p->out, '\n');
	line(p);
	text_line(p, "Processes:");
	gk_buf_puts(p->out, p->form->process_heads);
	rule(p, p->form->whole, "|==|");
	for (size_t i = 0; i < p->snap->process_count; i++)
		process_row(p, &p->snap->processes[i]);
	if (!p->snap->process_count)
		text_line(p, " No running processes found");
	line(p);
}

static void put_table_head(const struct paper *p)
{
	const char *driver = p->snap->driver_version;
	const struct gk_smi_table_form *f = p->form;
	char date[32], cuda[GK_UNITS_MAX];

	gk_smi_date(date, p->snap->wall_ns);
	gk_cuda_version(cuda, p->snap->cuda_version);
	gk_buf_printf(p->out, "%s       \n", date);
	line(p);
	gk_buf_printf(p->out, "| NVIDIA-SMI %-*s %s: %-*s %s: %-*s |\n", f->smi,
		      driver, f->driver_label, f->driver, driver, f->cuda_label,
		      f->cuda, cuda);
	rule(p, f->gpu, f->old_rule ? "|-++" : "+-++");
	gk_buf_puts(p->out, f->heads);
	rule(p, f->gpu, "|=+|");
}

void gk_smi_table(struct gk_buf *out, const struct gk_snapshot *snap)
{
	const struct paper p = {out, snap,
				gk_smi_table_form(gk_smi_level(snap))};

	put_table_head(&p);
	for (size_t i = 0; i < snap->device_count; i++)
		if (snap->devices[i].mig_index < 0)
			gpu_rows(&p, &snap->devices[i]);
	mig_table(&p);
	process_table(&p);
}
