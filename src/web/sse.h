/* SPDX-License-Identifier: Apache-2.0 */
/* sse.h - parses a stream of server-sent events, from any sender. */
#ifndef GK_WEB_SSE_H
#define GK_WEB_SSE_H

#include "base/str.h"

/* The size of the largest event that is accepted, in bytes. */
#define GK_SSE_MOST ((size_t)1 << 20)

/*
 * If an event exceeds this size in bytes, the stream is ended. Even a list of
 * very many processes is smaller.
 */
#define GK_SSE_REFUSED ((size_t)16 << 20)

/* The event being read. Zero it before the first use. */
struct gk_sse {
	struct gk_buf line, data;
	size_t skipped;  /* size of the event being skipped; 0: none */
	unsigned passed; /* number of events skipped so far */
	char kind[16];
	char id[64]; /* id of the last event that had one */
};

/* data is NUL-terminated. */
typedef void (*gk_sse_event)(void *owner, const char *kind, const char *data,
			     size_t len);

/*
 * Parses bytes and calls event() for each complete event. Events larger than
 * GK_SSE_MOST are skipped. Returns false if an event exceeds GK_SSE_REFUSED, or
 * when out of memory.
 */
bool gk_sse_feed(struct gk_sse *sse, const char *bytes, size_t len,
		 gk_sse_event event, void *owner);

/* Discards a partly read event, but keeps the last event's id. */
void gk_sse_begin(struct gk_sse *sse);
void gk_sse_free(struct gk_sse *sse);

#endif
