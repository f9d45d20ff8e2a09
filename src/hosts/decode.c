/* decode.c - reads the JSON of a snapshot. */
#include "hosts/decode.h"

#include "base/array.h"
#include "base/str.h"
#include "core/snapshot.h"
#include "format/json_keys.h"
#include "format/names.h"
#include "format/width.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A snapshot in the making. */
struct decoder {
	struct gk_snapshot *snap;
	struct gk_arena *arena;
	uint64_t now_ns;
	bool failed; /* no memory */
};

/* ---- single values ---- */

/* What a unit of gk_number() is in base units; 0: one. */
static const int64_t scales[] = {
    [GK_UNIT_CENTIPERCENT] = 100,
    [GK_UNIT_MILLIWATT] = 1000,
    [GK_UNIT_MILLIJOULE] = 1000,
    [GK_UNIT_NANOSECOND] = 1000000000,
};

static int64_t scale_of(enum gk_unit unit)
{
	return unit < COUNT(scales) && scales[unit] ? scales[unit] : 1;
}

/* False: it is no number, or one that is too large. */
static bool read_number(const json_t *json, int64_t scale, int64_t *ret_value)
{
	double real = json_real_value(json) * (double)scale;

	if (json_is_integer(json))
		return !__builtin_mul_overflow(json_integer_value(json), scale,
					       ret_value);
	if (!json_is_real(json) || !(real > -9.2e18 && real < 9.2e18))
		return false;
	*ret_value = (int64_t)(real < 0 ? real - 0.5 : real + 0.5);
	return true;
}

/* Within limits, else what it is without. */
static int64_t get_int(const json_t *object, const char *key, int64_t least,
		       int64_t most, int64_t otherwise)
{
	int64_t value;

	if (!read_number(json_object_get(object, key), 1, &value) ||
	    value < least || value > most)
		return otherwise;
	return value;
}

/* Nanoseconds of what is told in seconds; 0: none. */
static uint64_t get_ns(const json_t *object, const char *key)
{
	int64_t value;

	if (!read_number(json_object_get(object, key),
			 scale_of(GK_UNIT_NANOSECOND), &value) ||
	    value < 0)
		return 0;
	return (uint64_t)value;
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

/* A printable copy of any length that lives as long as the snapshot. */
static const char *keep_text(struct decoder *d, const json_t *object,
			     const char *key)
{
	const json_t *text = json_object_get(object, key);
	struct gk_buf clean = {0};
	const char *copy = "";

	if (!json_is_string(text) || !json_string_length(text))
		return copy;
	gk_add_clean(&clean, json_string_value(text), json_string_length(text));
	if (!clean.failed)
		copy = gk_arena_copy(d->arena, clean.data, clean.len);
	d->failed |= clean.failed || !copy;
	gk_buf_free(&clean);
	return copy ? copy : "";
}

/* A text of one letter; 0: it is none. */
static char letter_of(const json_t *object, const char *key)
{
	char text[2];

	get_text(object, key, text, sizeof text);
	return isalpha((unsigned char)*text) ? *text : '\0';
}

/* ---- words of a table ---- */

static enum gk_absence absence_of(const json_t *why, const char *key)
{
	const char *text = json_string_value(json_object_get(why, key));

	for (int i = GK_ABSENT_NOT_READ; text && i < GK_ABSENCE_COUNT; i++)
		if (!strcmp(gk_absence_text((enum gk_absence)i), text))
			return (enum gk_absence)i;
	return GK_ABSENT_NOT_READ;
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

static struct gk_value get_value(const json_t *object, const char *key,
				 enum gk_unit unit, const json_t *why)
{
	const json_t *json = json_object_get(object, key);
	struct gk_value value = {0};

	if (!json || json_is_null(json))
		value.why = absence_of(why, key);
	else if (!read_number(json, scale_of(unit), &value.v))
		value.why = GK_ABSENT_ERROR;
	return value;
}

static void get_metrics(const json_t *object, const struct gk_metric_info *info,
			size_t count, struct gk_value *values)
{
	const json_t *why = json_object_get(object, "why");

	for (size_t i = 0; i < count; i++)
		values[i] = get_value(object, info[i].name, info[i].unit, why);
}

static void read_host(const json_t *json, struct gk_host *host)
{
	get_text(json, "hostname", host->hostname, sizeof host->hostname);
	host->boot_ns = get_ns(json, "uptime_seconds");
	host->cpus = (unsigned)get_int(json, "cpu_count", 0, INT32_MAX, 0);
	for (size_t i = 0; i < GK_JSON_HOST_VALUES; i++) {
		const struct gk_json_value *row = &gk_json_host_values[i];

		*gk_json_value_at(host, row) =
		    get_value(json, row->key, row->unit, NULL);
	}
}

/* ---- processes ---- */

/* Arguments with a NUL behind each. */
static void keep_arguments(struct decoder *d, const json_t *list,
			   struct gk_process *p)
{
	struct gk_buf args = {0};
	const char *copy = NULL;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));

		gk_buf_puts(&args, text ? text : "");
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
	    .pid = (pid_t)get_int(json, "pid", 1, INT32_MAX, 0),
	    .parent = (pid_t)get_int(json, "ppid", 1, INT32_MAX, 0),
	    .device = (unsigned)device,
	    .types = types_of(json_object_get(json, "types")),
	    .state = state_of(state),
	    .uid = (uid_t)get_int(json, "uid", 0, UINT32_MAX - 1, -1),
	    .user = keep_text(d, json, "user"),
	    .name = keep_text(d, json, "name"),
	    .command = keep_text(d, json, "command"),
	    .container = keep_text(d, json, "container"),
	    .pod = keep_text(d, json, "pod"),
	    .cwd = keep_text(d, json, "cwd"),
	    .stat = letter_of(json, "stat"),
	    .start_ticks =
		(uint64_t)get_int(json, "start_ticks", 0, INT64_MAX, 0),
	};
	if (!*p->cwd)
		p->cwd_why = absence_of(json_object_get(json, "why"), "cwd");
	keep_arguments(d, json_object_get(json, "args"), p);
	get_metrics(json, gk_process_metrics, GK_PM_COUNT, p->m);
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

