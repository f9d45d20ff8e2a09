/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - keeps the state of a host. */
#include "web/host.h"

#include "base/clock.h"
#include "core/read/gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the ring ---- */

static void drop_oldest(struct gk_web_host *h)
{
	h->ring_bytes -= h->ring[h->first]->len;
	gk_event_drop(h->ring[h->first]);
	h->first = (h->first + 1) % GK_WEB_RING;
	h->count--;
}

/*
 * Hellos are not put into the ring: they are large, and a new one supersedes
 * earlier ones.
 */
static void keep_event(struct gk_web_host *h, struct gk_event *event)
{
	gk_event_drop(h->latest[event->kind]);
	h->latest[event->kind] = event;
	if (event->kind == GK_EVENT_HELLO)
		return;
	while (h->count && (h->count == GK_WEB_RING ||
			    h->ring_bytes + event->len > GK_WEB_RING_BYTES))
		drop_oldest(h);
	h->ring[(h->first + h->count++) % GK_WEB_RING] = gk_event_use(event);
	h->ring_bytes += event->len;
}

/* ---- history ---- */

static double percent_of(double part, double of)
{
	return of > 0 && part >= 0 && part <= of ? 100 * part / of
						 : (double)NAN;
}

/*
 * For each series: its name, the decimals with which its values are sent, and
 * their maximum. If the series is a metric, the maximum is that of the metric's
 * range.
 */
static const struct {
	const char *name;
	int decimals;
	int metric; /* -1: none */
	double most;
} series[GK_WEB_SERIES] = {
    {"gpu_utilization_percent", 0, GK_M_GPU_UTIL, 0},
    {"memory_percent", 1, -1, 100},
    {"power_watts", 0, GK_M_POWER, 0},
    {"temperature_celsius", 0, GK_M_TEMP, 0},
    /*
     * 1 if clocks are held back by heat, hardware or a power brake, or more
     * than slightly by the power cap.
     */
    {"held", 0, -1, 1},
};

static bool can_be(int s, double value)
{
	const struct gk_range *range;
	double scale;

	if (series[s].metric < 0)
		return value >= 0 && value <= series[s].most;
	range = &gk_metric_ranges[series[s].metric];
	scale = (double)gk_unit_scale(gk_metrics[series[s].metric].unit);
	return value * scale >= (double)range->least &&
	       value * scale <= (double)range->most;
}

/*
 * Bits of nvmlClocksEventReasons. BY_POWER: the power cap. BY_FORCE: a slowdown
 * by the hardware, by heat or by a power brake.
 */
#define BY_POWER 0x4
#define BY_FORCE (0x8 | 0x20 | 0x40 | 0x80)

static double is_held(const json_t *device)
{
	double reasons = gk_member_number(device, "clocks_event_reasons");
	uint64_t bits = reasons > 0 && reasons < 1e15 ? (uint64_t)reasons : 0;

	return bits & BY_FORCE ||
	       (bits & BY_POWER && !json_object_get(device, "slight"));
}

static void read_values(const json_t *device, double values[GK_WEB_SERIES])
{
	const char *state = gk_member_text(device, "state");
	bool silent = !strcmp(state, "lost") || !strcmp(state, "error") ||
		      !strcmp(state, "hung") || !strcmp(state, "stale");

	for (int i = 0; i < GK_WEB_SERIES; i++)
		values[i] = silent ? (double)NAN
				   : gk_member_number(device, series[i].name);
	if (silent)
		return;
	values[4] = is_held(device);
	values[1] = percent_of(gk_member_number(device, "memory_used_bytes"),
			       gk_member_number(device, "memory_total_bytes"));
}

static void clear_trace(struct gk_web_trace *trace)
{
	for (int s = 0; s < GK_WEB_SERIES; s++)
		for (int i = 0; i < GK_WEB_STEPS; i++)
			trace->values[s][i] = NAN;
}

/* Makes a trace for each device in a hello; known devices keep their values. */
static int set_traces(struct gk_web_host *h, const json_t *devices)
{
	size_t count = json_array_size(devices);
	struct gk_web_trace *all = calloc(count ? count : 1, sizeof *all);

	if (!all)
		return GK_ERR_NOMEM;
	for (size_t i = 0; i < count; i++) {
		const json_t *device = json_array_get(devices, i);
		const char *uuid = gk_member_text(device, "uuid");
		const struct gk_web_trace *old = gk_web_trace_of(h, uuid);

		if (old)
			all[i] = *old;
		else
			clear_trace(&all[i]);
		gk_str_copy(all[i].uuid, sizeof all[i].uuid, uuid);
		gk_str_copy(all[i].label, sizeof all[i].label,
			    gk_member_text(device, "label"));
		all[i].mig = gk_member_number(device, "mig_index") >= 0;
	}
	free(h->traces);
	h->traces = all;
	h->trace_count = count;
	return 0;
}

