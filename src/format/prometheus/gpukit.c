/* SPDX-License-Identifier: Apache-2.0 */
/* gpukit.c - formats a snapshot with gpukit's own names. */
#include "format/prometheus/prometheus_part.h"

#include "format/names.h"
#include "format/state.h"
#include "format/units.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "gpukit_"

struct row {
	enum gk_metric metric;
	const char *name, *labels, *help; /* name NULL: see rule_name() */
};

static const struct row rows[] = {
#define PROM(id)                        {GK_M_##id, NULL, "", NULL},
#define PROM_AS(id, name, labels, help) {GK_M_##id, name, labels, help},
#include "format/prometheus/prometheus.def"
#undef PROM
#undef PROM_AS
};
#define ROWS (sizeof rows / sizeof *rows)

/* Bits of nvmlClocksEventReasons. */
static const struct {
	int64_t bit;
	const char *label;
} reasons[] = {
    {0x1, "reason=\"idle\""},
    {0x2, "reason=\"applications_clocks\""},
    {0x4, "reason=\"power_limit\""},
    {0x8, "reason=\"hardware_slowdown\""},
    {0x10, "reason=\"sync_boost\""},
    {0x20, "reason=\"software_thermal\""},
    {0x40, "reason=\"hardware_thermal\""},
    {0x80, "reason=\"power_brake\""},
    {0x100, "reason=\"display_clocks\""},
};

/* ---- names ---- */

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), tail = strlen(end);

	return len >= tail && !strcmp(text + len - tail, end);
}

/* Derives the exported name of a metric by rule. dst must have GK_NAME_MAX
 * bytes. */
static void rule_name(char *dst, const struct gk_metric_info *info)
{
	static const char percent[] = "_percent";
	int len = (int)strlen(info->name);
	bool ratio = ends_in(info->name, percent);

	if (ratio)
		len -= (int)sizeof percent - 1;
	snprintf(dst, GK_NAME_MAX, "%.*s%s%s", len, info->name,
		 ratio ? "_ratio" : "",
		 info->kind == GK_KIND_COUNTER && !ends_in(info->name, "_total")
		     ? "_total"
		     : "");
}

/*
 * Writes to dst the unit at the end of a name, and returns dst. Returns NULL if
 * the name has no unit.
 */
static const char *unit_in_name(char *dst, const char *name, enum gk_unit unit)
{
	const char *base = gk_base_unit(unit);
	char end[GK_NAME_MAX];

	for (int i = 0; base && i < 2; i++) {
		snprintf(dst, GK_UNITS_MAX, i ? "%s_per_second" : "%s", base);
		snprintf(end, sizeof end, "_%s", dst);
		if (ends_in(name, end))
			return dst;
		snprintf(end, sizeof end, "_%s_total", dst);
		if (ends_in(name, end))
			return dst;
	}
	return NULL;
}

/* ---- devices ---- */

static void own_labels(const struct gk_rendering *r, const struct gk_device *d,
		       struct gk_buf *out)
{
	char label[GK_NAME_MAX];

	(void)r;
	gk_label(out, "gpu", gk_device_label(label, d));
	gk_label(out, "uuid", d->uuid);
}

static void add_row(struct gk_rendering *r, const struct row *row)
{
	const struct gk_metric_info *info = &gk_metrics[row->metric];
	char ruled[GK_NAME_MAX], unit[GK_UNITS_MAX], digits[GK_UNITS_MAX];
	struct gk_family f = {
	    .prefix = PREFIX,
	    .name = row->name ? row->name : ruled,
	    .type = info->kind == GK_KIND_COUNTER ? GK_FAMILY_COUNTER
						  : GK_FAMILY_GAUGE,
	    .help = row->help ? row->help : info->help,
	};

	if (!row->name)
		rule_name(ruled, info);
	f.unit = unit_in_name(unit, f.name, info->unit);
	for (size_t i = 0; i < r->snap->device_count; i++) {
		const struct gk_value *v = &r->snap->devices[i].m[row->metric];

		if (!v->why)
			gk_exposition_sample(
			    &r->text, &f, r->device_labels[i].data, row->labels,
			    gk_base_number(digits, v->v, info->unit));
	}
}

static bool in_table(enum gk_metric metric)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].metric == metric)
			return true;
	return metric == GK_M_THROTTLE;
}

static void add_rows(struct gk_rendering *r)
{
	for (size_t i = 0; i < ROWS; i++)
		add_row(r, &rows[i]);
	for (int i = 0; r->options->all && i < GK_M_COUNT; i++)
		if (!in_table((enum gk_metric)i))
			add_row(r, &(struct row){.metric = (enum gk_metric)i,
						 .labels = ""});
}