/* That of a GPU that does not answer has no reason of its own. */
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

/* A moment so long ago; 1: as long as can be told. */
static uint64_t moment_ago(const struct decoder *d, uint64_t age)
{
	return age < d->now_ns ? d->now_ns - age : 1;
}

static void read_ages(const struct decoder *d, const json_t *ages,
		      struct gk_device *dev)
{
	for (int i = 0; i < GK_JSON_TIERS; i++)
		if (json_is_number(json_object_get(ages, gk_json_tiers[i])))
			dev->read_ns[i] =
			    moment_ago(d, get_ns(ages, gk_json_tiers[i]));
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
	dev->index = (unsigned)get_int(json, "index", 0, UINT16_MAX, 0);
	dev->mig_index = (int)get_int(json, "mig_index", 0, UINT16_MAX, -1);
	dev->gpu_instance =
	    (int)get_int(json, "gpu_instance", 0, UINT16_MAX, -1);
	dev->compute_instance =
	    (int)get_int(json, "compute_instance", 0, UINT16_MAX, -1);
	dev->minor = (int)get_int(json, "minor_number", 0, UINT16_MAX, -1);
	get_text(json, "name", dev->name, sizeof dev->name);
	get_text(json, "uuid", dev->uuid, sizeof dev->uuid);
	get_text(json, "bus_id", dev->bus_id, sizeof dev->bus_id);
	get_text(json, "serial", dev->serial, sizeof dev->serial);
	get_text(json, "vbios_version", dev->vbios, sizeof dev->vbios);
	read_capability(json, dev);
}

/* The GPU before it that it is a part of; -1: there is none. */
static int parent_of(const struct gk_snapshot *snap,
		     const struct gk_device *mig)
{
	for (size_t i = snap->device_count; i--;)
		if (snap->devices[i].mig_index < 0)
			return snap->devices[i].index == mig->index ? (int)i
								    : -1;
	return -1;
}

/* A MIG device without its GPU is left out. */
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
	dev->nvml_error = (int)get_int(json, "nvml_error", 0, INT32_MAX, 0);
	read_ages(d, json_object_get(json, "age_seconds"), dev);
	get_metrics(json, gk_metrics, GK_M_COUNT, dev->m);
	snap->device_count++;
	read_processes(d, json, at);
}

/* ---- the whole ---- */

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

/* Loops over either array need no special case: neither is NULL. */
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
	if (get_int(root, "schema", 0, INT32_MAX, 0) != GK_JSON_SCHEMA)
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

int gk_decode_text(const char *text, size_t len, uint64_t now_ns,
		   struct gk_snapshot **ret_snap)
{
	json_t *root = json_loadb(text, len, 0, NULL);
	int r = gk_decode_snapshot(root, now_ns, ret_snap);

	json_decref(root);
	return r;
}
