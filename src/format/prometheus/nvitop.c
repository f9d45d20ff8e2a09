/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvitop.c - formats a snapshot with the names and labels of nvitop-exporter.
 * All metrics are gauges; absent values are NaN.
 */
#include "base/round.h"
#include "base/units.h"
#include "core/read/gate.h"
#include "format/prometheus/prometheus_part.h"

#include "base/clock.h"
#include "format/names.h"
#include "format/units.h"

#include <stdio.h>
#include <string.h>

/* If a row shows a share of memory, it has no metric of its own, and its metric
 * is COUNT. */
struct row {
	int metric;
	struct gk_family family;
	int64_t divisor;
};

static const struct row gpu_rows[] = {
#define NVITOP_GPU(id, name, divisor, help)                                    \
	{GK_M_##id, {"", name, GK_FAMILY_GAUGE, NULL, help}, divisor},
#define NVITOP_PROCESS(id, name, divisor, help)
#include "format/prometheus/nvitop.def"
#undef NVITOP_GPU
#undef NVITOP_PROCESS
};

static const struct row process_rows[] = {
#define NVITOP_GPU(id, name, divisor, help)
#define NVITOP_PROCESS(id, name, divisor, help)                                \
	{GK_PM_##id, {"", name, GK_FAMILY_GAUGE, NULL, help}, divisor},
#include "format/prometheus/nvitop.def"
#undef NVITOP_GPU
#undef NVITOP_PROCESS
};

#define GPU_ROWS     (sizeof gpu_rows / sizeof *gpu_rows)
#define PROCESS_ROWS (sizeof process_rows / sizeof *process_rows)

#define FAMILY(name, help)                                                     \
	(struct gk_family)                                                     \
	{                                                                      \
		"", name, GK_FAMILY_GAUGE, NULL, help                          \
	}

static char *number_or_nan(char *dst, struct gk_value v, int64_t divisor)
{
	if (v.why)
		return strcpy(dst, "NaN");
	return gk_divided(dst, v.v, divisor);
}

static struct gk_value tenths_of_whole(struct gk_value part,
				       struct gk_value whole)
{
	if (part.why)
		return part;
	if (whole.why || whole.v <= 0)
		return (struct gk_value){.why = GK_ABSENT_NOT_SUPPORTED};
	/* In tenths of a percent, as nvitop rounds them. */
	return (struct gk_value){(part.v * 1000 + whole.v / 2) / whole.v,
				 GK_PRESENT};
}

/* Returns a share of the host's memory in ten-thousandths of a percent. */
static struct gk_value small_share(struct gk_value part, struct gk_value whole)
{
	if (part.why || whole.why || whole.v <= 0)
		return part.why ? part : whole;
	return (struct gk_value){
	    (int64_t)((double)part.v * 1e6 / (double)whole.v), GK_PRESENT};
}

static void add_sample(struct gk_rendering *r, struct gk_family f,
		       const char *labels, const char *more, struct gk_value v,
		       int64_t divisor)
{
	char digits[GK_UNITS_MAX];

	gk_exposition_sample(&r->text, &f, labels, more,
			     number_or_nan(digits, v, divisor));
}

/* ---- devices ---- */

static void device_labels(const struct gk_rendering *r,
			  const struct gk_device *d, struct gk_buf *out)
{
	char index[GK_NAME_MAX];

	gk_device_label(index, d);
	gk_label(out, "hostname", gk_render_hostname(r));
	gk_label(out, "index", index);
	gk_label(out, "devicename", d->name);
	gk_label(out, "uuid", d->uuid);
}

static void add_devices(struct gk_rendering *r)
{
	for (size_t i = 0; i < GPU_ROWS; i++) {
		const struct row *row = &gpu_rows[i];

		for (size_t k = 0; k < r->snap->device_count; k++) {
			const struct gk_value *m = r->snap->devices[k].m;
			const char *labels = r->device_labels[k].data;

			if (row->metric == GK_M_COUNT)
				add_sample(r, row->family, labels, "",
					   tenths_of_whole(m[GK_M_MEM_USED],
							   m[GK_M_MEM_TOTAL]),
					   10);
			else
				add_sample(r, row->family, labels, "",
					   m[row->metric], row->divisor);
		}
	}
}

/* ---- NVLink: rates between two snapshots ---- */

static const struct gk_device *earlier_device(const struct gk_rendering *r,
					      size_t i)
{
	const struct gk_snapshot *before = r->options->before;

	if (!before || i >= before->device_count ||
	    strcmp(before->devices[i].uuid, r->snap->devices[i].uuid) ||
	    !before->devices[i].detail)
		return NULL;
	return &before->devices[i];
}

/* Returns the rate of one link between two snapshots, in bytes per second. */
static struct gk_value link_rate(const struct gk_device *now,
				 const struct gk_device *then, unsigned link,
				 enum gk_link_metric metric)
{
	uint64_t ns =
	    now->read_ns[GK_TIER_DETAIL] - then->read_ns[GK_TIER_DETAIL];
	struct gk_value a = {.why = GK_ABSENT_ONE_SNAPSHOT}, b;

	if (!ns || link >= then->detail->link_count)
		return a;
	a = then->detail->links[link].m[metric];
	b = now->detail->links[link].m[metric];
	if (a.why || b.why || b.v < a.v)
		return (struct gk_value){.why = a.why ? a.why : b.why};
	b.v =
	    gk_to_int64((double)(b.v - a.v) * (double)GK_NS_PER_S / (double)ns);
	return gk_gate(b, gk_link_metric_range(GK_L_SPEED));
}

static void add_link_rates(struct gk_rendering *r, struct gk_family f,
			   enum gk_link_metric metric)
{
	for (size_t i = 0; i < r->snap->device_count; i++) {
		const struct gk_device *now = &r->snap->devices[i];
		const struct gk_device *then = earlier_device(r, i);

		for (unsigned k = 0;
		     then && now->detail && k < now->detail->link_count; k++) {
			char label[32];

			snprintf(label, sizeof label, "link=\"%u\"",
				 now->detail->links[k].index);
			add_sample(r, f, r->device_labels[i].data, label,
				   link_rate(now, then, k, metric), MIB);
		}
	}
}

static void add_link_sums(struct gk_rendering *r, struct gk_family f,
			  enum gk_link_metric metric, bool mean)
{
	for (size_t i = 0; i < r->snap->device_count; i++) {
		const struct gk_device *now = &r->snap->devices[i];
		const struct gk_device *then = earlier_device(r, i);
		struct gk_value sum = {.why = GK_ABSENT_NOT_SUPPORTED};
		int64_t links = 0;

		for (unsigned k = 0;
		     then && now->detail && k < now->detail->link_count; k++) {
			struct gk_value v = link_rate(now, then, k, metric);

			if (v.why)
				continue;
			sum.why = GK_PRESENT;
			sum.v += v.v;
			links++;
		}
		add_sample(r, f, r->device_labels[i].data, "", sum,
			   mean && links ? MIB * links : MIB);
	}
}

static void add_links(struct gk_rendering *r)
{
	add_link_sums(r,
		      FAMILY("gpu_nvlink_total_tx_throughput_MiBps",
			     "NVLink traffic from the GPU, MiB/s"),
		      GK_L_TX, false);
	add_link_sums(r,
		      FAMILY("gpu_nvlink_total_rx_throughput_MiBps",
			     "NVLink traffic to the GPU, MiB/s"),
		      GK_L_RX, false);
	add_link_sums(r,
		      FAMILY("gpu_nvlink_mean_tx_throughput_MiBps",
			     "the same, mean of its links"),
		      GK_L_TX, true);
	add_link_sums(r,
		      FAMILY("gpu_nvlink_mean_rx_throughput_MiBps",
			     "the same, mean of its links"),
		      GK_L_RX, true);
	add_link_rates(r,
		       FAMILY("gpu_nvlink_tx_throughput_MiBps",
			      "traffic of one NVLink from the GPU, MiB/s"),
		       GK_L_TX);
	add_link_rates(r,
		       FAMILY("gpu_nvlink_rx_throughput_MiBps",
			      "traffic of one NVLink to the GPU, MiB/s"),
		       GK_L_RX);
}

/* ---- host ---- */

static struct gk_value known_value(int64_t v)
{
	return (struct gk_value){v, GK_PRESENT};
}

static struct gk_value value_minus(struct gk_value a, struct gk_value b)
{
	if (a.why || b.why)
		return a.why ? a : b;
	return known_value(a.v - b.v);
}

static void add_nvitop_memory(struct gk_rendering *r, const char *labels)
{
	const struct gk_host *h = &r->snap->host;
	struct gk_value used = value_minus(h->mem_total, h->mem_available);
	struct gk_value swapped = value_minus(h->swap_total, h->swap_free);
	struct gk_value swap_share =
	    !h->swap_total.why && !h->swap_total.v
		? known_value(0)
		: tenths_of_whole(swapped, h->swap_total);

#define HOST(name, help, value, divisor)                                       \
	add_sample(r, FAMILY("host_" name, help), labels, "", value, divisor)
	HOST("virtual_memory_total_MiB", "host memory, MiB", h->mem_total, MIB);
	HOST("virtual_memory_used_MiB", "host memory used, MiB", used, MIB);
	HOST("virtual_memory_free_MiB", "host memory available, MiB",
	     h->mem_available, MIB);
	HOST("virtual_memory_percent_Percentage", "host memory used, %",
	     tenths_of_whole(used, h->mem_total), 10);
	HOST("swap_memory_total_MiB", "swap space, MiB", h->swap_total, MIB);
	HOST("swap_memory_used_MiB", "swap space used, MiB", swapped, MIB);
	HOST("swap_memory_free_MiB", "swap space free, MiB", h->swap_free, MIB);
	HOST("swap_memory_percent_Percentage", "swap space used, %", swap_share,
	     10);
}

static void add_nvitop_host(struct gk_rendering *r, const char *labels)
{
	const struct gk_host *h = &r->snap->host;

	HOST("uptime_Second", "time since the host was started, s",
	     known_value((int64_t)h->boot_ns), (int64_t)GK_NS_PER_S);
	HOST("cpu_percent_Percentage", "busy share of all processors, %",
	     h->cpu_centipercent, 100);
	add_nvitop_memory(r, labels);
	HOST("load_average_1m_Percentage", "load average", h->load_centi[0],
	     100);
	HOST("load_average_5m_Percentage", "load average", h->load_centi[1],
	     100);
	HOST("load_average_15m_Percentage", "load average", h->load_centi[2],
	     100);
#undef HOST
}

/*
 * Adds one family with a sample for each flow; `at` is the offset of the value
 * in struct gk_host_flow.
 */
static void add_flow(struct gk_rendering *r, const char *labels,
		     struct gk_family f, const char *label,
		     const struct gk_host_flow *flows, size_t count, size_t at,
		     int64_t divisor)
{
	for (size_t i = 0; i < count; i++) {
		const char *bytes = (const char *)&flows[i] + at;
		struct gk_buf more = {0};
		uint64_t value;

		memcpy(&value, bytes, sizeof value);
		gk_label(&more, label, flows[i].name);
		if (!more.failed)
			add_sample(r, f, labels, more.data,
				   known_value((int64_t)value), divisor);
		gk_buf_free(&more);
	}
}

static void add_flows(struct gk_rendering *r, const char *labels)
{
	const struct gk_host_flows *flows = r->options->flows;

#define NET(name, help, member, divisor)                                       \
	add_flow(r, labels, FAMILY("host_net_io_" name, help), "interface",    \
		 flows->interfaces, flows->interface_count,                    \
		 offsetof(struct gk_host_flow, member), divisor)
#define DISK(name, help, member)                                               \
	add_flow(r, labels, FAMILY("host_disk_io_" name, help), "partition",   \
		 flows->disks, flows->disk_count,                              \
		 offsetof(struct gk_host_flow, member), MIB)
	NET("tx_data_MiB", "sent, MiB", out, MIB);
	NET("rx_data_MiB", "received, MiB", in, MIB);
	NET("tx_packets_Packet", "packets sent", packets_out, 1);
	NET("rx_packets_Packet", "packets received", packets_in, 1);
	DISK("read_data_MiB", "read, MiB", in);
	DISK("write_data_MiB", "written, MiB", out);
#undef NET
#undef DISK
}

static void add_mount(struct gk_rendering *r, const char *labels,
		      struct gk_family f, int which)
{
	const struct gk_host_flows *flows = r->options->flows;

	for (size_t i = 0; i < flows->mount_count; i++) {
		const struct gk_host_mount *m = &flows->mounts[i];
		const struct gk_value used = known_value((int64_t)m->used);
		const struct gk_value values[] = {
		    known_value((int64_t)m->total), used,
		    known_value((int64_t)m->free),
		    tenths_of_whole(used,
				    known_value((int64_t)(m->used + m->free)))};
		struct gk_buf more = {0};

		gk_label(&more, "mountpoint", m->path);
		if (!more.failed)
			add_sample(r, f, labels, more.data, values[which],
				   which == 3 ? 10 : MIB);
		gk_buf_free(&more);
	}
}

static void add_mounts(struct gk_rendering *r, const char *labels)
{
#define DISK(name, help, which)                                                \
	add_mount(r, labels, FAMILY("host_disk_usage_" name, help), which)
	DISK("total_MiB", "size of the file system, MiB", 0);
	DISK("used_MiB", "used, MiB", 1);
	DISK("free_MiB", "available to users, MiB", 2);
	DISK("percent_Percentage", "used, %", 3);
#undef DISK
}

/* ---- processes ---- */

static void nvitop_process_labels(const struct gk_rendering *r,
				  const struct gk_process *p,
				  struct gk_buf *out)
{
	char pid[16];

	snprintf(pid, sizeof pid, "%d", (int)p->pid);
	out->len = 0;
	gk_buf_puts(out, r->device_labels[p->device].data);
	gk_label(out, "pid", pid);
	gk_label(out, "username", p->user);
}

static const char *status_word(const struct gk_process *p)
{
	static const char letters[] = "RSDTZI";
	static const char *const words[] = {"running", "sleeping", "disk-sleep",
					    "stopped", "zombie",   "idle"};
	const char *at = p->stat ? strchr(letters, p->stat) : NULL;

	return at ? words[at - letters] : "";
}

static void add_nvitop_process_info(struct gk_rendering *r,
				    struct gk_buf *labels)
{
	for (size_t i = 0; i < r->snap->process_count; i++) {
		const struct gk_process *p = &r->snap->processes[i];
		struct gk_buf more = {0};

		if (!r->shown[i])
			continue;
		nvitop_process_labels(r, p, labels);
		gk_label(&more, "status", status_word(p));
		gk_label(&more, "command",
			 r->options->commands ? p->command : p->name);
		if (!labels->failed && !more.failed)
			add_sample(r,
				   FAMILY("process_info_info",
					  "identity of a process; always 1"),
				   labels->data, more.data, known_value(1), 1);
		gk_buf_free(&more);
	}
}

static void add_nvitop_processes(struct gk_rendering *r)
{
	struct gk_buf labels = {0};

	add_nvitop_process_info(r, &labels);
	for (size_t i = 0; i < PROCESS_ROWS; i++) {
		const struct row *row = &process_rows[i];

		for (size_t k = 0; k < r->snap->process_count; k++) {
			const struct gk_process *p = &r->snap->processes[k];
			bool whole = row->metric == GK_PM_COUNT;
			struct gk_value v =
			    whole ? small_share(p->m[GK_PM_RSS],
						r->snap->host.mem_total)
				  : p->m[row->metric];

			if (!r->shown[k])
				continue;
			nvitop_process_labels(r, p, &labels);
			if (!labels.failed)
				add_sample(r, row->family, labels.data, "", v,
					   whole ? 10000 : row->divisor);
		}
	}
	gk_buf_free(&labels);
}

/* ---- all families ---- */

static void add_nvitop_info(struct gk_rendering *r, const char *host)
{
	char cuda[GK_UNITS_MAX] = "N/A", count[16];
	struct gk_buf more = {0};
	size_t gpus = 0;

	for (size_t i = 0; i < r->snap->device_count; i++)
		gpus += r->snap->devices[i].mig_index < 0;
	snprintf(count, sizeof count, "%zu", gpus);
	gk_cuda_version(cuda, r->snap->cuda_version);
	gk_label(&more, "device_count", count);
	gk_label(&more, "driver_version", r->snap->driver_version);
	gk_label(&more, "cuda_driver_version", cuda);
	if (!more.failed)
		add_sample(r, FAMILY("nvitop_info", "versions; always 1"), host,
			   more.data, known_value(1), 1);
	gk_buf_free(&more);
}

void gk_render_nvitop(struct gk_rendering *r)
{
	struct gk_buf host = {0};

	gk_render_labels(r, device_labels);
	gk_label(&host, "hostname", gk_render_hostname(r));
	if (!host.failed) {
		add_nvitop_info(r, host.data);
		add_nvitop_host(r, host.data);
		if (r->options->flows) {
			add_flows(r, host.data);
			add_mounts(r, host.data);
		}
	}
	gk_buf_free(&host);
	add_devices(r);
	add_links(r);
	if (r->options->processes)
		add_nvitop_processes(r);
}

void gk_nvitop_metrics(struct gk_metric_set *set)
{
	for (size_t i = 0; i < GPU_ROWS; i++)
		if (gpu_rows[i].metric != GK_M_COUNT)
			gk_metric_set_add(set,
					  (enum gk_metric)gpu_rows[i].metric);
}
