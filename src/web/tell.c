/* SPDX-License-Identifier: Apache-2.0 */
/* tell.c - formats a snapshot as events for a page. */
#include "web/tell.h"

#include "base/array.h"
#include "base/clock.h"
#include "format/json.h"
#include "format/model.h"
#include "format/names.h"
#include "format/units.h"

#include <stdio.h>
#include <string.h>

/* Incremented when a key is removed or changes meaning. */
#define SCHEMA      2
#define WORDS_WIDTH 40 /* columns for the text that describes a state */
#define MODEL_WIDTH 24
#define XIDS_TOLD   16
/* Clocks that are held back for less time than this raise no alert. */
#define HELD_NS (30 * GK_NS_PER_S)

/* ---- JSON ---- */

/* Adds a key. Adds a comma before it unless it is the object's first key. */
static void put_key(struct gk_buf *out, const char *key)
{
	if (out->len && out->data[out->len - 1] != '{')
		gk_buf_putc(out, ',');
	gk_buf_printf(out, "\"%s\":", key);
}

static void put_text(struct gk_buf *out, const char *key, const char *text)
{
	if (!*text)
		return;
	put_key(out, key);
	gk_json_string(out, text, strlen(text));
}

static void put_int(struct gk_buf *out, const char *key, int64_t value)
{
	put_key(out, key);
	gk_buf_printf(out, "%lld", (long long)value);
}

static void put_seconds(struct gk_buf *out, const char *key, uint64_t ns)
{
	put_key(out, key);
	gk_buf_printf(out, "%llu.%03u", (unsigned long long)(ns / GK_NS_PER_S),
		      (unsigned)(ns % GK_NS_PER_S / GK_NS_PER_MS));
}

static void put_value(struct gk_buf *out, const struct gk_metric_info *info,
		      struct gk_value value)
{
	char digits[GK_UNITS_MAX];

	if (value.why != GK_PRESENT)
		return;
	put_key(out, info->name);
	gk_buf_puts(out, gk_number(digits, value.v, info->unit));
}

static void put_identity(struct gk_buf *out, const struct gk_device *d)
{
	char text[GK_NAME_MAX];

	put_text(out, "uuid", gk_identity_text(text, d));
}

/* Begins an element of an array. */
static void open_element(struct gk_buf *out)
{
	if (out->data[out->len - 1] != '[')
		gk_buf_putc(out, ',');
	gk_buf_putc(out, '{');
}

static void open_event(struct gk_buf *out, const struct gk_snapshot *snap)
{
	gk_buf_putc(out, '{');
	put_seconds(out, "time", snap->wall_ns);
}

/* ---- hello ---- */

static void put_who(struct gk_buf *out, const struct gk_snapshot *snap,
		    const struct gk_device *d)
{
	char text[GK_NAME_MAX];

	open_element(out);
	put_text(out, "label", gk_device_label(text, d));
	put_int(out, "index", d->index);
	if (d->mig_index >= 0) {
		put_int(out, "mig_index", d->mig_index);
		put_int(out, "gpu_instance", d->gpu_instance);
		put_int(out, "compute_instance", d->compute_instance);
	}
	put_text(out, "name", d->name);
	put_text(out, "model", gk_short_model(snap, d, MODEL_WIDTH, text));
	put_identity(out, d);
	put_text(out, "bus_id", d->bus_id);
	put_text(out, "vbios_version", d->vbios);
	if (d->minor >= 0)
		put_int(out, "minor_number", d->minor);
	if (d->compute_major >= 0) {
		put_key(out, "compute_capability");
		gk_buf_printf(out, "\"%d.%d\"", d->compute_major,
			      d->compute_minor);
	}
	gk_buf_putc(out, '}');
}

