/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - the state of a host: its last events, and the history of its GPUs
 * over the last minutes. Events arrive as text, from this machine or from a
 * peer; those of a peer are not trusted. Used by one thread at a time.
 */
#ifndef GK_WEB_HOST_H
#define GK_WEB_HOST_H

#include "base/str.h"
#include "web/check.h"
#include "web/event.h"

#include <gpukit/gpukit.h>

/*
 * Maximum number and total bytes of the events that are kept to be sent again,
 * besides the newest of each kind.
 */
#define GK_WEB_RING       120
#define GK_WEB_RING_BYTES ((size_t)2 << 20)

#define GK_WEB_STEPS 300 /* intervals of history */
/*
 * The maximum number of history values in a hello. If there are many devices,
 * fewer steps are sent.
 */
#define GK_WEB_CELLS (128 << 10)

/* The history of a device, a ring buffer: each step of time is a column. */
#define GK_WEB_SERIES 5
struct gk_web_trace {
	char uuid[GK_NAME_MAX], label[GK_NAME_MAX];
	bool mig; /* a MIG device; its GPU's values include its own */
	float values[GK_WEB_SERIES][GK_WEB_STEPS];
};

struct gk_web_host {
	char name[GK_NAME_MAX]; /* the name under which this hub lists the
				 * host */
	char told[GK_NAME_MAX]; /* the name that the host reports; "" if
				 * unknown */
	bool own;
	char why[256];     /* why the host is unreachable; "" if it is
			    * reachable */
	uint64_t heard_ns; /* time of the last frame; 0: none yet */
	struct gk_event *ring[GK_WEB_RING];
	unsigned first, count;
	size_t ring_bytes;
	struct gk_event *latest[GK_EVENT_KINDS];
	char *hello;        /* JSON without the history; NULL: none yet */
	double interval;    /* seconds between frames, as reported */
	struct gk_buf line; /* JSON for the list of hosts: GPUs and sums of the
			     * last frame */
	struct gk_web_trace *traces;
	size_t trace_count;
	unsigned steps, end; /* columns in use; index of the next one */
	double time;         /* time of the last frame */
};

/* `own` says that this program makes the host's events. */
void gk_web_host_init(struct gk_web_host *host, const char *name, bool own);
void gk_web_host_free(struct gk_web_host *host);

/*
 * Receives an event: one line of JSON, NUL-terminated. The event gets the given
 * id. Returns 0, GK_ERR_INVALID if it is not a valid event, or GK_ERR_NOMEM.
 */
int gk_web_host_take(struct gk_web_host *host, enum gk_event_kind kind,
		     const char *json, size_t len, const char *token,
		     uint64_t id);

/*
 * Returns a hello with the current history; the caller drops it. Returns NULL
 * when out of memory or if there has been no hello yet.
 */
struct gk_event *gk_web_host_hello(const struct gk_web_host *host,
				   const char *token, uint64_t id);

/* Returns the trace of a device, or NULL. */
struct gk_web_trace *gk_web_trace_of(const struct gk_web_host *host,
				     const char *uuid);

/* Formats a frame's GPUs for the list of hosts, and keeps the result. */
void gk_web_host_line(struct gk_web_host *host, const json_t *frame);

/* Appends a JSON object that describes the host to the list of hosts. */
void gk_web_host_summary(const struct gk_web_host *host, struct gk_buf *out);

#endif
