/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvidia_smi.c - formats a snapshot with the names of nvidia_gpu_exporter
 * (github.com/utkuozdemir/nvidia_gpu_exporter, docs/METRICS.md): each field of
 * nvidia-smi's --query-gpu that is a number or a state becomes a family, whose
 * name is derived by a rule; some further families are the exporter's own.
 */
#include "format/prometheus/prometheus_part.h"
#include "base/array.h"

#include "format/names.h"
#include "format/smi/query.h"
#include "format/units.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "nvidia_smi_"

/* The suffix that a unit of nvidia-smi has in names, and the factor that
 * converts the unit to the base unit. */
static const struct {
	const char *unit, *suffix;
	double factor;
} units[] = {
    {"MHz", "_clock_hz", 1e6}, {"MiB", "_bytes", 1048576},
    {"W", "_watts", 1},        {"%", "_ratio", 0.01},
    {"us", "_seconds", 1e-6},  {"ms", "_seconds", 1e-3},
};

/* Numbers for words that name one of two states. States with more values are
 * exported as NVML's numbers. */
static const struct {
	const char *word;
	int number;
} states[] = {
    {"Enabled", 1},  {"Yes", 1}, {"Active", 1},     {"enabled", 1},
    {"Disabled", 0}, {"No", 0},  {"Not Active", 0}, {"disabled", 0},
};

/* ---- names ---- */

static void put_rule_char(char *dst, size_t *len, char c)
{
	if (*len + 1 < GK_NAME_MAX)
		dst[(*len)++] = c;
}

/* "ecc.errors.averageFps" and "W" -> "ecc_errors_average_fps_watts". */
static void field_name(char dst[GK_NAME_MAX], const char *field,
		       const char *unit, double *ret_factor)
{
	size_t len = 0;

	*ret_factor = 1;
	for (; *field; field++) {
		if (isupper((unsigned char)*field) && len &&
		    islower((unsigned char)field[-1]))
			put_rule_char(dst, &len, '_');
		put_rule_char(
		    dst, &len,
		    *field == '.' ? '_' : (char)tolower((unsigned char)*field));
	}
	dst[len] = '\0';
	for (size_t i = 0; unit && i < COUNT(units); i++) {
		if (strcmp(units[i].unit, unit))
			continue;
		*ret_factor = units[i].factor;
		snprintf(dst + len, GK_NAME_MAX - len, "%s", units[i].suffix);
	}
}

/*
 * Returns the UUID as nvidia_gpu_exporter shows it, without "GPU-" or "MIG-".
 */
static const char *bare_uuid(const struct gk_device *d)
{
	return strncmp(d->uuid, "GPU-", 4) && strncmp(d->uuid, "MIG-", 4)
		   ? d->uuid
		   : d->uuid + 4;
}

/*
 * Only the UUID distinguishes GPUs. A GPU that was lost before its UUID was
 * read has no labels, and so no samples.
 */
static void smi_labels(const struct gk_rendering *r, const struct gk_device *d,
		       struct gk_buf *out)
{
	const struct gk_device *gpu =
	    d->parent < 0 ? d : &r->snap->devices[d->parent];
	char id[16];

	if (!gpu->uuid[0])
		return;
	gk_label(out, "uuid", bare_uuid(gpu));
	if (d->mig_index < 0)
		return;
	snprintf(id, sizeof id, "%d", d->gpu_instance);
	gk_label(out, "gpu_instance_id", id);
}

static void add_sample(struct gk_rendering *r, const struct gk_family *f,
		       size_t device, const char *more, const char *value)
{
	if (r->device_labels[device].len)
		gk_exposition_sample(&r->text, f, r->device_labels[device].data,
				     more, value);
}

/* ---- fields ---- */

static bool read_state(const char *text, double *ret_number)
{
	for (size_t i = 0; i < COUNT(states); i++)
		if (!strcmp(states[i].word, text)) {
			*ret_number = states[i].number;
			return true;
		}
	return false;
}

/*
 * Reads a number, decimal or hexadecimal, from a text. "P8" gives 8. A version
 * with more than two parts gives the number that its first two parts form.
 */
