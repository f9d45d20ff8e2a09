/* sse.h - takes a stream of server-sent events apart, whoever sends it. */
#ifndef GK_WEB_SSE_H
#define GK_WEB_SSE_H

#include "base/str.h"

#define GK_SSE_MOST ((size_t)4 << 20) /* bytes of an event */

/* Zero it to start; what is read of one event. */
struct gk_sse {
	struct gk_buf line, data;
	char kind[16];
	char id[64]; /* of the last event that had one */
};

/* The data has a NUL behind it. */
typedef void (*gk_sse_event)(void *owner, const char *kind, const char *data,
			     size_t len);

/* Takes bytes in; false: an event is too long. */
bool gk_sse_feed(struct gk_sse *sse, const char *bytes, size_t len,
		 gk_sse_event event, void *owner);

/* Forgets what was read of an event, not the last id. */
void gk_sse_begin(struct gk_sse *sse);
void gk_sse_free(struct gk_sse *sse);

#endif