static void add_column(struct gk_web_host *h)
{
	for (size_t i = 0; i < h->trace_count; i++)
		for (int s = 0; s < GK_WEB_SERIES; s++)
			h->traces[i].values[s][h->end] = NAN;
	h->end = (h->end + 1) % GK_WEB_STEPS;
	if (h->steps < GK_WEB_STEPS)
		h->steps++;
}

/* Returns how many intervals have passed since the last frame; at least 1. */
static unsigned steps_to(const struct gk_web_host *h, double time)
{
	double steps = (time - h->time) / h->interval;

	if (!(steps > 1.5) || !h->time)
		return 1;
	return steps < GK_WEB_STEPS ? (unsigned)(steps + 0.5) : GK_WEB_STEPS;
}

static void add_frame(struct gk_web_host *h, const json_t *frame)
{
	double time = gk_member_number(frame, "time");
	const json_t *devices = json_object_get(frame, "devices");
	unsigned last;

	for (unsigned k = steps_to(h, time); k; k--)
		add_column(h);
	last = (h->end + GK_WEB_STEPS - 1) % GK_WEB_STEPS;
	h->time = time;
	for (size_t i = 0; i < json_array_size(devices); i++) {
		const json_t *device = json_array_get(devices, i);
		struct gk_web_trace *t =
		    gk_web_trace_of(h, gk_member_text(device, "uuid"));
		double values[GK_WEB_SERIES];

		read_values(device, values);
		for (int s = 0; t && s < GK_WEB_SERIES; s++)
			t->values[s][last] = (float)values[s];
	}
}

/* ---- the history of a hello ---- */

static void read_series(const struct gk_web_host *h, struct gk_web_trace *t,
			int s, const json_t *from)
{
	float *ring = t->values[s];
	size_t count = json_array_size(from);

	for (unsigned i = 0; i < h->steps && i < count; i++) {
		const json_t *value = json_array_get(from, count - 1 - i);
		unsigned at = (h->end + GK_WEB_STEPS - 1 - i) % GK_WEB_STEPS;

		if (json_is_number(value) &&
		    can_be(s, json_number_value(value)))
			ring[at] = (float)json_number_value(value);
	}
}

/*
 * Replaces the history that is kept here for a peer by the history in the
 * peer's hello.
 */
static void read_history(struct gk_web_host *h, const json_t *history)
{
	double steps = gk_member_number(history, "steps");
	double time = gk_member_number(history, "time");

	if (!(steps >= 0 && steps <= GK_WEB_STEPS && time >= 0))
		return;
	h->steps = (unsigned)steps;
	h->end = h->steps % GK_WEB_STEPS;
	h->time = time;
	for (size_t i = 0; i < h->trace_count; i++) {
		struct gk_web_trace *t = &h->traces[i];
		const json_t *of = json_object_get(
		    json_object_get(history, "devices"), t->uuid);

		clear_trace(t);
		for (int s = 0; s < GK_WEB_SERIES; s++)
			read_series(h, t, s,
				    json_object_get(of, series[s].name));
	}
}

/* Returns how many of the last steps of history fit into a hello. */
static unsigned told_steps(const struct gk_web_host *h)
{
	size_t series_count = h->trace_count * GK_WEB_SERIES;
	size_t most = GK_WEB_CELLS / (series_count ? series_count : 1);

	return most < h->steps ? (unsigned)most : h->steps;
}

static void put_series(const struct gk_web_host *h, const float *ring,
		       int decimals, struct gk_buf *out)
{
	unsigned steps = told_steps(h);

	gk_buf_putc(out, '[');
	for (unsigned i = 0; i < steps; i++) {
		float v =
		    ring[(h->end + GK_WEB_STEPS - steps + i) % GK_WEB_STEPS];

		gk_buf_puts(out, i ? "," : "");
		if (isnan(v))
			gk_buf_puts(out, "null");
		else
			gk_buf_printf(out, "%.*f", decimals, (double)v);
	}
	gk_buf_putc(out, ']');
}

static void put_history(const struct gk_web_host *h, struct gk_buf *out)
{
	gk_buf_printf(out, ",\"history\":{\"steps\":%u,\"time\":%.3f,",
		      told_steps(h), h->time);
	gk_buf_puts(out, "\"devices\":{");
	for (size_t i = 0; i < h->trace_count; i++) {
		const struct gk_web_trace *t = &h->traces[i];
		json_t *uuid = json_string(t->uuid);
		char *key = json_dumps(uuid, JSON_ENCODE_ANY);

		gk_buf_printf(out, "%s%s:{", i ? "," : "", key ? key : "\"\"");
		for (int s = 0; s < GK_WEB_SERIES; s++) {
			gk_buf_printf(out, "%s\"%s\":", s ? "," : "",
				      series[s].name);
			put_series(h, t->values[s], series[s].decimals, out);
		}
		gk_buf_putc(out, '}');
		free(key);
		json_decref(uuid);
	}
	gk_buf_puts(out, "}}");
}

