/* SPDX-License-Identifier: Apache-2.0 */
/* decode.c - decodes a snapshot's JSON. */
#include "hosts/decode.h"

#include "base/round.h"
#include "base/str.h"
#include "core/driver/events.h"
#include "core/read/gate.h"
#include "core/snapshot.h"
#include "format/json_keys.h"
#include "format/names.h"
#include "format/width.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum lengths of texts in bytes. Command lines in /proc may be longer, but
 * recordings cut them at this length, too.
 */
#define WORDS_MAX   4096
#define COMMAND_MAX 65536

/*
 * The maximum memory of parsed JSON. Ten thousand processes need half of it. A
 * text that consists only of brackets takes eighty times its size when parsed.
 */
#define MEMORY_MOST  ((size_t)128 << 20)
#define OF_A_BRACKET 256
#define OF_A_COMMA   96

/* A snapshot being built. */
struct decoder {
	struct gk_snapshot *snap;
	struct gk_arena *arena;
	uint64_t now_ns;
	bool failed; /* out of memory */
};

/* ---- single values ---- */

/*
 * Returns a JSON number, scaled as snapshots store it, for the range check.
 * Returns GK_TOLD_NO_NUMBER if it is not a number.
 */
static int64_t number_told(const json_t *json, enum gk_unit unit)
{
	int64_t scale = gk_unit_scale(unit);

	if (json_is_integer(json))
		return gk_scaled(json_integer_value(json), scale);
	return json_is_real(json)
		   ? gk_to_int64(json_real_value(json) * (double)scale)
		   : GK_TOLD_NO_NUMBER;
}

static int64_t get_int(const json_t *object, const char *key,
		       enum gk_bound bound)
{
	return gk_bounded(
	    number_told(json_object_get(object, key), GK_UNIT_NONE), bound);
}

/*
 * Returns the nanoseconds of a key whose value is in seconds; 0 if it is not a
 * valid number.
 */
static uint64_t get_ns(const json_t *object, const char *key)
{
	return (uint64_t)gk_bounded(
	    number_told(json_object_get(object, key), GK_UNIT_NANOSECOND),
	    GK_BOUND_TIME);
}

static void get_text(const json_t *object, const char *key, char *dst,
		     size_t cap)
{
	const json_t *text = json_object_get(object, key);

	*dst = '\0';
	if (json_is_string(text))
		gk_str_clean(dst, cap, json_string_value(text),
			     json_string_length(text));
}

static size_t at_most(size_t len, size_t most)
{
	return len < most ? len : most;
}

/*
 * Returns a printable copy of a text, cut to `most` bytes, which lives as long
 * as the snapshot.
 */
static const char *keep_text(struct decoder *d, const json_t *object,
			     const char *key, size_t most)
{
	const json_t *text = json_object_get(object, key);
	struct gk_buf clean = {0};
	const char *copy = "";

	if (!json_is_string(text) || !json_string_length(text))
		return copy;
	gk_add_clean(&clean, json_string_value(text),
		     at_most(json_string_length(text), most));
	if (!clean.failed)
		copy = gk_arena_copy(d->arena, clean.data, clean.len);
	d->failed |= clean.failed || !copy;
	gk_buf_free(&clean);
	return copy ? copy : "";
}

/*
 * Returns the first letter of a text, or 0 if it does not begin with a letter.
 */
static char letter_of(const json_t *object, const char *key)
{
	char text[2];

	get_text(object, key, text, sizeof text);
	return isalpha((unsigned char)*text) ? *text : '\0';
}

/* ---- words that stand for values of enums ---- */

static enum gk_absence absence_of(const json_t *why, const char *key)
{
	const char *text = json_string_value(json_object_get(why, key));

	return gk_reason_read(text ? text : "", GK_UNIT_NONE).why;
}

static enum gk_health health_of(const char *text)
{
	for (int i = GK_HEALTH_OK; i <= GK_HEALTH_ERROR; i++)
		if (!strcmp(gk_health_name((enum gk_health)i), text))
			return (enum gk_health)i;
	return GK_HEALTH_ERROR;
}

static enum gk_process_state state_of(const char *text)
{
	for (int i = GK_PROCESS_RUNNING; i <= GK_PROCESS_NO_PERMISSION; i++)
		if (!strcmp(gk_process_state_name((enum gk_process_state)i),
			    text))
			return (enum gk_process_state)i;
	return GK_PROCESS_RUNNING;
}

static unsigned types_of(const json_t *list)
{
	unsigned bits = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));

		for (unsigned bit = 0; text && bit < GK_JSON_TYPES; bit++)
			if (!strcmp(gk_json_types[bit], text))
				bits |= 1U << bit;
	}
	return bits;
}

