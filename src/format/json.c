/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - formats a snapshot as JSON. */
#include "format/json.h"

#include "base/clock.h"
#include "format/json_keys.h"
#include "format/names.h"
#include "format/state.h"
#include "format/units.h"
#include "format/width.h"

#include <stdio.h>
#include <string.h>

#define WORDS_WIDTH 40 /* columns for the description of a state */

/*
 * The state of the formatter: whether a comma or a newline must precede the
 * next key or element.
 */
struct json {
	struct gk_buf *out;
	unsigned flags;
	int depth;
	bool first; /* nothing was added to the current object or array yet */
};

/*
 * Adds the JSON escape of a character. A character above U+FFFF becomes a
 * surrogate pair.
 */
static void add_escaped(struct gk_buf *out, uint32_t c)
{
	if (c > 0xffff)
		gk_buf_printf(out, "\\u%04x\\u%04x",
			      (unsigned)(0xd7c0 + (c >> 10)),
			      (unsigned)(0xdc00 + (c & 0x3ff)));
	else
		gk_buf_printf(out, "\\u%04x", (unsigned)c);
}

/* Adds the character at s and returns its length. */
static size_t add_character(struct gk_buf *out, const char *s, size_t left)
{
	size_t n = gk_utf8_len(s, left);

	if (!n)
		gk_add_clean(out, s, 1);
	else if (gk_utf8_hidden(s, n))
		add_escaped(out, gk_utf8_decode(s, n));
	else
		gk_buf_add(out, s, n);
	return n ? n : 1;
}

static bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void gk_json_string(struct gk_buf *out, const char *text, size_t len)
{
	gk_buf_putc(out, '"');
	for (size_t i = 0; i < len;) {
		size_t run = i;

		while (run < len && is_plain(text[run]))
			run++;
		gk_buf_add(out, text + i, run - i);
		i = run;
		if (i == len)
			break;
		if (text[i] == '"' || text[i] == '\\')
			gk_buf_putc(out, '\\');
		i += add_character(out, text + i, len - i);
	}
	gk_buf_putc(out, '"');
}

static void new_line(struct json *j)
{
	if (!(j->flags & GK_JSON_INDENT))
		return;
	gk_buf_putc(j->out, '\n');
	gk_buf_pad(j->out, ' ', (size_t)j->depth * 2);
}

static void next_member(struct json *j)
{
	if (!j->first)
		gk_buf_putc(j->out, ',');
	j->first = false;
	new_line(j);
}

static void put_json_key(struct json *j, const char *name)
{
	next_member(j);
	gk_buf_putc(j->out, '"');
	gk_buf_puts(j->out, name);
	gk_buf_puts(j->out, j->flags & GK_JSON_INDENT ? "\": " : "\":");
}

/* Opens an object or array. Call it after put_json_key() or next_member(). */
static void open_group(struct json *j, char bracket)
{
	gk_buf_putc(j->out, bracket);
	j->depth++;
	j->first = true;
}

static void close_group(struct json *j, char bracket)
{
	j->depth--;
	if (!j->first)
		new_line(j);
	gk_buf_putc(j->out, bracket);
	j->first = false;
}

/* Adds a text; an empty text means an unknown value and becomes null. */
static void put_json_text(struct json *j, const char *name, const char *value)
{
	put_json_key(j, name);
	if (*value)
		gk_json_string(j->out, value, strlen(value));
	else
		gk_buf_puts(j->out, "null");
}

static void put_json_number(struct json *j, const char *name, int64_t value,
			    enum gk_unit unit)
{
	char digits[GK_UNITS_MAX];

	put_json_key(j, name);
	gk_buf_puts(j->out, gk_number(digits, value, unit));
}

static void number_or_null(struct json *j, const char *name, int64_t value,
			   bool present)
{
	if (present)
		put_json_number(j, name, value, GK_UNIT_NONE);
	else
		put_json_text(j, name, "");
}

static void put_json_value(struct json *j, const char *name, struct gk_value v,
			   enum gk_unit unit)
{
	if (v.why == GK_PRESENT)
		put_json_number(j, name, v.v, unit);
	else
		put_json_text(j, name, "");
}

/* Adds nanoseconds as seconds with nine decimals. */
static void put_json_seconds(struct json *j, const char *name, uint64_t ns)
{
	put_json_key(j, name);
	gk_buf_printf(j->out, "%llu.%09llu",
		      (unsigned long long)(ns / GK_NS_PER_S),
		      (unsigned long long)(ns % GK_NS_PER_S));
}