static bool read_text_number(const struct gk_smi_field *field, const char *text,
			     double *ret_number)
{
	bool version = field->source.show == gk_smi_driver;
	char *end;

	if (field->source.show == gk_smi_pstate && *text == 'P')
		text++;
	if (!isdigit((unsigned char)*text) && *text != '-')
		return false;
	*ret_number = strtod(text, &end);
	return !*end || (version && *end == '.');
}

/*
 * Reads the value of a field as a number. Returns false if the value is absent
 * or is a text.
 */
static bool read_number(const struct gk_smi_field *field,
			const struct gk_smi_at *at, double *ret_number)
{
	const struct gk_smi_source *source = &field->source;
	struct gk_buf text = {0};
	bool found = false;

	if (!gk_smi_has_field(field, at->snap))
		return false;
	if (source->show == gk_smi_word) {
		*ret_number = (double)at->device->m[source->what].v;
		return !at->device->m[source->what].why;
	}
	if (!source->show(&text, at, source->what, source->arg) &&
	    !text.failed && text.data)
		found = read_state(text.data, ret_number) ||
			read_text_number(field, text.data, ret_number);
	gk_buf_free(&text);
	return found;
}

/* Whether a field is a text, even if all its characters are digits. */
static bool is_text(const struct gk_smi_field *field)
{
	static gk_smi_show *const texts[] = {gk_smi_timestamp, gk_smi_name,
					     gk_smi_serial,    gk_smi_uuid,
					     gk_smi_bus_id,    gk_smi_vbios};

	for (size_t i = 0; i < COUNT(texts); i++)
		if (field->source.show == texts[i])
			return true;
	return false;
}

static void add_field(struct gk_rendering *r, const struct gk_smi_field *field,
		      const char *name)
{
	char full[GK_NAME_MAX], digits[GK_UNITS_MAX];
	struct gk_family f = {PREFIX, full, GK_FAMILY_GAUGE, NULL, field->help};
	double factor;

	field_name(full, name, field->unit, &factor);
	for (size_t i = 0; i < r->snap->device_count; i++) {
		struct gk_smi_at at = {.snap = r->snap,
				       .device = &r->snap->devices[i],
				       .gpus = gk_smi_gpus(r->snap)};
		double number;

		if (at.device->mig_index >= 0 ||
		    !read_number(field, &at, &number))
			continue;
		snprintf(digits, sizeof digits, "%.15g", number * factor);
		add_sample(r, &f, i, "", digits);
	}
}

static const struct gk_smi_query *gpu_query(void)
{
	return &gk_smi_queries[0];
}

/* The clocks' reasons are also added under the names that drivers before 535
 * gave them, because dashboards use those names. */
static void add_fields(struct gk_rendering *r)
{
	const struct gk_smi_query *query = gpu_query();

	for (size_t i = 0; i < query->count; i++)
		if (!is_text(&query->fields[i]))
			add_field(r, &query->fields[i], query->fields[i].name);
	for (size_t i = 0; i < query->count; i++)
		if (query->fields[i].other &&
		    !strncmp(query->fields[i].other, "clocks_throttle_", 16))
			add_field(r, &query->fields[i], query->fields[i].other);
}

/* ---- the exporter's own families ---- */

/*
 * The labels of gpu_info, and the fields of nvidia-smi whose values they have.
 */
static const struct {
	const char *label, *field;
} facts[] = {
    {"name", "name"},
    {"driver_model_current", "driver_model.current"},
    {"driver_model_pending", "driver_model.pending"},
    {"vbios_version", "vbios_version"},
    {"driver_version", "driver_version"},
    {"pci_bus_id", "pci.bus_id"},
    {"serial", "serial"},
    {"compute_cap", "compute_cap"},
    {"pci_sub_device_id", "pci.sub_device_id"},
    {"index", "index"},
};

