/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub.h - all hosts that a page shows, the first of which is this machine, and
 * the streams of the page's viewers. Any thread may call any function.
 */
#ifndef GK_WEB_HUB_H
#define GK_WEB_HUB_H

#include "web/host.h"

#include <sys/types.h>

struct gk_hub;
struct gk_stream;

/*
 * wake() is called, without locks, when streams may have more to send. Returns
 * NULL when out of memory.
 */
struct gk_hub *gk_hub_new(const char *const *names, size_t count,
			  void (*wake)(void *owner), void *owner);
void gk_hub_free(struct gk_hub *hub); /* all streams must have ended */

/*
 * Receives an event of the host whose index in `names` is `host`. Returns 0 or
 * a gk_err; see gk_web_host_take().
 */
int gk_hub_take(struct gk_hub *hub, size_t host, enum gk_event_kind kind,
		const char *json, size_t len);

/*
 * Records that a host sent an event that is too large. If the host has not sent
 * a hello yet, this event becomes the reason why the host is unreachable.
 */
void gk_hub_too_large(struct gk_hub *hub, size_t host);

/* Records why a host has become unreachable. */
void gk_hub_away(struct gk_hub *hub, size_t host, const char *why);

/*
 * Sends the list of hosts if there are several, or if the only host is
 * unreachable.
 */
void gk_hub_tell_hosts(struct gk_hub *hub);

/*
 * Opens a stream of a host's events. last_id is the id of the last event that
 * the client has, or "". If name is NULL, the first host is meant. Returns NULL
 * if there is no such host, or when out of memory.
 */
struct gk_stream *gk_hub_look(struct gk_hub *hub, const char *name,
			      const char *last_id);
void gk_stream_end(struct gk_stream *stream);

/*
 * Copies the stream's next bytes, at most cap, and returns their number; 0 if
 * there is nothing new. A client that reads slowly gets only the newest event
 * of each kind.
 */
ssize_t gk_stream_read(struct gk_stream *stream, char *dst, size_t cap);

#endif