/* Whether a metric gets a key. Metrics that are costly to read get one only if
 * they were requested. */
static bool is_told_metric(const struct gk_metric_info *info,
			   struct gk_value value)
{
	bool costly = info->tier == GK_TIER_DETAIL ||
		      info->tier == GK_TIER_EVENT ||
		      info->tier == GK_TIER_HOST_ASKED;

	return !costly || value.why != GK_ABSENT_NOT_READ;
}

/*
 * Another value of the object that may be absent. Its reason is written
 * together with the metrics' reasons.
 */
struct also {
	const char *key;
	enum gk_absence why;
};

static void put_json_metrics(struct json *j, const struct gk_metric_info *info,
			     const struct gk_value *values, size_t count,
			     struct also also)
{
	char reason[GK_REASON_MAX];

	for (size_t i = 0; i < count; i++)
		if (is_told_metric(&info[i], values[i]))
			put_json_value(j, info[i].name, values[i],
				       info[i].unit);
	if (!(j->flags & GK_JSON_WHY))
		return;
	put_json_key(j, "why");
	open_group(j, '{');
	for (size_t i = 0; i < count; i++)
		if (values[i].why != GK_PRESENT &&
		    is_told_metric(&info[i], values[i]))
			put_json_text(
			    j, info[i].name,
			    gk_reason(reason, values[i], info[i].unit));
	if (also.why != GK_PRESENT)
		put_json_text(j, also.key, gk_absence_text(also.why));
	close_group(j, '}');
}

static void put_json_arguments(struct json *j, const struct gk_process *p)
{
	put_json_key(j, "args");
	open_group(j, '[');
	for (size_t i = 0; i < p->args_len;) {
		size_t len = strnlen(p->args + i, p->args_len - i);

		next_member(j);
		gk_json_string(j->out, p->args + i, len);
		i += len + 1;
	}
	close_group(j, ']');
}

static void put_json_types(struct json *j, unsigned bits)
{
	put_json_key(j, "types");
	open_group(j, '[');
	for (unsigned i = 0; i < GK_JSON_TYPES; i++) {
		const char *name = gk_json_types[i];

		if (!(bits & 1u << i))
			continue;
		next_member(j);
		gk_json_string(j->out, name, strlen(name));
	}
	close_group(j, ']');
}

static void put_json_process(struct json *j, const struct gk_process *p)
{
	enum gk_absence cwd_why = p->cwd_why;

	next_member(j);
	open_group(j, '{');
	put_json_number(j, "pid", p->pid, GK_UNIT_NONE);
	number_or_null(j, "ppid", p->parent, p->parent > 0);
	put_json_types(j, p->types);
	put_json_text(j, "state", gk_process_state_name(p->state));
	number_or_null(j, "uid", p->uid, p->uid != (uid_t)-1);
	put_json_text(j, "user", p->user);
	put_json_text(j, "name", p->name);
	put_json_text(j, "command", p->command);
	put_json_arguments(j, p);
	put_json_text(j, "container", p->container);
	put_json_text(j, "pod", p->pod);
	put_json_text(j, "stat", (char[]){p->stat, '\0'});
	if (cwd_why == GK_ABSENT_NOT_READ) /* not requested */
		cwd_why = GK_PRESENT;
	else
		put_json_text(j, "cwd", p->cwd);
	number_or_null(j, "start_ticks", (int64_t)p->start_ticks,
		       p->start_ticks != 0);
	put_json_metrics(j, gk_process_metrics, p->m, GK_PM_COUNT,
			 (struct also){"cwd", cwd_why});
	close_group(j, '}');
}

static void put_json_ages(struct json *j, const struct gk_snapshot *snap,
			  const struct gk_device *d)
{
	put_json_key(j, "age_seconds");
	open_group(j, '{');
	for (int i = 0; i < GK_JSON_TIERS; i++) {
		const char *name = gk_json_tiers[i];

		if (i == GK_TIER_DETAIL && !d->read_ns[i])
			continue;
		if (!d->read_ns[i])
			put_json_text(j, name, "");
		else
			put_json_seconds(j, name,
					 snap->mono_ns > d->read_ns[i]
					     ? snap->mono_ns - d->read_ns[i]
					     : 0);
	}
	close_group(j, '}');
}