static void put_fact(struct gk_buf *labels, const char *label, const char *name,
		     const struct gk_smi_at *at)
{
	const struct gk_smi_query *query = gpu_query();
	struct gk_buf text = {0};
	enum gk_absence why = GK_ABSENT_NOT_SUPPORTED;

	for (size_t i = 0; i < query->count; i++) {
		const struct gk_smi_source *s = &query->fields[i].source;

		if (!strcmp(query->fields[i].name, name))
			why = s->show(&text, at, s->what, s->arg);
	}
	gk_label(labels, label,
		 why || !text.data ? gk_smi_absent(why) : text.data);
	gk_buf_free(&text);
}

static void add_gpu_info(struct gk_rendering *r)
{
	static const struct gk_family f = {PREFIX, "gpu_info", GK_FAMILY_GAUGE,
					   NULL, "identity of a GPU; always 1"};
	char cuda[GK_UNITS_MAX] = "";

	if (r->snap->cuda_version)
		gk_cuda_version(cuda, r->snap->cuda_version);
	for (size_t i = 0; i < r->snap->device_count; i++) {
		struct gk_smi_at at = {.snap = r->snap,
				       .device = &r->snap->devices[i],
				       .gpus = gk_smi_gpus(r->snap)};
		struct gk_buf more = {0};

		if (at.device->mig_index >= 0)
			continue;
		for (size_t k = 0; k < COUNT(facts); k++)
			put_fact(&more, facts[k].label, facts[k].field, &at);
		gk_label(&more, "cuda_version", cuda);
		if (!more.failed)
			add_sample(r, &f, i, more.data, "1");
		gk_buf_free(&more);
	}
}

/* Metrics of GPUs and of GPU instances that nvidia-smi does not query. */
static const struct more {
	bool mig;
	enum gk_metric metric;
	enum gk_family_type type;
	const char *name;
} more_rows[] = {
    {false, GK_M_ENERGY, GK_FAMILY_COUNTER, "energy_joules_total"},
    {false, GK_M_PCIE_TX, GK_FAMILY_GAUGE,
     "pcie_throughput_tx_bytes_per_second"},
    {false, GK_M_PCIE_RX, GK_FAMILY_GAUGE,
     "pcie_throughput_rx_bytes_per_second"},
    {true, GK_M_MEM_TOTAL, GK_FAMILY_GAUGE, "mig_memory_total_bytes"},
    {true, GK_M_MEM_USED, GK_FAMILY_GAUGE, "mig_memory_used_bytes"},
    {true, GK_M_MEM_FREE, GK_FAMILY_GAUGE, "mig_memory_free_bytes"},
    {true, GK_M_MEM_RESERVED, GK_FAMILY_GAUGE, "mig_memory_reserved_bytes"},
    {true, GK_M_GPM_GRAPHICS, GK_FAMILY_GAUGE, "mig_graphics_activity_ratio"},
    {true, GK_M_GPM_SM, GK_FAMILY_GAUGE, "mig_sm_activity_ratio"},
    {true, GK_M_GPM_OCCUPANCY, GK_FAMILY_GAUGE, "mig_sm_occupancy_ratio"},
    {true, GK_M_GPM_TENSOR, GK_FAMILY_GAUGE, "mig_tensor_activity_ratio"},
    {true, GK_M_GPM_PCIE_TX, GK_FAMILY_GAUGE,
     "mig_pcie_throughput_tx_bytes_per_second"},
    {true, GK_M_GPM_PCIE_RX, GK_FAMILY_GAUGE,
     "mig_pcie_throughput_rx_bytes_per_second"},
};

static void add_more_row(struct gk_rendering *r, const struct more *row)
{
	const struct gk_metric_info *info = &gk_metrics[row->metric];
	struct gk_family f = {PREFIX, row->name, row->type, NULL, info->help};
	char digits[GK_UNITS_MAX];

	for (size_t i = 0; i < r->snap->device_count; i++) {
		const struct gk_device *d = &r->snap->devices[i];

		if ((d->mig_index >= 0) != row->mig || d->m[row->metric].why ||
		    !gk_is_first_of_instance(r->snap, i))
			continue;
		add_sample(
		    r, &f, i, "",
		    gk_base_number(digits, d->m[row->metric].v, info->unit));
	}
}