/* ---- values ---- */

/* Returns a value that the caller must check against its range. */
static struct gk_value get_value(const json_t *object, const char *key,
				 enum gk_unit unit, const json_t *why)
{
	const json_t *json = json_object_get(object, key);
	const char *reason;

	if (json && !json_is_null(json))
		return (struct gk_value){.v = number_told(json, unit)};
	reason = json_string_value(json_object_get(why, key));
	return gk_reason_read(reason ? reason : "", unit);
}

static void get_metrics(const json_t *object, const struct gk_metric_info *info,
			const struct gk_range *ranges, size_t count,
			struct gk_value *values)
{
	const json_t *why = json_object_get(object, "why");

	for (size_t i = 0; i < count; i++)
		values[i] =
		    gk_gate(get_value(object, info[i].name, info[i].unit, why),
			    &ranges[i]);
}

static void read_host(const json_t *json, struct gk_host *host)
{
	get_text(json, "hostname", host->hostname, sizeof host->hostname);
	host->boot_ns = get_ns(json, "uptime_seconds");
	host->cpus = (unsigned)get_int(json, "cpu_count", GK_BOUND_CPUS);
	for (size_t i = 0; i < GK_JSON_HOST_VALUES; i++) {
		const struct gk_json_value *row = &gk_json_host_values[i];

		*gk_json_value_at(host, row) =
		    get_value(json, row->key, row->unit, NULL);
	}
	gk_gate_host(host);
}

/* ---- processes ---- */

/* Stores the arguments, each followed by a NUL. */
static void keep_arguments(struct decoder *d, const json_t *list,
			   struct gk_process *p)
{
	struct gk_buf args = {0};
	const char *copy = NULL;

	for (size_t i = 0; i < json_array_size(list) && args.len < COMMAND_MAX;
	     i++) {
		const char *text = json_string_value(json_array_get(list, i));

		text = text ? text : "";
		gk_buf_add(&args, text, strnlen(text, COMMAND_MAX - args.len));
		gk_buf_putc(&args, '\0');
	}
	if (args.len && !args.failed)
		copy = gk_arena_copy(d->arena, args.data, args.len);
	d->failed |= args.failed || (args.len && !copy);
	p->args = copy ? copy : "";
	p->args_len = copy ? args.len : 0;
	gk_buf_free(&args);
}

static void read_process(struct decoder *d, const json_t *json, size_t device)
{
	struct gk_snapshot *snap = d->snap;
	struct gk_process *p = &snap->processes[snap->process_count++];
	char state[GK_NAME_MAX];

	get_text(json, "state", state, sizeof state);
	*p = (struct gk_process){
	    .pid = (pid_t)get_int(json, "pid", GK_BOUND_PID),
	    .parent = (pid_t)get_int(json, "ppid", GK_BOUND_PID),
	    .device = (unsigned)device,
	    .types = types_of(json_object_get(json, "types")),
	    .state = state_of(state),
	    .uid = (uid_t)get_int(json, "uid", GK_BOUND_UID),
	    .user = keep_text(d, json, "user", WORDS_MAX),
	    .name = keep_text(d, json, "name", WORDS_MAX),
	    .command = keep_text(d, json, "command", COMMAND_MAX),
	    .container = keep_text(d, json, "container", WORDS_MAX),
	    .pod = keep_text(d, json, "pod", WORDS_MAX),
	    .cwd = keep_text(d, json, "cwd", WORDS_MAX),
	    .stat = letter_of(json, "stat"),
	    .start_ticks =
		(uint64_t)get_int(json, "start_ticks", GK_BOUND_TICKS),
	};
	if (!*p->cwd)
		p->cwd_why = absence_of(json_object_get(json, "why"), "cwd");
	keep_arguments(d, json_object_get(json, "args"), p);
	get_metrics(json, gk_process_metrics, gk_process_metric_ranges,
		    GK_PM_COUNT, p->m);
	gk_snapshot_count(snap, p->device);
}

static bool grow_processes(struct decoder *d, size_t more)
{
	size_t count = d->snap->process_count + more + 1;
	void *grown;

	if (count > GK_DECODE_PROCESSES)
		return false;
	grown = realloc(d->snap->processes, count * sizeof(struct gk_process));
	d->failed |= !grown;
	if (grown)
		d->snap->processes = grown;
	return grown;
}

/*
 * Returns why a GPU has no list of processes. For a GPU that is not healthy,
 * the JSON may give no separate reason; GK_PRESENT is returned then.
 */