void gk_tell_hello(struct gk_buf *out, const struct gk_snapshot *snap,
		   uint64_t interval_ns)
{
	char version[GK_UNITS_MAX];

	gk_buf_putc(out, '{');
	put_int(out, "schema", SCHEMA);
	put_text(out, "gpukit_version", GPUKIT_VERSION);
	put_text(out, "hostname", snap->host.hostname);
	put_int(out, "cpu_count", snap->host.cpus);
	put_text(out, "driver_version", snap->driver_version);
	if (snap->cuda_version)
		put_text(out, "cuda_version",
			 gk_cuda_version(version, snap->cuda_version));
	put_seconds(out, "interval_seconds", interval_ns);
	put_key(out, "devices");
	gk_buf_putc(out, '[');
	for (size_t i = 0; i < snap->device_count; i++)
		put_who(out, snap, &snap->devices[i]);
	gk_buf_puts(out, "]}");
}

/* ---- frame ---- */

static const enum gk_metric frame_metrics[] = {
    GK_M_GPU_UTIL,    GK_M_MEM_UTIL,       GK_M_MEM_USED,  GK_M_MEM_TOTAL,
    GK_M_POWER,       GK_M_POWER_ENFORCED, GK_M_TEMP,      GK_M_TEMP_MEM,
    GK_M_SM_CLOCK,    GK_M_SM_CLOCK_MAX,   GK_M_MEM_CLOCK, GK_M_PCIE_RX,
    GK_M_PCIE_TX,     GK_M_ENERGY,         GK_M_XID_LAST,  GK_M_THROTTLE,
    GK_M_POWER_LIMIT, GK_M_MEM_UNIFIED};

static struct gk_state state_of(const struct gk_teller *teller,
				const struct gk_snapshot *snap,
				const struct gk_device *d)
{
	return gk_state_of(&teller->seen, snap, d,
			   (struct gk_state_options){.width = WORDS_WIDTH});
}

static void put_state(struct gk_buf *out, const struct gk_teller *teller,
		      const struct gk_snapshot *snap, const struct gk_device *d)
{
	struct gk_state state = state_of(teller, snap, d);
	char why[GK_WHY_MAX];

	put_text(out, "state", gk_state_name(state.kind));
	put_text(out, "glyph", gk_state_glyph(state.kind));
	put_text(out, "words", state.words);
	if (state.slight)
		put_int(out, "slight", 1);
	if (gk_state_is_trouble(&state))
		put_text(out, "why", gk_state_why(why, snap, d));
}

static void put_owners(struct gk_buf *out, const struct gk_teller *teller,
		       const struct gk_snapshot *snap, size_t device)
{
	struct gk_share shares[GK_SHARES];
	int count = gk_shares_of(&teller->owners, snap, device, shares);

	put_key(out, "owners");
	gk_buf_putc(out, '[');
	for (int i = 0; i < count; i++) {
		open_element(out);
		put_int(out, "owner", shares[i].owner);
		put_text(out, "name", shares[i].name);
		put_int(out, "bytes", shares[i].bytes);
		gk_buf_putc(out, '}');
	}
	gk_buf_putc(out, ']');
}

/* Adds the last Xids, in order. */
static void put_xids(struct gk_buf *out, const struct gk_device *d)
{
	const struct gk_xids *xids = d->xids;
	size_t from =
	    xids && xids->count > XIDS_TOLD ? xids->count - XIDS_TOLD : 0;

	if (!xids || !xids->count)
		return;
	put_key(out, "xids");
	gk_buf_putc(out, '[');
	for (size_t i = from; i < xids->count; i++) {
		open_element(out);
		put_int(out, "number", xids->last[i].number);
		put_seconds(out, "time", xids->last[i].wall_ns);
		gk_buf_putc(out, '}');
	}
	gk_buf_putc(out, ']');
}

