/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - prints the table of GPUs and of processes. */
#include "format/smi/table.h"

#include "format/units.h"
#include "format/width.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Sizes of the buffers for a cell, and for one with two values. */
#define CELL      GK_UNITS_MAX
#define TWO_CELLS (2 * CELL + 4)

static const char line[] =
    "+-----------------------------------------------------------------------"
    "------------------+\n";
static const char gpu_line[] =
    "+-----------------------------------------+------------------------+----"
    "------------------+\n";
static const char mig_line[] =
    "+------------------+----------------------------------+-----------+-----"
    "------------------+\n";

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
 * Of a GPU that must be reset, some cells are N/A, not ERR!: a capture of an
 * A100 with driver 595.71.
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

static const char *format_mib(char dst[CELL], struct gk_value value)
{
	if (value.why)
		return missing_text(value.why);
	snprintf(dst, CELL, "%" PRId64 "MiB", gk_smi_to_mib(value.v));
	return dst;
}

/* Formats power and its limit. If both are N/A, they stand one column to the
 * left. */
static const char *format_power(char dst[TWO_CELLS], const struct gk_device *d)
{
	struct gk_value used = quiet(d->m[GK_M_POWER]),
			limit = quiet(d->m[GK_M_POWER_ENFORCED]);
	char a[CELL], b[CELL];
	const char *left = format_divided(a, used, 1000, "W"),
		   *right = format_divided(b, limit, 1000, "W");
	bool none = !strcmp(left, "N/A") && !strcmp(right, "N/A");

	snprintf(dst, TWO_CELLS, none ? "%13s  / %4s " : "%14s / %5s", left,
		 right);
	return dst;
}

/* Formats used and total memory. For GPUs that use the host's memory, both are
 * shown as absent. */
static const char *format_memory(char dst[TWO_CELLS], const struct gk_device *d)
{
	struct gk_value used = d->m[GK_M_MEM_USED],
			total = d->m[GK_M_MEM_TOTAL];
	char a[CELL], b[CELL];

	if (used.why == GK_ABSENT_NOT_SUPPORTED &&
	    total.why == GK_ABSENT_NOT_SUPPORTED)
		snprintf(dst, TWO_CELLS, " %-23s", "Not Supported");
	else
		snprintf(dst, TWO_CELLS, "%11s / %9s ", format_mib(a, used),
			 format_mib(b, total));
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

static void gpu_rows(struct gk_buf *out, const struct gk_device *d)
{
	static const char *const modes[] = {"Default", "E. Thread",
					    "Prohibited", "E. Process"};
	static const char *const mig_modes[] = {"Disabled", "Enabled"};
	char a[CELL], b[CELL], h[CELL], pstate[CELL];
	char memory[TWO_CELLS], power[TWO_CELLS];
	const struct gk_value *m = d->m;

	gk_buf_printf(out, "|%4u  ", d->index);
	gk_cell(out, known_text(d->name), 27, GK_LEFT, "...");
	gk_buf_printf(out, "%4s%-4s|   %-16s%4s | %20s |\n", "",
		      on_off(m[GK_M_PERSISTENCE]), known_text(d->bus_id),
		      on_off(quiet(m[GK_M_DISPLAY_ACTIVE])), format_ecc(a, d));
	snprintf(pstate, sizeof pstate, "P%" PRId64, m[GK_M_PSTATE].v);
	gk_buf_printf(out, "|%4s %5s    %-4s%s |%s|%8s %12s |\n",
		      format_divided(a, m[GK_M_FAN], 1, "%"),
		      format_divided(b, m[GK_M_TEMP], 1, "C"),
		      m[GK_M_PSTATE].why ? missing_text(m[GK_M_PSTATE].why)
					 : pstate,
		      format_power(power, d), format_memory(memory, d),
		      format_divided(h, quiet(m[GK_M_GPU_UTIL]), 1, "%"),
		      choose_word(m[GK_M_COMPUTE_MODE], modes, 4));
	gk_buf_printf(out, "|%41s|%24s| %20s |\n", "", "",
		      choose_word(m[GK_M_MIG_MODE], mig_modes, 2));
	gk_buf_puts(out, gpu_line);
}

static void mig_rows(struct gk_buf *out, const struct gk_device *d)
{
	char a[CELL], b[CELL], c[CELL], e[CELL], f[CELL], g[CELL], h[CELL];
	const struct gk_value *m = d->m;

	gk_buf_printf(out, "|%3u%5d%4d%4d  |%19s / %8s    |", d->index,
		      d->gpu_instance, d->compute_instance, d->mig_index,
		      format_mib(a, m[GK_M_MEM_USED]),
		      format_mib(b, m[GK_M_MEM_TOTAL]));
	gk_buf_printf(out, "%3s%7s |%3s%4s%5s%5s%5s |\n",
		      format_divided(a, m[GK_M_MIG_SMS], 1, ""),
		      format_divided(b, m[GK_M_ECC_VOL_U_SRAM], 1, ""),
		      format_divided(c, m[GK_M_MIG_COPIES], 1, ""),
		      format_divided(e, m[GK_M_MIG_ENCODERS], 1, ""),
		      format_divided(f, m[GK_M_MIG_DECODERS], 1, ""),
		      format_divided(g, m[GK_M_MIG_OFAS], 1, ""),
		      format_divided(h, m[GK_M_MIG_JPEGS], 1, ""));
	gk_buf_printf(out, "|%18s|%19s / %8s    |%11s|%23s|\n", "",
		      format_mib(a, m[GK_M_BAR1_USED]),
		      format_mib(b, m[GK_M_BAR1_TOTAL]), "", "");
	gk_buf_puts(out, mig_line);
}

static void mig_table(struct gk_buf *out, const struct gk_snapshot *snap)
{
	bool enabled = false, any = false;

	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_value mode = snap->devices[i].m[GK_M_MIG_MODE];

		enabled |=
		    snap->devices[i].mig_index < 0 && !mode.why && mode.v;
		any |= snap->devices[i].mig_index >= 0;
	}
	if (!enabled)
		return;
	gk_buf_printf(out, "\n%s| %-87s |\n", line, "MIG devices:");
	gk_buf_puts(out, mig_line);
	gk_buf_puts(
	    out,
	    "| GPU  GI  CI  MIG |              Shared Memory-Usage |        "
	    "Vol|        Shared         |\n"
	    "|      ID  ID  Dev |                Shared BAR1-Usage | SM     "
	    "Unc| CE ENC  DEC  OFA  JPG |\n"
	    "|                  |                                  |        "
	    "ECC|                       |\n"
	    "|==================+==================================+==========="
	    "+=======================|\n");
	for (size_t i = 0; i < snap->device_count; i++)
		if (snap->devices[i].mig_index >= 0)
			mig_rows(out, &snap->devices[i]);
	if (!any)
		gk_buf_printf(out, "| %-87s |\n%s", " No MIG devices found",
			      line);
}