static enum gk_absence why_no_list(const json_t *json,
				   const struct gk_device *dev)
{
	const json_t *why = json_object_get(json, "why");

	if (why && dev->health != GK_HEALTH_OK &&
	    !json_object_get(why, "processes"))
		return GK_PRESENT;
	return absence_of(why, "processes");
}

static void read_processes(struct decoder *d, const json_t *json, size_t device)
{
	const json_t *list = json_object_get(json, "processes");
	struct gk_device *dev = &d->snap->devices[device];
	size_t count = json_array_size(list);

	if (!json_is_array(list)) {
		dev->processes_why = why_no_list(json, dev);
		return;
	}
	if (!grow_processes(d, count)) {
		dev->processes_why = GK_ABSENT_ERROR;
		return;
	}
	for (size_t i = 0; i < count; i++)
		read_process(d, json_array_get(list, i), device);
}

/* ---- devices ---- */

/* Converts ages to times. A time is at least 1, because 0 means never. */
static void read_ages(const struct decoder *d, const json_t *ages,
		      struct gk_device *dev)
{
	for (int i = 0; i < GK_JSON_TIERS; i++) {
		uint64_t age = get_ns(ages, gk_json_tiers[i]);

		if (json_is_number(json_object_get(ages, gk_json_tiers[i])))
			dev->read_ns[i] = age < d->now_ns ? d->now_ns - age : 1;
	}
}

static void read_capability(const json_t *json, struct gk_device *dev)
{
	const char *text =
	    json_string_value(json_object_get(json, "compute_capability"));
	unsigned major, minor;

	dev->compute_major = dev->compute_minor = -1;
	if (!text || sscanf(text, "%3u.%3u", &major, &minor) != 2)
		return;
	dev->compute_major = (int)major;
	dev->compute_minor = (int)minor;
}

static void read_identity(const json_t *json, struct gk_device *dev)
{
	dev->index = (unsigned)get_int(json, "index", GK_BOUND_INDEX);
	dev->mig_index = (int)get_int(json, "mig_index", GK_BOUND_PART);
	dev->gpu_instance = (int)get_int(json, "gpu_instance", GK_BOUND_PART);
	dev->compute_instance =
	    (int)get_int(json, "compute_instance", GK_BOUND_PART);
	dev->minor = (int)get_int(json, "minor_number", GK_BOUND_PART);
	get_text(json, "name", dev->name, sizeof dev->name);
	get_text(json, "uuid", dev->uuid, sizeof dev->uuid);
	get_text(json, "bus_id", dev->bus_id, sizeof dev->bus_id);
	get_text(json, "serial", dev->serial, sizeof dev->serial);
	get_text(json, "vbios_version", dev->vbios, sizeof dev->vbios);
	read_capability(json, dev);
}

/* Returns the index of the MIG device's GPU, which must precede it, or -1. */
static int parent_of(const struct gk_snapshot *snap,
		     const struct gk_device *mig)
{
	for (size_t i = snap->device_count; i--;)
		if (snap->devices[i].mig_index < 0)
			return snap->devices[i].index == mig->index ? (int)i
								    : -1;
	return -1;
}

/* The key "other" counts all Xids that are not listed. */
static void read_xid_counts(const json_t *counts, struct gk_xids *xids)
{
	const char *key;
	json_t *count;

	json_object_foreach((json_t *)(uintptr_t)counts, key, count)
	{
		int64_t number =
		    gk_bounded(strtoll(key, NULL, 10), GK_BOUND_XID);

		gk_xids_count(
		    xids, (uint32_t)number,
		    (uint64_t)gk_bounded(number_told(count, GK_UNIT_NONE),
					 GK_BOUND_XIDS));
	}
}

/* Accepts only Xids whose sequence numbers are positive and ascending. */
static void read_xids(struct decoder *d, const json_t *json,
		      struct gk_device *dev)
{
	const json_t *list = json_object_get(json, "xids");
	size_t count = json_array_size(list);
	size_t from = count > GK_XIDS_MAX ? count - GK_XIDS_MAX : 0;
	struct gk_xids *xids;

	if (!count)
		return;
	xids = gk_arena_room(d->arena, sizeof *xids);
	d->failed |= !xids;
	if (!xids)
		return;
	*xids = (struct gk_xids){0};
	for (size_t i = from; i < count; i++) {
		const json_t *one = json_array_get(list, i);
		struct gk_xid xid = {
		    .at = (uint64_t)get_int(one, "at", GK_BOUND_XIDS),
		    .number = (uint32_t)get_int(one, "number", GK_BOUND_XID),
		    .wall_ns = get_ns(one, "unix_seconds"),
		};

		if (!xids->count || xid.at > xids->last[xids->count - 1].at)
			gk_xids_add(xids, &xid);
	}
	read_xid_counts(json_object_get(json, "xid_counts"), xids);
	dev->xids = xids;
}

