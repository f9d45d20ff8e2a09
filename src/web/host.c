/* host.c - keeps what is known of a host. */
#include "web/host.h"

#include "base/array.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the ring ---- */

static void keep_event(struct gk_web_host *h, struct gk_event *event)
{
	unsigned at = (h->first + h->count) % GK_WEB_RING;

	if (h->count == GK_WEB_RING) {
		gk_event_drop(h->ring[h->first]);
		h->first = (h->first + 1) % GK_WEB_RING;
	} else {
		h->count++;
	}
	h->ring[at] = event;
	gk_event_drop(h->latest[event->kind]);
	h->latest[event->kind] = gk_event_use(event);
}

/* ---- JSON ---- */

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static double percent(double part, double of)
{
	return of > 0 ? 100 * part / of : (double)NAN;
}

/* ---- history ---- */

/* The names of the series and the decimals that they are sent with. */
static const struct {
	const char *name;
	int decimals;
} series[GK_WEB_SERIES] = {
    {"gpu_utilization_percent", 0}, {"memory_percent", 1}, {"power_watts", 0},
    {"temperature_celsius", 0},     {"held", 0}, /* back, by more than a little:
						    1 */
};

/* Bits of nvmlClocksEventReasons: power; hardware, heat, brake. */
#define BY_POWER 0x4
#define BY_FORCE (0x8 | 0x20 | 0x40 | 0x80)

static double is_held(const json_t *device)
{
	double reasons = number_of(device, "clocks_event_reasons");
	uint64_t bits = reasons > 0 && reasons < 1e15 ? (uint64_t)reasons : 0;

	return bits & BY_FORCE ||
	       (bits & BY_POWER && !json_object_get(device, "slight"));
}

static void read_values(const json_t *device, double values[GK_WEB_SERIES])
{
	bool silent = !strcmp(text_of(device, "state"), "lost") ||
		      !strcmp(text_of(device, "state"), "hung") ||
		      !strcmp(text_of(device, "state"), "stale");

	for (int i = 0; i < GK_WEB_SERIES; i++)
		values[i] =
		    silent ? (double)NAN : number_of(device, series[i].name);
	if (silent)
		return;
	values[4] = is_held(device);
	values[1] = percent(number_of(device, "memory_used_bytes"),
			    number_of(device, "memory_total_bytes"));
}

static struct gk_web_trace *find_trace(const struct gk_web_host *h,
				       const char *uuid)
{
	for (size_t i = 0; i < h->trace_count; i++)
		if (!strcmp(h->traces[i].uuid, uuid))
			return &h->traces[i];
	return NULL;
}

static void clear_trace(struct gk_web_trace *trace)
{
	for (int s = 0; s < GK_WEB_SERIES; s++)
		for (int i = 0; i < GK_WEB_STEPS; i++)
			trace->values[s][i] = NAN;
}