static void add_reasons(struct gk_rendering *r)
{
	static const struct gk_family f = {
	    PREFIX, "clocks_event_reason_active", GK_FAMILY_GAUGE, NULL,
	    "1 = this reason holds the clocks down now"};

	for (size_t i = 0; i < r->snap->device_count; i++) {
		struct gk_value v = r->snap->devices[i].m[GK_M_THROTTLE];

		for (size_t k = 0;
		     !v.why && k < sizeof reasons / sizeof *reasons; k++)
			gk_exposition_sample(
			    &r->text, &f, r->device_labels[i].data,
			    reasons[k].label, v.v & reasons[k].bit ? "1" : "0");
	}
}

/*
 * The list of Xids is known whenever Xids are counted. If none has occurred, it
 * is empty.
 */
static void add_xids(struct gk_rendering *r)
{
	static const struct gk_family f = {
	    PREFIX, "xid_errors_by_number_total", GK_FAMILY_COUNTER, NULL,
	    "Xid errors by number since this program "
	    "began to listen"};

	for (size_t i = 0; i < r->snap->device_count; i++) {
		const struct gk_xids *xids = r->snap->devices[i].xids;

		for (size_t k = 0; xids && k < xids->kind_count; k++) {
			const struct gk_xid_count *kind = &xids->kinds[k];
			char label[32] = "xid=\"other\"", digits[GK_UNITS_MAX];

			if (kind->number)
				snprintf(label, sizeof label, "xid=\"%u\"",
					 kind->number);
			gk_exposition_sample(
			    &r->text, &f, r->device_labels[i].data, label,
			    gk_number(digits, (int64_t)kind->count,
				      GK_UNIT_NONE));
		}
	}
}

static void add_info(struct gk_rendering *r)
{
	static const struct gk_family f = {PREFIX, "device_info",
					   GK_FAMILY_INFO, NULL,
					   "identity of a device; always 1"};

	for (size_t i = 0; i < r->snap->device_count; i++) {
		const struct gk_device *d = &r->snap->devices[i];
		struct gk_buf more = {0};

		gk_label(&more, "name", d->name);
		gk_label(&more, "bus_id", d->bus_id);
		gk_label(&more, "serial", d->serial);
		gk_label(&more, "vbios_version", d->vbios);
		gk_label(&more, "parent_uuid",
			 d->parent < 0 ? "" : r->snap->devices[d->parent].uuid);
		if (!more.failed)
			gk_exposition_sample(&r->text, &f,
					     r->device_labels[i].data,
					     more.data, "1");
		gk_buf_free(&more);
	}
}

static void add_health(struct gk_rendering *r)
{
	static const struct gk_family up = {
	    PREFIX, "device_up", GK_FAMILY_GAUGE, NULL,
	    "1 = the device answers, 0 = it is lost, hangs or has failed"};
	static const struct gk_family age = {
	    PREFIX, "device_age_seconds", GK_FAMILY_GAUGE, "seconds",
	    "time since the last answer of the device"};

	for (size_t i = 0; i < r->snap->device_count; i++)
		gk_exposition_sample(
		    &r->text, &up, r->device_labels[i].data, "",
		    r->snap->devices[i].health == GK_HEALTH_OK ? "1" : "0");
	for (size_t i = 0; i < r->snap->device_count; i++) {
		uint64_t ns =
		    gk_device_age(r->snap, &r->snap->devices[i], GK_TIER_FAST);
		char digits[GK_UNITS_MAX];

		if (ns != UINT64_MAX)
			gk_exposition_sample(
			    &r->text, &age, r->device_labels[i].data, "",
			    gk_number(digits, (int64_t)ns, GK_UNIT_NANOSECOND));
	}
}

static void add_state(struct gk_rendering *r)
{
	static const struct gk_family f = {
	    PREFIX, "device_state", GK_FAMILY_GAUGE, NULL,
	    "worst known condition of a device: "
	    "fault = it must be reset or replaced; "
	    "always 1"};
	static const struct gk_seen nothing_before;

	for (size_t i = 0; i < r->snap->device_count; i++) {
		struct gk_state state =
		    gk_state_of(&nothing_before, r->snap, &r->snap->devices[i],
				(struct gk_state_options){.width = 1});
		char label[48];

		snprintf(label, sizeof label, "state=\"%s\"",
			 gk_state_name(state.kind));
		gk_exposition_sample(&r->text, &f, r->device_labels[i].data,
				     label, "1");
	}
}

/* ---- processes ---- */