/* A MIG device whose GPU is missing is left out. */
static void read_device(struct decoder *d, const json_t *json)
{
	struct gk_snapshot *snap = d->snap;
	size_t at = snap->device_count;
	struct gk_device *dev = &snap->devices[at];
	char health[GK_NAME_MAX];

	*dev = (struct gk_device){.parent = -1};
	read_identity(json, dev);
	if (dev->mig_index >= 0)
		dev->parent = parent_of(snap, dev);
	if (dev->mig_index >= 0 && dev->parent < 0)
		return;
	get_text(json, "health", health, sizeof health);
	dev->health = health_of(health);
	dev->nvml_error = (int)get_int(json, "nvml_error", GK_BOUND_NVML_ERROR);
	read_ages(d, json_object_get(json, "age_seconds"), dev);
	get_metrics(json, gk_metrics, gk_metric_ranges, GK_M_COUNT, dev->m);
	snap->device_count++;
	read_xids(d, json, dev);
	read_processes(d, json, at);
}

/* ---- the whole snapshot ---- */

static int read_cuda_version(const json_t *root)
{
	const char *text =
	    json_string_value(json_object_get(root, "cuda_version"));
	unsigned major, minor;

	if (!text || sscanf(text, "%4u.%2u", &major, &minor) != 2)
		return 0;
	return (int)(major * 1000 + minor * 10);
}

static void read_machine(struct decoder *d, const json_t *root)
{
	struct gk_snapshot *snap = d->snap;

	snap->wall_ns = get_ns(root, "unix_seconds");
	snap->mono_ns = d->now_ns;
	get_text(root, "driver_version", snap->driver_version,
		 sizeof snap->driver_version);
	get_text(root, "nvml_version", snap->nvml_version,
		 sizeof snap->nvml_version);
	snap->cuda_version = read_cuda_version(root);
	read_host(json_object_get(root, "host"), &snap->host);
}

/*
 * Allocates both arrays even if they are empty, so that loops need no special
 * case.
 */
static void read_devices(struct decoder *d, const json_t *list)
{
	size_t count = json_array_size(list);

	d->snap->devices = calloc(count + 1, sizeof *d->snap->devices);
	if (!d->snap->devices || !grow_processes(d, 0)) {
		d->failed = true;
		return;
	}
	for (size_t i = 0; i < count && !d->failed; i++)
		read_device(d, json_array_get(list, i));
}

int gk_decode_snapshot(const json_t *root, uint64_t now_ns,
		       struct gk_snapshot **ret_snap)
{
	const json_t *devices = json_object_get(root, "devices");
	struct decoder d = {.now_ns = now_ns};
	int r;

	if (!json_is_integer(json_object_get(root, "schema")) ||
	    !json_is_array(devices) ||
	    json_array_size(devices) > GK_DECODE_DEVICES)
		return GK_ERR_CORRUPT;
	if (json_integer_value(json_object_get(root, "schema")) !=
	    GK_JSON_SCHEMA)
		return GK_ERR_VERSION;
	r = gk_snapshot_new(&d.arena, &d.snap);
	if (r)
		return r;
	read_machine(&d, root);
	read_devices(&d, devices);
	if (d.failed) {
		gk_snapshot_free(d.snap);
		return GK_ERR_NOMEM;
	}
	*ret_snap = d.snap;
	return 0;
}

/*
 * Returns an upper bound of the memory that the parsed JSON will need. Brackets
 * and commas inside of texts are counted, too.
 */
static size_t memory_of(const char *text, size_t len)
{
	size_t memory = 0;

	for (size_t i = 0; i < len; i++)
		memory += text[i] == '[' || text[i] == '{' ? OF_A_BRACKET
			  : text[i] == ','                 ? OF_A_COMMA
							   : 0;
	return memory;
}

int gk_decode_text(const char *text, size_t len, uint64_t now_ns,
		   struct gk_snapshot **ret_snap)
{
	json_t *root;
	int r;

	if (memory_of(text, len) > MEMORY_MOST)
		return GK_ERR_TOO_MANY;
	root = json_loadb(text, len, 0, NULL);
	r = gk_decode_snapshot(root, now_ns, ret_snap);
	json_decref(root);
	return r;
}