/* One for each device of a hello; those that were there keep their values. */
static int set_traces(struct gk_web_host *h, const json_t *devices)
{
	size_t count = json_array_size(devices);
	struct gk_web_trace *all = calloc(count ? count : 1, sizeof *all);

	if (!all)
		return GK_ERR_NOMEM;
	for (size_t i = 0; i < count; i++) {
		const char *uuid = text_of(json_array_get(devices, i), "uuid");
		const struct gk_web_trace *old = find_trace(h, uuid);

		if (old)
			all[i] = *old;
		else
			clear_trace(&all[i]);
		gk_str_copy(all[i].uuid, sizeof all[i].uuid, uuid);
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

/* How many intervals have passed since the last frame, at least one. */
static unsigned steps_to(const struct gk_web_host *h, double time)
{
	double interval = number_of(h->hello, "interval_seconds");
	double steps = (time - h->time) / interval;

	if (!(steps > 1.5) || !h->time)
		return 1;
	return steps < GK_WEB_STEPS ? (unsigned)(steps + 0.5) : GK_WEB_STEPS;
}

static void add_frame(struct gk_web_host *h, const json_t *frame)
{
	double time = number_of(frame, "time");
	const json_t *devices = json_object_get(frame, "devices");
	unsigned last;

	for (unsigned k = steps_to(h, time); k; k--)
		add_column(h);
	last = (h->end + GK_WEB_STEPS - 1) % GK_WEB_STEPS;
	h->time = time;
	for (size_t i = 0; i < json_array_size(devices); i++) {
		const json_t *device = json_array_get(devices, i);
		struct gk_web_trace *t = find_trace(h, text_of(device, "uuid"));
		double values[GK_WEB_SERIES];

		read_values(device, values);
		for (int s = 0; t && s < GK_WEB_SERIES; s++)
			t->values[s][last] = (float)values[s];
	}
}

/* ---- the history of a hello ---- */

static void read_series(struct gk_web_host *h, float *ring, const json_t *from)
{
	size_t count = json_array_size(from);

	for (unsigned i = 0; i < h->steps && i < count; i++) {
		const json_t *value = json_array_get(from, count - 1 - i);
		unsigned at = (h->end + GK_WEB_STEPS - 1 - i) % GK_WEB_STEPS;

		if (json_is_number(value))
			ring[at] = (float)json_number_value(value);
	}
}

/* What a peer remembers replaces what is remembered of it. */
static void read_history(struct gk_web_host *h, const json_t *history)
{
	double steps = number_of(history, "steps");

	if (!(steps >= 0 && steps <= GK_WEB_STEPS))
		return;
	h->steps = (unsigned)steps;
	h->end = h->steps % GK_WEB_STEPS;
	h->time = number_of(history, "time");
	for (size_t i = 0; i < h->trace_count; i++) {
		struct gk_web_trace *t = &h->traces[i];
		const json_t *of = json_object_get(
		    json_object_get(history, "devices"), t->uuid);

		clear_trace(t);
		for (int s = 0; s < GK_WEB_SERIES; s++)
			read_series(h, t->values[s],
				    json_object_get(of, series[s].name));
	}
}

static void put_series(const struct gk_web_host *h, const float *ring,
		       int decimals, struct gk_buf *out)
{
	gk_buf_putc(out, '[');
	for (unsigned i = 0; i < h->steps; i++) {
		float v =
		    ring[(h->end + GK_WEB_STEPS - h->steps + i) % GK_WEB_STEPS];

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
		      h->steps, h->time);
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
	char *who = h->hello ? json_dumps(h->hello, JSON_COMPACT) : NULL;
	struct gk_event *event = NULL;
	struct gk_buf text = {0};

	if (!who)
		return NULL;
	/* The object goes on in place of its last bracket. */
	gk_buf_add(&text, who, strlen(who) - 1);
	put_history(h, &text);
	gk_buf_putc(&text, '}');
	if (!text.failed)
		event = gk_event_new(GK_EVENT_HELLO, token, id, text.data);
	gk_buf_free(&text);
	free(who);
	return event;
}

/* ---- taking events in ---- */

static bool are_devices(const json_t *event)
{
	const json_t *devices = json_object_get(event, "devices");
	size_t count = json_array_size(devices);

	if (!json_is_array(devices) || count > GK_WEB_DEVICES)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!*text_of(json_array_get(devices, i), "uuid"))
			return false;
	return true;
}

/* Whether an event is what its kind says. */
static bool is_event(enum gk_event_kind kind, const json_t *event)
{
	if (!json_is_object(event))
		return false;
	switch (kind) {
	case GK_EVENT_HELLO:
		return are_devices(event) && *text_of(event, "hostname") &&
		       number_of(event, "interval_seconds") > 0;
	case GK_EVENT_FRAME:
		return are_devices(event) && number_of(event, "time") > 0;
	case GK_EVENT_DETAILS:
		return are_devices(event);
	case GK_EVENT_PROCESSES:
		return json_is_array(json_object_get(event, "processes"));
	case GK_EVENT_ALERT:
		return json_is_array(json_object_get(event, "alerts"));
	case GK_EVENT_KINDS:
		break;
	}
	return false;
}

static int take_hello(struct gk_web_host *h, json_t *hello)
{
	json_t *history = json_incref(json_object_get(hello, "history"));
	int err = set_traces(h, json_object_get(hello, "devices"));

	json_object_del(hello, "history");
	if (!err) {
		json_decref(h->hello);
		h->hello = json_incref(hello);
		if (json_is_object(history))
			read_history(h, history);
	}
	json_decref(history);
	return err;
}

static void take_frame(struct gk_web_host *h, json_t *frame)
{
	add_frame(h, frame);
	json_decref(h->frame);
	h->frame = json_incref(frame);
	h->heard_ns = gk_mono_ns();
	*h->why = '\0';
}

/* Of a hello or a frame something is kept here. The rest is read only to see
 * whether it is what it says, and of our own events we know that. */
static bool is_to_be_read(enum gk_event_kind kind, bool own)
{
	return kind == GK_EVENT_HELLO || kind == GK_EVENT_FRAME || !own;
}

int gk_web_host_take(struct gk_web_host *h, enum gk_event_kind kind,
		     const char *json, size_t len, const char *token,
		     uint64_t id)
{
	json_t *event = NULL;
	struct gk_event *kept = NULL;
	int err = 0;

	if (is_to_be_read(kind, h->own)) {
		event = json_loadb(json, len, JSON_REJECT_DUPLICATES, NULL);
		if (!is_event(kind, event) || memchr(json, '\n', len))
			err = GK_ERR_INVALID;
	}
	if (err || (kind != GK_EVENT_HELLO && !h->hello)) {
		json_decref(event);
		return GK_ERR_INVALID;
	}
	if (kind == GK_EVENT_HELLO)
		err = take_hello(h, event);
	if (kind == GK_EVENT_FRAME)
		take_frame(h, event);
	json_decref(event);
	if (err)
		return err;
	kept = kind == GK_EVENT_HELLO ? gk_web_host_hello(h, token, id)
				      : gk_event_new(kind, token, id, json);
	if (!kept)
		return GK_ERR_NOMEM;
	keep_event(h, kept);
	return 0;
}

/* ---- a line of the list of hosts ---- */

static void put_string(struct gk_buf *out, const char *key, const char *text)
{
	json_t *string = json_string(text);
	char *quoted = json_dumps(string, JSON_ENCODE_ANY);

	gk_buf_printf(out, "\"%s\":", key);
	gk_buf_puts(out, quoted ? quoted : "\"\"");
	free(quoted);
	json_decref(string);
}

static const char *label_of(const struct gk_web_host *h, const char *uuid)
{
	const json_t *devices = json_object_get(h->hello, "devices");

	for (size_t i = 0; i < json_array_size(devices); i++) {
		const json_t *device = json_array_get(devices, i);

		if (!strcmp(text_of(device, "uuid"), uuid))
			return text_of(device, "label");
	}
	return "";
}

static void put_gpus(const struct gk_web_host *h, const json_t *devices,
		     struct gk_buf *out)
{
	gk_buf_puts(out, ",\"gpus\":[");
	for (size_t i = 0; i < json_array_size(devices); i++) {
		const json_t *device = json_array_get(devices, i);
		double busy = number_of(device, "gpu_utilization_percent");

		gk_buf_puts(out, i ? ",{" : "{");
		put_string(out, "label", label_of(h, text_of(device, "uuid")));
		gk_buf_putc(out, ',');
		put_string(out, "state", text_of(device, "state"));
		gk_buf_putc(out, ',');
		put_string(out, "glyph", text_of(device, "glyph"));
		gk_buf_putc(out, ',');
		put_string(out, "words", text_of(device, "words"));
		if (!isnan(busy))
			gk_buf_printf(out, ",\"busy\":%.0f", busy);
		gk_buf_putc(out, '}');
	}
	gk_buf_putc(out, ']');
}

/* Sums are of the GPUs that answer. */
static double sum_of(const json_t *devices, const char *key)
{
	double sum = 0;

	for (size_t i = 0; i < json_array_size(devices); i++) {
		double value = number_of(json_array_get(devices, i), key);

		sum += isnan(value) ? 0 : value;
	}
	return sum;
}

void gk_web_host_summary(const struct gk_web_host *h, struct gk_buf *out)
{
	static const char *const sums[] = {"memory_used_bytes",
					   "memory_total_bytes", "power_watts",
					   "power_limit_enforced_watts"};
	const json_t *devices = json_object_get(h->frame, "devices");

	gk_buf_putc(out, '{');
	put_string(out, "name", h->name);
	gk_buf_putc(out, ',');
	put_string(out, "asked", h->asked);
	gk_buf_putc(out, ',');
	put_string(out, "why", h->why);
	if (h->heard_ns)
		gk_buf_printf(out, ",\"age_seconds\":%.1f",
			      (double)(gk_mono_ns() - h->heard_ns) / 1e9);
	put_gpus(h, devices, out);
	for (size_t i = 0; i < COUNT(sums); i++)
		gk_buf_printf(out, ",\"%s\":%.0f", sums[i],
			      sum_of(devices, sums[i]));
	gk_buf_putc(out, '}');
}

/* ---- beginning and end ---- */

void gk_web_host_init(struct gk_web_host *h, const char *name, bool own)
{
	*h = (struct gk_web_host){.own = own};
	gk_str_copy(h->name, sizeof h->name, name);
	gk_str_copy(h->asked, sizeof h->asked, name);
	gk_str_copy(h->why, sizeof h->why, "connecting");
}

void gk_web_host_free(struct gk_web_host *h)
{
	for (unsigned i = 0; i < h->count; i++)
		gk_event_drop(h->ring[(h->first + i) % GK_WEB_RING]);
	for (int i = 0; i < GK_EVENT_KINDS; i++)
		gk_event_drop(h->latest[i]);
	json_decref(h->hello);
	json_decref(h->frame);
	free(h->traces);
}