/* Width of a process's name in columns. */
enum { NAME = 36 };

static void process_row(struct gk_buf *out, const struct gk_snapshot *snap,
			const struct gk_process *p)
{
	const struct gk_device *d = &snap->devices[p->device];
	char gi[CELL] = "N/A", ci[CELL] = "N/A", used[CELL];
	struct gk_buf name = {0};

	if (d->gpu_instance >= 0)
		gk_number(gi, d->gpu_instance, GK_UNIT_NONE);
	if (d->compute_instance >= 0)
		gk_number(ci, d->compute_instance, GK_UNIT_NONE);
	gk_smi_process_name(&name, p);
	gk_buf_printf(out, "|%5u%6s%5s%16d%7s   ", d->index, gi, ci,
		      (int)p->pid, gk_smi_process_type(p));
	gk_cell_tail(out, name.data ? name.data : "", NAME, "...");
	gk_buf_printf(out, "%10s |\n", format_mib(used, p->m[GK_PM_GPU_MEM]));
	out->failed |= name.failed;
	gk_buf_free(&name);
}

static void process_table(struct gk_buf *out, const struct gk_snapshot *snap)
{
	gk_buf_printf(out, "\n%s| %-87s |\n", line, "Processes:");
	gk_buf_puts(out,
		    "|  GPU   GI   CI              PID   Type   Process name"
		    "                        GPU Memory |\n"
		    "|        ID   ID                                       "
		    "                        Usage      |\n"
		    "|====================================================="
		    "====================================|\n");
	for (size_t i = 0; i < snap->process_count; i++)
		process_row(out, snap, &snap->processes[i]);
	if (!snap->process_count)
		gk_buf_printf(out, "| %-87s |\n",
			      " No running processes found");
	gk_buf_puts(out, line);
}

static void put_table_head(struct gk_buf *out, const struct gk_snapshot *snap)
{
	const char *driver = snap->driver_version;
	char date[32], cuda[GK_UNITS_MAX];

	gk_smi_date(date, snap->wall_ns);
	gk_cuda_version(cuda, snap->cuda_version);
	gk_buf_printf(out, "%s       \n%s", date, line);
	if (gk_smi_major(snap) >= 610)
		gk_buf_printf(out,
			      "| NVIDIA-SMI %-23sKMD Version: %-14sCUDA UMD "
			      "Version: %-9s|\n",
			      driver, driver, cuda);
	else
		gk_buf_printf(out,
			      "| NVIDIA-SMI %-23sDriver Version: %-15sCUDA "
			      "Version: %-9s|\n",
			      driver, driver, cuda);
	gk_buf_puts(out, gpu_line);
	gk_buf_puts(
	    out, "| GPU  Name                 Persistence-M | Bus-Id          "
		 "Disp.A | Volatile Uncorr. ECC |\n"
		 "| Fan  Temp   Perf          Pwr:Usage/Cap |           "
		 "Memory-Usage | GPU-Util  Compute M. |\n"
		 "|                                         |                  "
		 "      |               MIG M. |\n"
		 "|=========================================+=================="
		 "======+======================|\n");
}

void gk_smi_table(struct gk_buf *out, const struct gk_snapshot *snap)
{
	put_table_head(out, snap);
	for (size_t i = 0; i < snap->device_count; i++)
		if (snap->devices[i].mig_index < 0)
			gpu_rows(out, &snap->devices[i]);
	mig_table(out, snap);
	process_table(out, snap);
}