static void put_device(struct gk_buf *out, const struct gk_teller *teller,
		       const struct gk_snapshot *snap, size_t device)
{
	const struct gk_device *d = &snap->devices[device];
	uint64_t age = gk_device_age(snap, d, GK_TIER_FAST);

	open_element(out);
	put_identity(out, d);
	put_state(out, teller, snap, d);
	if (age != UINT64_MAX)
		put_seconds(out, "age_seconds", age);
	for (size_t i = 0; i < COUNT(frame_metrics); i++)
		put_value(out, &gk_metrics[frame_metrics[i]],
			  d->m[frame_metrics[i]]);
	put_xids(out, d);
	if (d->processes_why == GK_PRESENT)
		put_int(out, "process_count", d->process_count);
	put_owners(out, teller, snap, device);
	gk_buf_putc(out, '}');
}

static void put_host_value(struct gk_buf *out, const char *name,
			   struct gk_value value, enum gk_unit unit)
{
	struct gk_metric_info info = {.name = name, .unit = unit};

	put_value(out, &info, value);
}

static void put_host(struct gk_buf *out, const struct gk_host *h)
{
	put_key(out, "host");
	gk_buf_putc(out, '{');
	put_host_value(out, "cpu_percent", h->cpu_centipercent,
		       GK_UNIT_CENTIPERCENT);
	put_host_value(out, "load_average_1m", h->load_centi[0],
		       GK_UNIT_CENTIPERCENT);
	put_host_value(out, "memory_total_bytes", h->mem_total, GK_UNIT_BYTES);
	put_host_value(out, "memory_available_bytes", h->mem_available,
		       GK_UNIT_BYTES);
	put_seconds(out, "uptime_seconds", h->boot_ns);
	gk_buf_putc(out, '}');
}

void gk_tell_frame(struct gk_buf *out, const struct gk_teller *teller,
		   const struct gk_snapshot *snap)
{
	open_event(out, snap);
	put_host(out, &snap->host);
	put_key(out, "devices");
	gk_buf_putc(out, '[');
	for (size_t i = 0; i < snap->device_count; i++)
		put_device(out, teller, snap, i);
	gk_buf_puts(out, "]}");
}

/* ---- details ---- */

void gk_tell_details(struct gk_buf *out, const struct gk_snapshot *snap)
{
	open_event(out, snap);
	put_key(out, "devices");
	gk_buf_putc(out, '[');
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];

		open_element(out);
		put_identity(out, d);
		for (int m = 0; m < GK_M_COUNT; m++)
			put_value(out, &gk_metrics[m], d->m[m]);
		gk_buf_putc(out, '}');
	}
	gk_buf_puts(out, "]}");
}

/* ---- processes ---- */

static void put_process(struct gk_buf *out, const struct gk_teller *teller,
			const struct gk_snapshot *snap,
			const struct gk_process *p, bool commands)
{
	char label[GK_NAME_MAX];

	open_element(out);
	put_text(out, "label",
		 gk_device_label(label, &snap->devices[p->device]));
	put_int(out, "owner", gk_owner_of(&teller->owners, snap, p));
	put_int(out, "pid", p->pid);
	put_text(out, "user", p->user);
	put_text(out, "name", p->name);
	if (commands) {
		put_text(out, "command", p->command);
		put_text(out, "cwd", p->cwd);
	}
	put_text(out, "container", p->container);
	put_text(out, "pod", p->pod);
	put_text(out, "stat", (char[]){p->stat, '\0'});
	put_text(out, "type", gk_process_type_letter(p->types));
	if (p->state != GK_PROCESS_RUNNING)
		put_text(out, "state", gk_process_state_name(p->state));
	for (int m = 0; m < GK_PM_COUNT; m++)
		put_value(out, &gk_process_metrics[m], p->m[m]);
	gk_buf_putc(out, '}');
}

void gk_tell_processes(struct gk_buf *out, const struct gk_teller *teller,
		       const struct gk_snapshot *snap, bool commands)
{
	open_event(out, snap);
	if (!snap->process_count)
		put_text(out, "none", gk_no_processes_text(snap));
	put_key(out, "processes");
	gk_buf_putc(out, '[');
	for (size_t i = 0; i < snap->process_count; i++)
		put_process(out, teller, snap, &snap->processes[i], commands);
	gk_buf_puts(out, "]}");
}

