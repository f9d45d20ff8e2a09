/* SPDX-License-Identifier: Apache-2.0 */
/* log_lists.c - prints the processes, clocks and samples of -q. */
#include "format/smi/log_lists.h"

#include "format/smi/log.h"
#include "format/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* With all drivers, the lines of a process have their colon in this column. */
enum { PROCESS_COLUMN = 42 };

static void add_key(struct gk_buf *out, int depth, const char *label,
		    int column)
{
	gk_buf_printf(out, "%*s%-*s: ", depth * GK_SMI_STEP, "",
		      column - depth * GK_SMI_STEP, label);
}

void gk_smi_key(struct gk_buf *out, const struct gk_snapshot *snap, int depth,
		const char *label)
{
	add_key(out, depth, label, gk_smi_form(gk_smi_level(snap))->key);
}

void gk_smi_tabs(struct gk_buf *out, int depth)
{
	gk_buf_pad(out, '\t', (size_t)depth + 1);
}

void gk_smi_escape(struct gk_buf *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			gk_buf_puts(out, "&amp;");
			break;
		case '<':
			gk_buf_puts(out, "&lt;");
			break;
		case '>':
			gk_buf_puts(out, "&gt;");
			break;
		default:
			gk_buf_putc(out, *text);
		}
}

void gk_smi_element(struct gk_buf *out, int depth, const char *name,
		    const char *value)
{
	gk_smi_tabs(out, depth);
	gk_buf_printf(out, "<%s>", name);
	gk_smi_escape(out, value);
	gk_buf_printf(out, "</%s>\n", name);
}

/* Adds one line about a process or, in XML, its element. */
static void put_process_line(struct gk_buf *out, int depth, const char *label,
			     const char *name, const char *value, bool xml)
{
	if (xml) {
		gk_smi_element(out, 3, name, value);
		return;
	}
	add_key(out, depth, label, PROCESS_COLUMN);
	gk_buf_printf(out, "%s\n", value);
}

static void put_log_process(struct gk_buf *out, const struct gk_snapshot *snap,
			    const struct gk_process *p, bool xml)
{
	const struct gk_device *d = &snap->devices[p->device];
	struct gk_buf text = {0}, name = {0};
	char gi[GK_UNITS_MAX] = "N/A", ci[GK_UNITS_MAX] = "N/A";
	char pid[GK_UNITS_MAX], memory[GK_UNITS_MAX] = "N/A";
	struct gk_value used = p->m[GK_PM_GPU_MEM];

	if (d->gpu_instance >= 0)
		gk_number(gi, d->gpu_instance, GK_UNIT_NONE);
	if (d->compute_instance >= 0)
		gk_number(ci, d->compute_instance, GK_UNIT_NONE);
	gk_number(pid, p->pid, GK_UNIT_NONE);
	if (!used.why)
		gk_buf_printf(&text, "%" PRId64 " MiB",
			      gk_smi_to_mib(snap, used.v));
	if (text.data)
		gk_str_copy(memory, sizeof memory, text.data);
	gk_smi_process_name(&name, p);
	gk_buf_puts(out, xml ? "\t\t\t<process_info>\n" : "");
	put_process_line(out, 2, "GPU instance ID", "gpu_instance_id", gi, xml);
	put_process_line(out, 2, "Compute instance ID", "compute_instance_id",
			 ci, xml);
	put_process_line(out, 2, "Process ID", "pid", pid, xml);
	put_process_line(out, 3, "Type", "type", gk_smi_process_type(p), xml);
	put_process_line(out, 3, "Name", "process_name",
			 name.data ? name.data : "", xml);
	put_process_line(out, 3, "Used GPU Memory", "used_memory", memory, xml);
	gk_buf_puts(out, xml ? "\t\t\t</process_info>\n" : "");
	out->failed |= text.failed | name.failed;
	gk_buf_free(&text);
	gk_buf_free(&name);
}

void gk_smi_log_processes(struct gk_buf *out, const struct gk_smi_at *at,
			  bool xml)
{
	const struct gk_snapshot *snap = at->snap;
	bool any = false;

	if (xml)
		gk_buf_puts(out, "\t\t<processes>\n");
	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];

		if (snap->devices[p->device].index != at->device->index)
			continue;
		if (!any && !xml)
			gk_buf_puts(out, "    Processes\n");
		put_log_process(out, snap, p, xml);
		any = true;
	}
	if (xml) {
		gk_buf_puts(out, "\t\t</processes>\n");
	} else if (!any) {
		gk_smi_key(out, snap, 1, "Processes");
		gk_buf_puts(out, "None\n");
	}
}

static void clock_line(struct gk_buf *out, const struct gk_snapshot *snap,
		       int depth, const char *label, const char *name,
		       unsigned mhz, bool xml)
{
	char text[GK_UNITS_MAX];

	snprintf(text, sizeof text, "%u MHz", mhz);
	if (xml) {
		gk_smi_element(out, 3, name, text);
		return;
	}
	gk_smi_key(out, snap, depth, label);
	gk_buf_printf(out, "%s\n", text);
}

