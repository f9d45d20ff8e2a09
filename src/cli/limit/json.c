/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - writes groups as a JSON object, as described by
 * docs/limit.schema.json.
 */
#include "base/clock.h"
#include "cli/limit/audit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *number_json(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* Returns null for 0, which means that there is no limit. */
static json_t *number_or_null(uint64_t value)
{
	return value ? number_json(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
	char clean[4 * GKL_UUID];

	gk_str_clean(clean, sizeof clean, text, strlen(text));
	return *clean ? json_string(clean) : json_null();
}

static json_t *kinds_json(const uint64_t *kinds)
{
	json_t *all = json_object();

	for (unsigned kind = 0; kind < GKL_KINDS; kind++)
		json_object_set_new(all, limit_kinds[kind],
				    number_json(kinds[kind]));
	return all;
}

static json_t *limits_json(const uint64_t *values)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < GKL_DEVICES; i++)
		json_array_append_new(list, number_or_null(values[i]));
	return list;
}

static json_t *policy_json(const struct limit_view *view)
{
	const struct gkl_policy *policy = &view->policy;

	if (view->err)
		return json_null();
	return json_pack("{s:o, s:o, s:s, s:I, s:b, s:s, s:b, s:b}",
			 "memory_bytes", limits_json(policy->memory),
			 "compute_percent", limits_json(policy->compute),
			 "policy", limit_rules[policy->rule % 4], "priority",
			 (json_int_t)policy->priority, "suspended",
			 policy->suspended != 0, "contexts",
			 policy->contexts_free ? "free" : "count",
			 "oversubscribe", policy->oversubscribe != 0,
			 "oom_killer", policy->oom_killer != 0);
}

/* Returns the device time, or null if it was never measured. */
static json_t *busy_json(const struct limit_view *view, unsigned i, uint64_t ns)
{
	return ns || limit_measures_time(view, i) ? json_integer((json_int_t)ns)
						  : json_null();
}

static json_t *device_json(const struct limit_view *view,
			   const struct limit_view_device *device)
{
	unsigned i = device->index;

	return json_pack(
	    "{s:I, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:I, s:o, s:o, s:o, s:I, "
	    "s:I}",
	    "index", (json_int_t)i, "uuid", text_or_null(device->device.uuid),
	    "memory_total_bytes", number_or_null(device->device.total),
	    "memory_limit_bytes", number_or_null(view->policy.memory[i]),
	    "memory_used_bytes", (json_int_t)device->total.used,
	    "memory_peak_bytes", (json_int_t)device->total.peak,
	    "context_bytes", number_or_null(device->device.context_bytes),
	    "kinds", kinds_json(device->kinds), "refused",
	    (json_int_t)device->total.refused, "compute_limit_percent",
	    number_or_null(view->policy.compute[i]), "compute_percent",
	    device->share < 0 ? json_null() : json_real(device->share),
	    "busy_ns", busy_json(view, i, device->total.busy_ns),
	    "throttled_ns", (json_int_t)device->total.throttled_ns, "launches",
	    (json_int_t)device->total.launches);
}

static json_t *devices_json(const struct limit_view *view)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < view->device_count; i++)
		json_array_append_new(list,
				      device_json(view, &view->devices[i]));
	return list;
}

static json_t *use_json(const struct limit_view *view,
			const struct gkl_process *process, unsigned i)
{
	return json_pack("{s:I, s:I, s:I, s:o, s:I, s:o, s:I, s:I}", "index",
			 (json_int_t)i, "memory_used_bytes",
			 (json_int_t)process->held[i], "memory_peak_bytes",
			 (json_int_t)process->peak[i], "kinds",
			 kinds_json(process->kinds[i]), "refused",
			 (json_int_t)process->refused[i], "busy_ns",
			 busy_json(view, i, process->busy_ns[i]),
			 "throttled_ns", (json_int_t)process->throttled_ns[i],
			 "launches", (json_int_t)process->launches[i]);
}

