/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - an event in the form in which browsers get it. Its text is made
 * once and shared by all streams. The first event of a stream is a hello: it
 * describes the host and its GPUs, and contains the recent history. Used by one
 * thread at a time.
 */
#ifndef GK_WEB_EVENT_H
#define GK_WEB_EVENT_H

#include <stddef.h>
#include <stdint.h>

enum gk_event_kind {
	GK_EVENT_HELLO,
	GK_EVENT_FRAME,
	GK_EVENT_DETAILS,
	GK_EVENT_PROCESSES,
	GK_EVENT_ALERT,
	GK_EVENT_KINDS,
	/* The list of hosts. The hub itself makes this event. */
	GK_EVENT_HOSTS = GK_EVENT_KINDS
};

/*
 * Convert a kind to its name, such as "frame", and back. An unknown name
 * becomes GK_EVENT_KINDS.
 */
const char *gk_event_name(enum gk_event_kind kind);
enum gk_event_kind gk_event_kind(const char *name);

/*
 * An event's text, shared by all streams that send it; freed with the last
 * reference.
 */
struct gk_event {
	unsigned users;
	enum gk_event_kind kind;
	uint64_t id;
	size_t len;
	char text[];
};

/*
 * Makes an event from one line of JSON. `token` distinguishes runs of the hub.
 * Only frames and hellos are sent with their id. Returns NULL when out of
 * memory.
 */
struct gk_event *gk_event_new(enum gk_event_kind kind, const char *token,
			      uint64_t id, const char *json);
struct gk_event *gk_event_use(struct gk_event *event);
void gk_event_drop(struct gk_event *event); /* event may be NULL */

#endif