static void put_unsupported_clocks(struct gk_buf *out,
				   const struct gk_snapshot *snap, bool xml)
{
	if (xml) {
		gk_smi_element(out, 2, "supported_clocks", "N/A");
		return;
	}
	gk_smi_key(out, snap, 1, "Supported Clocks");
	gk_buf_puts(out, "N/A\n");
}

/* Adds the memory clocks, each followed by its graphics clocks. */
void gk_smi_log_supported_clocks(struct gk_buf *out, const struct gk_smi_at *at,
				 bool xml)
{
	const struct gk_detail *detail = at->device->detail;
	size_t count = detail ? detail->clock_count : 0;

	if (!count) {
		put_unsupported_clocks(out, at->snap, xml);
		return;
	}
	gk_buf_puts(out, xml ? "\t\t<supported_clocks>\n"
			     : "    Supported Clocks\n");
	for (size_t i = 0; i < count; i++) {
		const struct gk_clock *clock = &detail->clocks[i];
		bool first = !i || clock[-1].memory_mhz != clock->memory_mhz;

		if (first && xml)
			gk_buf_printf(out, "%s\t\t\t<supported_mem_clock>\n",
				      i ? "\t\t\t</supported_mem_clock>\n"
					: "");
		if (first)
			clock_line(out, at->snap, 2, "Memory", "value",
				   clock->memory_mhz, xml);
		clock_line(out, at->snap, 3, "Graphics",
			   "supported_graphics_clock", clock->graphics_mhz,
			   xml);
	}
	if (xml)
		gk_buf_printf(out, "%s\t\t</supported_clocks>\n",
			      "\t\t\t</supported_mem_clock>\n");
}

/*
 * Adds a group with the driver's last samples; the duration and the values have
 * units.
 */
static void add_samples(struct gk_buf *out, const struct gk_smi_at *at,
			enum gk_sampled kind, const char *label, int64_t scale,
			int decimals, const char *unit)
{
	static const struct gk_samples none = {.why = GK_ABSENT_NOT_READ};
	const struct gk_detail *detail = at->device->detail;
	const struct gk_samples *s = detail ? &detail->samples[kind] : &none;
	const char *why =
	    s->why == GK_ABSENT_NONE ? "Not Found" : gk_smi_absent_bare(s->why);
	const struct {
		const char *label;
		double value;
		int decimals;
		const char *unit;
	} lines[] = {
	    {"Duration", (double)s->duration_ns / 1e9, 2, " sec"},
	    {"Number of Samples", s->count, 0, ""},
	    {"Max", (double)s->max / (double)scale, decimals, unit},
	    {"Min", (double)s->min / (double)scale, decimals, unit},
	    {"Avg", (double)s->avg / (double)scale, decimals, unit},
	};

	gk_buf_printf(out, "    %s\n", label);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		gk_smi_key(out, at->snap, 2, lines[i].label);
		if (s->why)
			gk_buf_printf(out, "%s\n", why);
		else
			gk_buf_printf(out, "%.*f%s\n", lines[i].decimals,
				      lines[i].value, lines[i].unit);
	}
}

/*
 * Adds the list of accounts as XML. The list is empty in all captures, so the
 * form of its entries is not known.
 */
void gk_smi_log_accounted(struct gk_buf *out, const struct gk_smi_at *at,
			  bool xml)
{
	(void)at;
	if (xml)
		gk_buf_puts(out, "\t\t<accounted_processes>\n"
				 "\t\t</accounted_processes>\n");
}

/* nvidia-smi's XML does not contain samples. */
void gk_smi_log_power_samples(struct gk_buf *out, const struct gk_smi_at *at,
			      bool xml)
{
	if (!xml)
		add_samples(out, at, GK_SAMPLED_POWER, "Power Samples", 1000, 2,
			    " W");
}

void gk_smi_log_utilization_samples(struct gk_buf *out,
				    const struct gk_smi_at *at, bool xml)
{
	static const char *const labels[] = {
	    "GPU Utilization Samples", "Memory Utilization Samples",
	    "ENC Utilization Samples", "DEC Utilization Samples"};

	for (int i = 0; !xml && i < 4; i++)
		add_samples(out, at, (enum gk_sampled)(GK_SAMPLED_GPU + i),
			    labels[i], 1, 0, " %");
}

void gk_smi_log_clock_samples(struct gk_buf *out, const struct gk_smi_at *at,
			      bool xml)
{
	if (xml)
		return;
	add_samples(out, at, GK_SAMPLED_SM_CLOCK, "SM Clock Samples", 1000000,
		    0, " MHz");
	add_samples(out, at, GK_SAMPLED_MEMORY_CLOCK, "Memory Clock Samples",
		    1000000, 0, " MHz");
}