struct gk_event *gk_web_host_hello(const struct gk_web_host *h,
				   const char *token, uint64_t id)
{
	struct gk_event *event = NULL;
	struct gk_buf text = {0};

	if (!h->hello)
		return NULL;
	/* The closing brace is left out, since more members follow. */
	gk_buf_add(&text, h->hello, strlen(h->hello) - 1);
	put_history(h, &text);
	gk_buf_putc(&text, '}');
	if (!text.failed)
		event = gk_event_new(GK_EVENT_HELLO, token, id, text.data);
	gk_buf_free(&text);
	return event;
}

/* ---- receiving events ---- */

static int take_hello(struct gk_web_host *h, json_t *hello)
{
	json_t *history = json_incref(json_object_get(hello, "history"));
	int err = set_traces(h, json_object_get(hello, "devices"));
	char *who;

	json_object_del(hello, "history");
	who = json_dumps(hello, JSON_COMPACT | JSON_REAL_PRECISION(15));
	if (!err && who) {
		free(h->hello);
		h->hello = who;
		h->interval = gk_member_number(hello, "interval_seconds");
		gk_str_copy(h->told, sizeof h->told,
			    gk_member_text(hello, "hostname"));
		if (json_is_object(history))
			read_history(h, history);
	} else {
		free(who);
		err = err ? err : GK_ERR_NOMEM;
	}
	json_decref(history);
	return err;
}

static void take_frame(struct gk_web_host *h, const json_t *frame)
{
	add_frame(h, frame);
	gk_web_host_line(h, frame);
	h->heard_ns = gk_mono_ns();
	*h->why = '\0';
}

/*
 * Whether an event must be parsed. Hellos and frames are parsed because parts
 * of them are kept here. Other events are parsed only to check them, which is
 * not necessary for our own.
 */
static bool is_to_be_read(enum gk_event_kind kind, bool own)
{
	return kind == GK_EVENT_HELLO || kind == GK_EVENT_FRAME || !own;
}

/*
 * Makes the event to send on: from `changed` or, if that is NULL, from the text
 * that was received.
 */
static struct gk_event *make_event(const struct gk_web_host *h,
				   enum gk_event_kind kind, const char *json,
				   const json_t *changed, const char *token,
				   uint64_t id)
{
	struct gk_event *event;
	char *text;

	if (kind == GK_EVENT_HELLO)
		return gk_web_host_hello(h, token, id);
	if (!changed)
		return gk_event_new(kind, token, id, json);
	text = json_dumps(changed, JSON_COMPACT | JSON_REAL_PRECISION(15));
	event = text ? gk_event_new(kind, token, id, text) : NULL;
	free(text);
	return event;
}

int gk_web_host_take(struct gk_web_host *h, enum gk_event_kind kind,
		     const char *json, size_t len, const char *token,
		     uint64_t id)
{
	struct gk_event *kept = NULL;
	json_t *event = NULL;
	bool changed = false;
	int err = 0;

	if (is_to_be_read(kind, h->own))
		event = gk_event_read(kind, json, len, h->own, &changed);
	if ((is_to_be_read(kind, h->own) && !event) ||
	    (kind != GK_EVENT_HELLO && !h->hello)) {
		json_decref(event);
		return GK_ERR_INVALID;
	}
	if (kind == GK_EVENT_HELLO)
		err = take_hello(h, event);
	if (kind == GK_EVENT_FRAME)
		take_frame(h, event);
	if (!err)
		kept = make_event(h, kind, json, changed ? event : NULL, token,
				  id);
	json_decref(event);
	if (!kept)
		return err ? err : GK_ERR_NOMEM;
	keep_event(h, kept);
	return 0;
}

/* ---- initialising and freeing ---- */

void gk_web_host_init(struct gk_web_host *h, const char *name, bool own)
{
	*h = (struct gk_web_host){.own = own};
	gk_str_copy(h->name, sizeof h->name, name);
	gk_str_copy(h->why, sizeof h->why, "connecting");
}

void gk_web_host_free(struct gk_web_host *h)
{
	for (unsigned i = 0; i < h->count; i++)
		gk_event_drop(h->ring[(h->first + i) % GK_WEB_RING]);
	for (int i = 0; i < GK_EVENT_KINDS; i++)
		gk_event_drop(h->latest[i]);
	free(h->hello);
	gk_buf_free(&h->line);
	free(h->traces);
}