static void add_mig_info(struct gk_rendering *r)
{
	static const struct gk_family f = {
	    PREFIX, "mig_info", GK_FAMILY_GAUGE, NULL,
	    "identity of a MIG device; always 1"};

	for (size_t i = 0; i < r->snap->device_count; i++) {
		const struct gk_device *d = &r->snap->devices[i];
		const char *profile = strstr(d->name, "MIG ");
		struct gk_buf more = {0};
		char id[16];

		if (d->mig_index < 0)
			continue;
		gk_label(&more, "mig_uuid", bare_uuid(d));
		snprintf(id, sizeof id, "%d", d->compute_instance);
		gk_label(&more, "compute_instance_id", id);
		gk_label(&more, "profile", profile ? profile + 4 : "");
		if (!more.failed)
			add_sample(r, &f, i, more.data, "1");
		gk_buf_free(&more);
	}
}

static void add_xid_counts(struct gk_rendering *r, size_t device)
{
	static const struct gk_family f = {
	    PREFIX, "xid_errors_total", GK_FAMILY_COUNTER, NULL,
	    "Xid errors since this program began to listen"};
	const struct gk_xids *xids = r->snap->devices[device].xids;

	for (size_t k = 0; xids && k < xids->kind_count; k++) {
		char label[32], digits[GK_UNITS_MAX];

		if (!xids->kinds[k].number)
			continue;
		snprintf(label, sizeof label, "xid=\"%u\"",
			 xids->kinds[k].number);
		add_sample(r, &f, device, label,
			   gk_number(digits, (int64_t)xids->kinds[k].count,
				     GK_UNIT_NONE));
	}
}

/*
 * Returns when an Xid number last occurred; 0 if that was too long ago to be
 * remembered.
 */
static uint64_t time_of_xid(const struct gk_xids *xids, uint32_t number)
{
	for (size_t i = xids->count; i--;)
		if (xids->last[i].number == number)
			return xids->last[i].wall_ns;
	return 0;
}

static void add_xid_times(struct gk_rendering *r, size_t device)
{
	static const struct gk_family f = {
	    PREFIX, "xid_last_timestamp_seconds", GK_FAMILY_GAUGE, NULL,
	    "when the last Xid error of this number came, since 1970"};
	const struct gk_xids *xids = r->snap->devices[device].xids;

	for (size_t k = 0; xids && k < xids->kind_count; k++) {
		uint64_t ns = time_of_xid(xids, xids->kinds[k].number);
		char label[32], digits[GK_UNITS_MAX];

		snprintf(label, sizeof label, "xid=\"%u\"",
			 xids->kinds[k].number);
		if (ns)
			add_sample(
			    r, &f, device, label,
			    gk_number(digits, (int64_t)ns, GK_UNIT_NANOSECOND));
	}
}

static bool computes(const struct gk_process *p)
{
	return p->types & (GK_PROCESS_COMPUTE | GK_PROCESS_MPS);
}

static void add_smi_processes(struct gk_rendering *r, bool memory)
{
	static const struct gk_family families[] = {
	    {PREFIX, "compute_app_info", GK_FAMILY_GAUGE, NULL,
	     "a process that computes on a GPU; always 1"},
	    {PREFIX, "compute_app_used_memory_bytes", GK_FAMILY_GAUGE, NULL,
	     "memory that it uses on the GPU"}};

	for (size_t i = 0; i < r->snap->process_count; i++) {
		const struct gk_process *p = &r->snap->processes[i];
		struct gk_value used = p->m[GK_PM_GPU_MEM];
		char pid[16], digits[GK_UNITS_MAX] = "1";
		struct gk_buf labels = {0};

		if (!r->shown[i] || (memory && used.why) || !computes(p) ||
		    !r->device_labels[p->device].len)
			continue;
		snprintf(pid, sizeof pid, "%d", (int)p->pid);
		gk_buf_puts(&labels, r->device_labels[p->device].data);
		gk_label(&labels, "pid", pid);
		gk_label(&labels, "process_name", p->name);
		if (memory)
			gk_number(digits, used.v, GK_UNIT_BYTES);
		if (!labels.failed)
			gk_exposition_sample(&r->text, &families[memory],
					     labels.data, "", digits);
		gk_buf_free(&labels);
	}
}

