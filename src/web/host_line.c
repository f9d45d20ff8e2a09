/* SPDX-License-Identifier: Apache-2.0 */
/* host_line.c - formats a host's object in the list of hosts. */
#include "base/array.h"
#include "base/clock.h"
#include "web/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The size of the buffer for a GPU's text, in bytes; states' words are shorter.
 */
#define TEXT_MAX 160

static void put_string(struct gk_buf *out, const char *key, const char *text)
{
	char clean[TEXT_MAX], *quoted;
	json_t *string;

	gk_str_clean(clean, sizeof clean, text, strlen(text));
	string = json_string(clean);
	quoted = json_dumps(string, JSON_ENCODE_ANY);
	gk_buf_printf(out, "\"%s\":", key);
	gk_buf_puts(out, quoted ? quoted : "\"\"");
	free(quoted);
	json_decref(string);
}

/* Returns the trace of a device, or NULL if it is a MIG device or unknown. */
static const struct gk_web_trace *whole_gpu(const struct gk_web_host *h,
					    const json_t *device)
{
	const struct gk_web_trace *trace =
	    gk_web_trace_of(h, gk_member_text(device, "uuid"));

	return trace && !trace->mig ? trace : NULL;
}

static void put_gpu(struct gk_buf *out, const struct gk_web_trace *trace,
		    const json_t *device)
{
	static const char *const texts[] = {"state", "glyph", "words"};
	double busy = gk_member_number(device, "gpu_utilization_percent");

	gk_buf_putc(out, '{');
	put_string(out, "label", trace->label);
	for (size_t i = 0; i < COUNT(texts); i++) {
		gk_buf_putc(out, ',');
		put_string(out, texts[i], gk_member_text(device, texts[i]));
	}
	if (!isnan(busy))
		gk_buf_printf(out, ",\"busy\":%.0f", busy);
	gk_buf_putc(out, '}');
}

/* Adds the sum of the GPUs' values. Adds nothing if no GPU has the value. */
static void put_sum(struct gk_buf *out, const struct gk_web_host *h,
		    const json_t *devices, const char *key)
{
	double sum = 0;
	bool any = false;

	for (size_t i = 0; i < json_array_size(devices); i++) {
		const json_t *device = json_array_get(devices, i);
		double value = gk_member_number(device, key);

		if (isnan(value) || !whole_gpu(h, device))
			continue;
		sum += value;
		any = true;
	}
	if (any)
		gk_buf_printf(out, ",\"%s\":%.0f", key, sum);
}

void gk_web_host_line(struct gk_web_host *h, const json_t *frame)
{
	static const char *const sums[] = {"memory_used_bytes",
					   "memory_total_bytes", "power_watts",
					   "power_limit_enforced_watts"};
	const json_t *devices = json_object_get(frame, "devices");
	struct gk_buf *out = &h->line;
	bool first = true;

	out->len = 0;
	gk_buf_puts(out, ",\"gpus\":[");
	for (size_t i = 0; i < json_array_size(devices); i++) {
		const json_t *device = json_array_get(devices, i);
		const struct gk_web_trace *trace = whole_gpu(h, device);

		if (!trace)
			continue;
		gk_buf_puts(out, first ? "" : ",");
		put_gpu(out, trace, device);
		first = false;
	}
	gk_buf_putc(out, ']');
	for (size_t i = 0; i < COUNT(sums); i++)
		put_sum(out, h, devices, sums[i]);
}

void gk_web_host_summary(const struct gk_web_host *h, struct gk_buf *out)
{
	gk_buf_putc(out, '{');
	put_string(out, "name", h->name);
	if (*h->told && strcmp(h->told, h->name) != 0) {
		gk_buf_putc(out, ',');
		put_string(out, "told", h->told);
	}
	gk_buf_putc(out, ',');
	put_string(out, "why", h->why);
	if (h->heard_ns)
		gk_buf_printf(out, ",\"age_seconds\":%.1f",
			      (double)(gk_mono_ns() - h->heard_ns) / 1e9);
	gk_buf_puts(out, h->line.len && !h->line.failed ? h->line.data
							: ",\"gpus\":[]");
	gk_buf_putc(out, '}');
}