static const struct {
	enum gk_process_metric metric;
	const char *name;
	const char *unit;
} process_rows[] = {
    {GK_PM_GPU_MEM, "process_gpu_memory_bytes", "bytes"},
    {GK_PM_SM_UTIL, "process_sm_utilization_ratio", "ratio"},
    {GK_PM_MEM_UTIL, "process_memory_utilization_ratio", "ratio"},
    {GK_PM_ENC_UTIL, "process_encoder_utilization_ratio", "ratio"},
    {GK_PM_DEC_UTIL, "process_decoder_utilization_ratio", "ratio"},
    {GK_PM_CPU, "process_cpu_ratio", "ratio"},
    {GK_PM_RSS, "process_host_memory_bytes", "bytes"},
    {GK_PM_RUN_TIME, "process_running_seconds", "seconds"},
};

static void process_labels(const struct gk_rendering *r, size_t i,
			   struct gk_buf *out)
{
	const struct gk_process *p = &r->snap->processes[i];
	char pid[16];

	snprintf(pid, sizeof pid, "%d", (int)p->pid);
	out->len = 0;
	gk_buf_puts(out, r->device_labels[p->device].data);
	gk_label(out, "pid", pid);
	gk_label(out, "user", p->user);
	gk_label(out, "process", p->name);
}

static void add_process_row(struct gk_rendering *r, size_t row)
{
	const struct gk_metric_info *info =
	    &gk_process_metrics[process_rows[row].metric];
	struct gk_family f = {PREFIX, process_rows[row].name, GK_FAMILY_GAUGE,
			      process_rows[row].unit, info->help};
	struct gk_buf labels = {0};
	char digits[GK_UNITS_MAX];

	for (size_t i = 0; i < r->snap->process_count; i++) {
		const struct gk_value *v =
		    &r->snap->processes[i].m[process_rows[row].metric];

		if (v->why || !r->shown[i])
			continue;
		process_labels(r, i, &labels);
		if (!labels.failed)
			gk_exposition_sample(
			    &r->text, &f, labels.data, "",
			    gk_base_number(digits, v->v, info->unit));
	}
	gk_buf_free(&labels);
}

static void add_process_info(struct gk_rendering *r)
{
	static const struct gk_family f = {
	    PREFIX, "process_info", GK_FAMILY_INFO, NULL,
	    "user, container and pod of a process; always 1"};
	struct gk_buf labels = {0};

	for (size_t i = 0; i < r->snap->process_count; i++) {
		const struct gk_process *p = &r->snap->processes[i];
		struct gk_buf more = {0};

		if (!r->shown[i])
			continue;
		process_labels(r, i, &labels);
		gk_label(&more, "type", gk_process_type_letter(p->types));
		gk_label(&more, "container", p->container);
		gk_label(&more, "pod", p->pod ? p->pod : "");
		if (r->options->commands)
			gk_label(&more, "command", p->command);
		if (!labels.failed && !more.failed)
			gk_exposition_sample(&r->text, &f, labels.data,
					     more.data, "1");
		gk_buf_free(&more);
	}
	gk_buf_free(&labels);
}

static void add_own_processes(struct gk_rendering *r)
{
	static const struct gk_family count = {
	    PREFIX, "processes", GK_FAMILY_GAUGE, NULL,
	    "processes on the device; on a GPU, those of "
	    "its MIG devices too"};
	static const struct gk_family left = {
	    PREFIX, "processes_left_out", GK_FAMILY_GAUGE, NULL,
	    "processes without metrics of their own, "
	    "because there are too many"};
	char digits[GK_UNITS_MAX];

	for (size_t i = 0; i < r->snap->device_count; i++)
		if (gk_processes_known(&r->snap->devices[i]))
			gk_exposition_sample(
			    &r->text, &count, r->device_labels[i].data, "",
			    gk_number(digits, r->snap->devices[i].process_count,
				      GK_UNIT_NONE));
	gk_exposition_sample(
	    &r->text, &left, "", "",
	    gk_number(digits, (int64_t)r->left_out, GK_UNIT_NONE));
	add_process_info(r);
	for (size_t i = 0; i < sizeof process_rows / sizeof *process_rows; i++)
		add_process_row(r, i);
}

/* ---- host, driver, this program ---- */

static void add_own_value(struct gk_rendering *r, const struct gk_family *f,
			  const char *more, struct gk_value v,
			  enum gk_unit unit)
{
	char digits[GK_UNITS_MAX];

	if (!v.why)
		gk_exposition_sample(&r->text, f, "", more,
				     gk_base_number(digits, v.v, unit));
}