static json_t *process_json(const struct limit_view *view,
			    const struct gkl_process *process)
{
	json_t *devices = json_array();
	char command[64] = "";

	if (!process->ended)
		limit_process_command(process, command, sizeof command);
	for (unsigned i = 0; i < view->device_count; i++)
		json_array_append_new(
		    devices, use_json(view, process, view->devices[i].index));
	return json_pack("{s:I, s:o, s:I, s:b, s:o, s:o}", "pid",
			 (json_int_t)process->pid, "host_pid",
			 number_or_null((uint64_t)process->host_pid),
			 "pid_namespace", (json_int_t)process->pid_ns, "ended",
			 (int)process->ended, "command", text_or_null(command),
			 "devices", devices);
}

static json_t *group_json(const struct limit_view *view)
{
	json_t *processes = json_array();

	for (size_t i = 0; i < view->process_count; i++)
		json_array_append_new(processes,
				      process_json(view, &view->processes[i]));
	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:o}", "name", text_or_null(view->name),
	    "path", text_or_null(view->path), "error",
	    view->err ? json_string(gk_strerror(view->err)) : json_null(),
	    "policy", policy_json(view), "devices", devices_json(view),
	    "processes", processes);
}

/* Writes `top` and frees it. `top` is NULL if memory ran out. */
static void put_json(struct gk_buf *out, json_t *top, bool one_line)
{
	char *text =
	    top ? json_dumps(top, one_line ? JSON_COMPACT : JSON_INDENT(2))
		: NULL;

	json_decref(top);
	if (text)
		gk_buf_printf(out, "%s\n", text);
	else
		out->failed = true;
	free(text);
}

void limit_views_json(struct gk_buf *out, const struct limit_views *views,
		      bool one_line)
{
	json_t *groups = json_array();

	for (size_t i = 0; i < views->count; i++)
		json_array_append_new(groups, group_json(&views->all[i]));
	put_json(out,
		 json_pack("{s:i, s:s, s:f, s:o}", "schema", 1,
			   "gpukit_version", GPUKIT_VERSION, "unix_seconds",
			   (double)gk_wall_ns() / (double)GK_NS_PER_S, "groups",
			   groups),
		 one_line);
}

/* ---- audit ---- */

static json_t *bytes_json(bool is_there, uint64_t bytes)
{
	return is_there && bytes != LIMIT_AUDIT_UNTOLD ? number_json(bytes)
						       : json_null();
}

static json_t *difference_json(const struct limit_audit *audit,
			       const struct limit_audit_row *row)
{
	const char *uuid = "";

	for (unsigned i = 0; i < audit->view.device_count; i++)
		if (audit->view.devices[i].index == row->device)
			uuid = audit->view.devices[i].device.uuid;
	return json_pack(
	    "{s:i, s:o, s:o, s:o, s:b, s:b, s:o, s:o}", "index",
	    (int)row->device, "uuid", text_or_null(uuid), "pid",
	    number_or_null((uint64_t)row->pid), "command",
	    text_or_null(row->command), "in_ledger", row->in_ledger,
	    "in_driver", row->in_driver, "ledger_bytes",
	    bytes_json(row->in_ledger, row->ledger), "driver_bytes",
	    bytes_json(row->in_driver, row->driver));
}

static json_t *sums_json(const struct limit_audit *audit)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < audit->view.device_count; i++) {
		const struct limit_view_device *device =
		    &audit->view.devices[i];

		json_array_append_new(
		    list,
		    json_pack("{s:i, s:o, s:o, s:o}", "index",
			      (int)device->index, "uuid",
			      text_or_null(device->device.uuid), "ledger_bytes",
			      number_json(audit->ledger[device->index]),
			      "driver_bytes",
			      number_json(audit->driver[device->index])));
	}
	return list;
}

void limit_audit_json(struct gk_buf *out, const struct limit_audit *audit,
		      bool one_line)
{
	json_t *differences = json_array();

	for (size_t i = 0; i < audit->count; i++)
		json_array_append_new(differences,
				      difference_json(audit, &audit->rows[i]));
	put_json(
	    out,
	    json_pack("{s:i, s:s, s:f, s:s, s:s, s:b, s:i, s:o, s:o}", "schema",
		      1, "gpukit_version", GPUKIT_VERSION, "unix_seconds",
		      (double)gk_wall_ns() / (double)GK_NS_PER_S, "group",
		      audit->view.name, "path", audit->view.path, "agrees",
		      audit->count == 0, "process_count", (int)audit->processes,
		      "devices", sums_json(audit), "differences", differences),
	    one_line);
}
