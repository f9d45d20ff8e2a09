/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - parses events' JSON and removes impossible values. */
#include "web/check.h"

#include "core/read/gate.h"

#include <math.h>
#include <string.h>

/*
 * The maximum memory that an event's parsed JSON may take. A hello of 256 GPUs
 * with its history takes half of it. A text that consists only of brackets
 * takes eighty times its size when parsed.
 */
#define MEMORY_MOST  ((size_t)16 << 20)
#define OF_A_BRACKET 256
#define OF_A_COMMA   96

/* An upper bound for numbers that are not metrics. */
#define NUMBER_MOST 1e19

double gk_member_number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

const char *gk_member_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* ---- size ---- */

/*
 * Returns an upper bound of the memory that the parsed JSON will need. Brackets
 * and commas inside of texts are counted, too.
 */
static size_t memory_of(const char *json, size_t len)
{
	size_t memory = 0;

	for (size_t i = 0; i < len; i++)
		memory += json[i] == '[' || json[i] == '{' ? OF_A_BRACKET
			  : json[i] == ','                 ? OF_A_COMMA
							   : 0;
	return memory;
}

static bool may_be_read(const char *json, size_t len)
{
	return !memchr(json, '\n', len) && !memchr(json, '\r', len) &&
	       memory_of(json, len) <= MEMORY_MOST;
}

/* ---- kind ---- */

static bool are_devices(const json_t *event)
{
	const json_t *devices = json_object_get(event, "devices");
	size_t count = json_array_size(devices);

	if (!json_is_array(devices) || count > GK_WEB_DEVICES)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!*gk_member_text(json_array_get(devices, i), "uuid"))
			return false;
	return true;
}

static bool is_event(enum gk_event_kind kind, const json_t *event)
{
	if (!json_is_object(event))
		return false;
	switch (kind) {
	case GK_EVENT_HELLO:
		return are_devices(event) &&
		       *gk_member_text(event, "hostname") &&
		       gk_member_number(event, "interval_seconds") > 0;
	case GK_EVENT_FRAME:
		return are_devices(event) &&
		       gk_member_number(event, "time") > 0;
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

/* ---- values ---- */

static bool is_in(double number, enum gk_unit unit,
		  const struct gk_range *range)
{
	double scaled = number * (double)gk_unit_scale(unit);

	return scaled >= (double)range->least && scaled <= (double)range->most;
}

/*
 * Whether a number is possible for a key. If a metric of GPUs and a metric of
 * processes both have the key as their name, the number may be in the range of
 * either.
 */
static bool can_be(const char *key, double number)
{
	bool known = false;

	for (int i = 0; i < GK_M_COUNT; i++)
		if (!strcmp(gk_metrics[i].name, key)) {
			known = true;
			if (is_in(number, gk_metrics[i].unit,
				  &gk_metric_ranges[i]))
				return true;
		}
	for (int i = 0; i < GK_PM_COUNT; i++)
		if (!strcmp(gk_process_metrics[i].name, key)) {
			known = true;
			if (is_in(number, gk_process_metrics[i].unit,
				  &gk_process_metric_ranges[i]))
				return true;
		}
	return !known && fabs(number) <= NUMBER_MOST;
}

/*
 * Removes impossible numbers; returns whether there were any. Recurses, but the
 * parser limits the depth.
 */
static bool take_out_nonsense(json_t *json)
{
	bool changed = false;
	const char *key;
	json_t *value;
	size_t at;
	void *next;

	json_object_foreach_safe(json, next, key, value)
	{
		if (!json_is_number(value)) {
			changed |= take_out_nonsense(value);
		} else if (!can_be(key, json_number_value(value))) {
			json_object_del(json, key);
			changed = true;
		}
	}
	json_array_foreach(json, at, value) changed |= take_out_nonsense(value);
	return changed;
}

json_t *gk_event_read(enum gk_event_kind kind, const char *json, size_t len,
		      bool own, bool *ret_changed)
{
	json_t *event =
	    may_be_read(json, len)
		? json_loadb(json, len, JSON_REJECT_DUPLICATES, NULL)
		: NULL;
	bool changed = event && !own && take_out_nonsense(event);

	if (!is_event(kind, event)) {
		json_decref(event);
		return NULL;
	}
	*ret_changed = changed;
	return event;
}