static void put_json_identity(struct json *j, const struct gk_device *d)
{
	bool mig = d->mig_index >= 0;
	char label[GK_NAME_MAX];

	put_json_number(j, "index", d->index, GK_UNIT_NONE);
	number_or_null(j, "mig_index", d->mig_index, mig);
	put_json_text(j, "label", gk_device_label(label, d));
	number_or_null(j, "gpu_instance", d->gpu_instance,
		       mig && d->gpu_instance >= 0);
	number_or_null(j, "compute_instance", d->compute_instance,
		       mig && d->compute_instance >= 0);
	put_json_text(j, "name", d->name);
	put_json_text(j, "uuid", d->uuid);
	put_json_text(j, "bus_id", d->bus_id);
	put_json_text(j, "serial", d->serial);
	put_json_text(j, "vbios_version", d->vbios);
	number_or_null(j, "minor_number", d->minor, d->minor >= 0);
	put_json_key(j, "compute_capability");
	if (d->compute_major >= 0)
		gk_buf_printf(j->out, "\"%d.%d\"", d->compute_major,
			      d->compute_minor);
	else
		gk_buf_puts(j->out, "null");
}

/* Adds the facts, and the reasons for absent ones under "why". */
static void put_json_facts(struct json *j, const struct gk_text *texts)
{
	put_json_key(j, "facts");
	open_group(j, '{');
	for (int i = 0; i < GK_T_COUNT; i++)
		put_json_text(j, gk_facts[i].name,
			      texts[i].why ? "" : texts[i].s);
	if (j->flags & GK_JSON_WHY) {
		put_json_key(j, "why");
		open_group(j, '{');
		for (int i = 0; i < GK_T_COUNT; i++)
			if (texts[i].why)
				put_json_text(j, gk_facts[i].name,
					      gk_absence_text(texts[i].why));
		close_group(j, '}');
	}
	close_group(j, '}');
}

/* Adds the values that only the DETAIL tier reads. */
static void put_json_detail(struct json *j, const struct gk_detail *d)
{
	if (!d)
		return;
	put_json_facts(j, d->facts);
	put_json_key(j, "links");
	open_group(j, '[');
	for (unsigned i = 0; i < d->link_count; i++) {
		const struct gk_link *link = &d->links[i];

		next_member(j);
		open_group(j, '{');
		put_json_number(j, "index", link->index, GK_UNIT_NONE);
		put_json_text(j, "end", gk_link_end_name(link->end));
		put_json_text(j, "remote_bus_id", link->remote_bus_id);
		put_json_metrics(j, gk_link_metrics, link->m, GK_L_COUNT,
				 (struct also){NULL, GK_PRESENT});
		close_group(j, '}');
	}
	close_group(j, ']');
}

static void put_json_peer(struct json *j, const struct gk_peer *peer)
{
	next_member(j);
	open_group(j, '{');
	put_json_text(j, "path", gk_path_name(peer->path));
	put_json_number(j, "nvlinks", peer->nvlinks, GK_UNIT_NONE);
	close_group(j, '}');
}

/*
 * Adds the location of each GPU and its paths to all others, in NVML's order.
 */
static void put_json_topology(struct json *j, const struct gk_topology *t)
{
	if (!t)
		return;
	put_json_key(j, "topology");
	open_group(j, '[');
	for (size_t i = 0; i < t->count; i++) {
		const struct gk_place *place = &t->places[i];

		next_member(j);
		open_group(j, '{');
		put_json_text(j, "cpus", place->cpus);
		put_json_text(j, "numa_nodes", place->numa_nodes);
		number_or_null(j, "numa_node", place->numa_node,
			       place->numa_node >= 0);
		put_json_key(j, "peers");
		open_group(j, '[');
		for (size_t to = 0; to < t->count; to++)
			put_json_peer(j, &t->peers[i * t->count + to]);
		close_group(j, ']');
		close_group(j, '}');
	}
	close_group(j, ']');
}

/* Writes an empty array if there are no processes, and null if they are
 * unknown. */
static void put_json_processes(struct json *j, const struct gk_snapshot *snap,
			       size_t at)
{
	if (j->flags & GK_JSON_NO_PROCESSES ||
	    !gk_processes_known(&snap->devices[at])) {
		put_json_text(j, "processes", "");
		return;
	}
	put_json_key(j, "processes");
	open_group(j, '[');
	for (size_t i = 0; i < snap->process_count; i++)
		if (snap->processes[i].device == at)
			put_json_process(j, &snap->processes[i]);
	close_group(j, ']');
}

/* Writes the state without its duration, because only earlier snapshots would
 * show how long it has lasted. */
