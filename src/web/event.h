/*
 * event.h - an event as browsers get it: text, made once and sent by all who
 * send it. One thread at a time.
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
	GK_EVENT_HOSTS = GK_EVENT_KINDS /* the hub's own */
};

/* "frame"; and back: GK_EVENT_KINDS if it is none. */
const char *gk_event_name(enum gk_event_kind kind);
enum gk_event_kind gk_event_kind(const char *name);

/* An event as it is sent, shared by all who send it. */
struct gk_event {
	unsigned users;
	enum gk_event_kind kind;
	uint64_t id;
	size_t len;
	char text[];
};

/*
 * An event of JSON of one line. token tells runs of the hub apart; frames and
 * hellos carry their id. NULL without memory.
 */
struct gk_event *gk_event_new(enum gk_event_kind kind, const char *token,
			      uint64_t id, const char *json);
struct gk_event *gk_event_use(struct gk_event *event);
void gk_event_drop(struct gk_event *event); /* NULL is allowed */

#endif
