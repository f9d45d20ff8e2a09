/*
 * hub.h - all hosts that a page shows, the first of them this one, and the
 * streams of who looks. Every function may be called by any thread.
 */
#ifndef GK_WEB_HUB_H
#define GK_WEB_HUB_H

#include "web/host.h"

#include <sys/types.h>

struct gk_hub;
struct gk_stream;

/* wake is called, without any lock, when streams may have more to send. NULL
 * without memory. */
struct gk_hub *gk_hub_new(const char *const *names, size_t count,
			  void (*wake)(void *owner), void *owner);
void gk_hub_free(struct gk_hub *hub); /* after the streams */

/* An event of a host (by its place in names). 0 or a gk_err; see host.h. */
int gk_hub_take(struct gk_hub *hub, size_t host, enum gk_event_kind kind,
		const char *json, size_t len);

/* Nothing is heard of a host any more, and why. */
void gk_hub_away(struct gk_hub *hub, size_t host, const char *why);

/* Tells the list of hosts, where there is more than one to tell of. */
void gk_hub_tell_hosts(struct gk_hub *hub);

/*
 * A stream of what a host does, for somebody who has heard the event of id
 * last ("": nothing). name NULL: the first host. NULL: there is no such host,
 * or no memory.
 */
struct gk_stream *gk_hub_look(struct gk_hub *hub, const char *name,
			      const char *last_id);
void gk_stream_end(struct gk_stream *stream);

/*
 * The next bytes of a stream, at most cap; 0: there is nothing new. Who takes
 * them slowly gets the newest event of each kind only.
 */
ssize_t gk_stream_read(struct gk_stream *stream, char *dst, size_t cap);

#endif