static void put_json_state(struct json *j, const struct gk_snapshot *snap,
			   const struct gk_device *d)
{
	static const struct gk_seen nothing_before;
	struct gk_state state =
	    gk_state_of(&nothing_before, snap, d,
			(struct gk_state_options){.width = WORDS_WIDTH});

	put_json_text(j, "state", gk_state_name(state.kind));
	put_json_text(j, "state_words", state.words);
}

/*
 * Adds the list of Xids if they are counted. If there is a count but no list,
 * adds nothing.
 */
static void put_json_xids(struct json *j, const struct gk_device *d)
{
	const struct gk_xids none = {0}, *xids = d->xids ? d->xids : &none;
	struct gk_value count = d->m[GK_M_XID_COUNT];

	if (count.why != GK_PRESENT || (count.v && !d->xids))
		return;
	put_json_key(j, "xids");
	open_group(j, '[');
	for (size_t i = 0; i < xids->count; i++) {
		next_member(j);
		open_group(j, '{');
		put_json_number(j, "at", (int64_t)xids->last[i].at,
				GK_UNIT_NONE);
		put_json_number(j, "number", xids->last[i].number,
				GK_UNIT_NONE);
		put_json_seconds(j, "unix_seconds", xids->last[i].wall_ns);
		close_group(j, '}');
	}
	close_group(j, ']');
	put_json_key(j, "xid_counts");
	open_group(j, '{');
	for (size_t i = 0; i < xids->kind_count; i++) {
		char name[16] = "other";

		if (xids->kinds[i].number)
			snprintf(name, sizeof name, "%u",
				 xids->kinds[i].number);
		put_json_number(j, name, (int64_t)xids->kinds[i].count,
				GK_UNIT_NONE);
	}
	close_group(j, '}');
}

static void put_json_device(struct json *j, const struct gk_snapshot *snap,
			    size_t at)
{
	const struct gk_device *d = &snap->devices[at];

	next_member(j);
	open_group(j, '{');
	put_json_identity(j, d);
	put_json_text(j, "health", gk_health_name(d->health));
	put_json_state(j, snap, d);
	number_or_null(j, "nvml_error", d->nvml_error, d->nvml_error != 0);
	put_json_ages(j, snap, d);
	put_json_metrics(j, gk_metrics, d->m, GK_M_COUNT,
			 (struct also){"processes", d->processes_why});
	put_json_xids(j, d);
	put_json_detail(j, d->detail);
	put_json_processes(j, snap, at);
	close_group(j, '}');
}

static void put_json_host(struct json *j, const struct gk_host *h)
{
	put_json_key(j, "host");
	open_group(j, '{');
	put_json_text(j, "hostname", h->hostname);
	put_json_number(j, "uptime_seconds", (int64_t)h->boot_ns,
			GK_UNIT_NANOSECOND);
	put_json_number(j, "cpu_count", h->cpus, GK_UNIT_NONE);
	for (size_t i = 0; i < GK_JSON_HOST_VALUES; i++) {
		const struct gk_json_value *row = &gk_json_host_values[i];

		put_json_value(j, row->key, *gk_json_value_at(h, row),
			       row->unit);
	}
	close_group(j, '}');
}

void gk_format_json(struct gk_buf *out, const struct gk_snapshot *snap,
		    unsigned flags)
{
	struct json j = {.out = out, .flags = flags};
	char line[GK_UNITS_MAX];

	open_group(&j, '{');
	put_json_number(&j, "schema", GK_JSON_SCHEMA, GK_UNIT_NONE);
	put_json_text(&j, "gpukit_version", GPUKIT_VERSION);
	put_json_text(&j, "time", gk_utc_time(line, snap->wall_ns));
	put_json_seconds(&j, "unix_seconds", snap->wall_ns);
	put_json_seconds(&j, "monotonic_seconds", snap->mono_ns);
	put_json_text(&j, "driver_version", snap->driver_version);
	put_json_text(&j, "nvml_version", snap->nvml_version);
	put_json_text(&j, "cuda_version",
		      snap->cuda_version
			  ? gk_cuda_version(line, snap->cuda_version)
			  : "");
	put_json_host(&j, &snap->host);
	put_json_topology(&j, snap->topology);
	put_json_key(&j, "devices");
	open_group(&j, '[');
	for (size_t i = 0; i < snap->device_count; i++)
		put_json_device(&j, snap, i);
	close_group(&j, ']');
	close_group(&j, '}');
	gk_buf_putc(out, '\n');
}