static void add_own_host(struct gk_rendering *r)
{
	static const char *const spans[] = {"span=\"1m\"", "span=\"5m\"",
					    "span=\"15m\""};
	static const struct gk_family load = {PREFIX, "host_load_average",
					      GK_FAMILY_GAUGE, NULL,
					      "load average of the host"};
	const struct gk_host *h = &r->snap->host;
	const struct {
		struct gk_family f;
		struct gk_value v;
		enum gk_unit unit;
	} values[] = {
#define HOST(name, unit, base, value, help)                                    \
	{{PREFIX "host_", name, GK_FAMILY_GAUGE, base, help}, value, unit}
	    HOST("uptime_seconds", GK_UNIT_NANOSECOND, "seconds",
		 ((struct gk_value){(int64_t)h->boot_ns, GK_PRESENT}),
		 "time since the host was started"),
	    HOST("cpus", GK_UNIT_NONE, NULL,
		 ((struct gk_value){h->cpus, GK_PRESENT}),
		 "processors of the host"),
	    HOST("cpu_busy_ratio", GK_UNIT_CENTIPERCENT, "ratio",
		 h->cpu_centipercent, "busy share of all processors"),
	    HOST("memory_total_bytes", GK_UNIT_BYTES, "bytes", h->mem_total,
		 "memory of the host"),
	    HOST("memory_available_bytes", GK_UNIT_BYTES, "bytes",
		 h->mem_available, "memory available to programs"),
	    HOST("swap_total_bytes", GK_UNIT_BYTES, "bytes", h->swap_total,
		 "swap space of the host"),
	    HOST("swap_free_bytes", GK_UNIT_BYTES, "bytes", h->swap_free,
		 "unused swap space"),
#undef HOST
	};

	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		add_own_value(r, &values[i].f, "", values[i].v, values[i].unit);
	for (int i = 0; i < 3; i++) {
		char digits[GK_UNITS_MAX];

		if (!h->load_centi[i].why)
			gk_exposition_sample(
			    &r->text, &load, "", spans[i],
			    gk_divided(digits, h->load_centi[i].v, 100));
	}
}

static void add_versions(struct gk_rendering *r)
{
	static const struct gk_family driver = {
	    PREFIX, "driver_info", GK_FAMILY_INFO, NULL,
	    "versions of the driver; always 1"};
	static const struct gk_family up = {PREFIX, "up", GK_FAMILY_GAUGE, NULL,
					    GK_UP_HELP};
	static const struct gk_family build = {
	    PREFIX, "build_info", GK_FAMILY_INFO, NULL,
	    "version of this program; always 1"};
	const struct gk_snapshot *snap = r->snap;
	struct gk_buf labels = {0};
	char cuda[GK_UNITS_MAX] = "";

	if (snap->cuda_version)
		gk_cuda_version(cuda, snap->cuda_version);
	gk_label(&labels, "driver_version", snap->driver_version);
	gk_label(&labels, "nvml_version", snap->nvml_version);
	gk_label(&labels, "cuda_version", cuda);
	if (!labels.failed)
		gk_exposition_sample(&r->text, &driver, "", labels.data, "1");
	gk_buf_free(&labels);
	gk_exposition_sample(&r->text, &up, "", "", "1");
	gk_exposition_sample(&r->text, &build, "",
			     "version=\"" GPUKIT_VERSION "\"", "1");
}

static void add_frame_counts(struct gk_rendering *r)
{
	static const struct gk_family frames = {
	    PREFIX, "frames_total", GK_FAMILY_COUNTER, NULL,
	    "number of times that the devices were read"};
	static const struct gk_family scrapes = {
	    PREFIX, "scrapes_total", GK_FAMILY_COUNTER, NULL,
	    "scrapes answered before this frame"};
	static const struct gk_family taken = {
	    PREFIX, "frame_timestamp_seconds", GK_FAMILY_GAUGE, "seconds",
	    "time when the devices were read, since 1970"};
	char digits[GK_UNITS_MAX];

	gk_exposition_sample(
	    &r->text, &taken, "", "",
	    gk_number(digits, (int64_t)r->snap->wall_ns, GK_UNIT_NANOSECOND));
	gk_exposition_sample(
	    &r->text, &frames, "", "",
	    gk_number(digits, (int64_t)r->options->frames, GK_UNIT_NONE));
	gk_exposition_sample(
	    &r->text, &scrapes, "", "",
	    gk_number(digits, (int64_t)r->options->scrapes, GK_UNIT_NONE));
}

void gk_render_own(struct gk_rendering *r)
{
	gk_render_labels(r, own_labels);
	add_info(r);
	add_health(r);
	add_state(r);
	add_rows(r);
	add_xids(r);
	add_reasons(r);
	if (r->options->processes)
		add_own_processes(r);
	add_own_host(r);
	add_versions(r);
	add_frame_counts(r);
}

void gk_own_metrics(const struct gk_prometheus *options,
		    struct gk_metric_set *set)
{
	for (size_t i = 0; i < ROWS; i++)
		gk_metric_set_add(set, rows[i].metric);
	gk_metric_set_add(set, GK_M_THROTTLE);
	gk_condition_metrics(set);
	for (int i = 0; options->all && i < GK_M_COUNT; i++)
		gk_metric_set_add(set, (enum gk_metric)i);
}