/* Returns the number of processes that compute on a GPU or on its MIG
 * devices. */
static int64_t count_computing(const struct gk_snapshot *snap, unsigned gpu)
{
	int64_t count = 0;

	for (size_t i = 0; i < snap->process_count; i++)
		count += computes(&snap->processes[i]) &&
			 snap->devices[snap->processes[i].device].index == gpu;
	return count;
}

static void add_process_counts(struct gk_rendering *r)
{
	static const struct gk_family count = {
	    PREFIX, "compute_apps", GK_FAMILY_GAUGE, NULL,
	    "processes that compute on a GPU"};
	static const struct gk_family ok = {
	    PREFIX, "compute_apps_last_collect_success", GK_FAMILY_GAUGE, NULL,
	    "1 = the processes were read"};
	bool known = true;

	for (size_t i = 0; i < r->snap->device_count; i++) {
		const struct gk_device *d = &r->snap->devices[i];
		char digits[GK_UNITS_MAX];

		if (d->mig_index >= 0)
			continue;
		known &= d->health == GK_HEALTH_OK && gk_processes_known(d);
		if (gk_processes_known(d))
			add_sample(r, &count, i, "",
				   gk_number(digits,
					     count_computing(r->snap, d->index),
					     GK_UNIT_NONE));
	}
	gk_exposition_sample(&r->text, &ok, "", "", known ? "1" : "0");
}

/*
 * Returns the time since all GPUs were last read, or UINT64_MAX if that never
 * happened. Sets *ret_all to whether all GPUs have answered in time. As with
 * nvidia-smi, a single lost GPU makes the whole collection fail, and so does a
 * machine without GPUs.
 */
static uint64_t time_since_collection(const struct gk_snapshot *snap,
				      bool *ret_all)
{
	uint64_t since = snap->device_count ? 0 : UINT64_MAX;

	*ret_all = true;
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];
		uint64_t age = gk_device_age(snap, d, GK_TIER_FAST);

		if (age > since)
			since = age;
		*ret_all &= d->health == GK_HEALTH_OK;
	}
	*ret_all &= since != UINT64_MAX;
	return since;
}

static void add_collected(struct gk_rendering *r)
{
	static const struct gk_family ok = {
	    PREFIX, "last_collect_success", GK_FAMILY_GAUGE, NULL,
	    "1 = all GPUs were read, 0 = one is lost, late or has failed"};
	static const struct gk_family at = {
	    PREFIX, "last_collect_success_timestamp_seconds", GK_FAMILY_GAUGE,
	    NULL, "when all GPUs were last read, since 1970"};
	char digits[GK_UNITS_MAX];
	bool all;
	uint64_t since = time_since_collection(r->snap, &all);

	gk_exposition_sample(&r->text, &ok, "", "", all ? "1" : "0");
	if (since < r->snap->wall_ns)
		gk_exposition_sample(
		    &r->text, &at, "", "",
		    gk_number(digits, (int64_t)(r->snap->wall_ns - since),
			      GK_UNIT_NANOSECOND));
}

void gk_render_nvidia_smi(struct gk_rendering *r)
{
	gk_render_labels(r, smi_labels);
	add_gpu_info(r);
	add_fields(r);
	for (size_t i = 0; i < COUNT(more_rows); i++)
		add_more_row(r, &more_rows[i]);
	add_mig_info(r);
	for (size_t i = 0; i < r->snap->device_count; i++)
		add_xid_counts(r, i);
	for (size_t i = 0; i < r->snap->device_count; i++)
		add_xid_times(r, i);
	for (int memory = 0; memory < 2; memory++)
		add_smi_processes(r, memory);
	if (r->options->processes)
		add_process_counts(r);
	add_collected(r);
}

void gk_nvidia_smi_metrics(struct gk_metric_set *set)
{
	const struct gk_smi_query *query = gpu_query();

	for (size_t i = 0; i < query->count; i++)
		gk_smi_want(&query->fields[i].source, set);
	for (size_t i = 0; i < COUNT(more_rows); i++)
		gk_metric_set_add(set, more_rows[i].metric);
	gk_metric_set_add(set, GK_M_XID_COUNT);
}