/* ---- alerts ---- */

static struct gk_trouble *trouble_of(struct gk_teller *teller,
				     const struct gk_device *d)
{
	struct gk_trouble *t;

	for (int i = 0; i < teller->trouble_count; i++)
		if (gk_identity_is(&teller->troubles[i].who, d))
			return &teller->troubles[i];
	if (teller->trouble_count == GK_SEEN_GPUS)
		return NULL;
	t = &teller->troubles[teller->trouble_count++];
	*t = (struct gk_trouble){.who = gk_identity_of(d)};
	return t;
}

/*
 * Whether a state deserves an alert. Values that are late by a short time do
 * not.
 */
static bool is_told(const struct gk_state *s)
{
	return gk_state_is_trouble(s) && s->kind != GK_STATE_STALE;
}

void gk_tell_take(struct gk_teller *teller, const struct gk_snapshot *snap)
{
	gk_seen_take(&teller->seen, snap);
	gk_owners_take(&teller->owners, snap);
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];
		struct gk_state s = state_of(teller, snap, d);
		struct gk_trouble *t =
		    d->mig_index < 0 ? trouble_of(teller, d) : NULL;

		if (!t)
			continue;
		gk_identity_follow(&t->who, d);
		t->from_start =
		    is_told(&s) &&
		    (!t->seen || (t->from_start && t->kind == s.kind));
		t->seen |= !gk_device_unread(d);
		if (!is_told(&s)) {
			t->since_ns = 0;
		} else if (!t->since_ns || t->kind != s.kind) {
			t->since_ns = snap->mono_ns;
			t->since_wall_ns = snap->wall_ns;
		}
		t->kind = s.kind;
	}
}

static bool is_told_trouble(const struct gk_trouble *t,
			    const struct gk_snapshot *snap)
{
	if (!t || !t->since_ns)
		return false;
	return t->kind != GK_STATE_HELD ||
	       snap->mono_ns - t->since_ns >= HELD_NS;
}

static const struct gk_trouble *find_trouble(const struct gk_teller *teller,
					     const struct gk_device *d)
{
	for (int i = 0; i < teller->trouble_count; i++)
		if (gk_identity_is(&teller->troubles[i].who, d))
			return &teller->troubles[i];
	return NULL;
}

static void put_alert(struct gk_buf *out, const struct gk_snapshot *snap,
		      const struct gk_device *d, const struct gk_trouble *t)
{
	bool fails = gk_state_fails(t->kind);
	char text[GK_NAME_MAX], why[GK_WHY_MAX];

	open_element(out);
	put_text(out, "label", gk_device_label(text, d));
	put_identity(out, d);
	put_text(out, "state", gk_state_name(t->kind));
	put_text(out, "glyph", gk_state_glyph(t->kind));
	put_text(out, "level", fails ? "fail" : "warn");
	if (fails || t->kind == GK_STATE_DEGRADED)
		put_text(out, "why", gk_state_why(why, snap, d));
	put_seconds(out, "since", t->since_wall_ns);
	if (t->from_start)
		put_int(out, "since_before", 1);
	gk_buf_putc(out, '}');
}

void gk_tell_alerts(struct gk_buf *out, const struct gk_teller *teller,
		    const struct gk_snapshot *snap)
{
	gk_buf_puts(out, "{\"alerts\":[");
	for (int kind = 0; kind < GK_STATE_KINDS; kind++)
		for (size_t i = 0; i < snap->device_count; i++) {
			const struct gk_device *d = &snap->devices[i];
			const struct gk_trouble *t = find_trouble(teller, d);

			if (is_told_trouble(t, snap) && (int)t->kind == kind)
				put_alert(out, snap, d, t);
		}
	gk_buf_puts(out, "]}");
}
