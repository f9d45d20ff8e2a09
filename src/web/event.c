/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - makes events and counts references to them. */
#include "web/event.h"

#include "base/assert.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
    [GK_EVENT_HELLO] = "hello",     [GK_EVENT_FRAME] = "frame",
    [GK_EVENT_DETAILS] = "details", [GK_EVENT_PROCESSES] = "processes",
    [GK_EVENT_ALERT] = "alert",     [GK_EVENT_HOSTS] = "hosts",
};

const char *gk_event_name(enum gk_event_kind kind)
{
	return kind_names[kind];
}

enum gk_event_kind gk_event_kind(const char *name)
{
	int i = 0;

	while (i < GK_EVENT_KINDS && strcmp(kind_names[i], name) != 0)
		i++;
	return (enum gk_event_kind)i;
}

struct gk_event *gk_event_new(enum gk_event_kind kind, const char *token,
			      uint64_t id, const char *json)
{
	struct gk_buf text = {0};
	struct gk_event *event = NULL;

	GK_ASSERT((unsigned)kind <= GK_EVENT_HOSTS);
	if (kind == GK_EVENT_HELLO)
		gk_buf_puts(&text, "retry: 2000\n");
	if (kind == GK_EVENT_HELLO || kind == GK_EVENT_FRAME)
		gk_buf_printf(&text, "id: %s-%llu\n", token,
			      (unsigned long long)id);
	gk_buf_printf(&text, "event: %s\ndata: ", gk_event_name(kind));
	gk_buf_puts(&text, json);
	gk_buf_puts(&text, "\n\n");
	if (!text.failed)
		event = malloc(sizeof *event + text.len);
	if (event) {
		*event = (struct gk_event){
		    .users = 1, .kind = kind, .id = id, .len = text.len};
		memcpy(event->text, text.data, text.len);
	}
	gk_buf_free(&text);
	return event;
}

struct gk_event *gk_event_use(struct gk_event *event)
{
	if (event)
		event->users++;
	return event;
}

void gk_event_drop(struct gk_event *event)
{
	if (event && !--event->users)
		free(event);
}
