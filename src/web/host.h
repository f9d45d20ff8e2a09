/*
 * host.h - what is known of a host: its last events, and what its GPUs did in
 * the last minutes. Events come as text, from this machine or from a peer; they
 * are checked as those of a stranger. One thread at a time.
 */
#ifndef GK_WEB_HOST_H
#define GK_WEB_HOST_H

#include "base/str.h"
#include "web/event.h"

#include <gpukit/gpukit.h>
#include <jansson.h>

#define GK_WEB_RING    120 /* events that can be sent again */
#define GK_WEB_STEPS   300 /* intervals of history */
#define GK_WEB_DEVICES 256 /* the most that a host may have */

/* The history of a device: columns of a ring. */
#define GK_WEB_SERIES 5
struct gk_web_trace {
	char uuid[GK_NAME_MAX];
	float values[GK_WEB_SERIES][GK_WEB_STEPS];
};

struct gk_web_host {
	char name[GK_NAME_MAX];  /* as it calls itself, once that is known */
	char asked[GK_NAME_MAX]; /* as it was called before */
	bool own;
	char why[256];     /* nothing is heard of it; "": it is */
	uint64_t heard_ns; /* the last frame; 0: none yet */
	struct gk_event *ring[GK_WEB_RING];
	unsigned first, count;
	struct gk_event *latest[GK_EVENT_KINDS];
	json_t *hello; /* without the history; NULL: none yet */
	json_t *frame; /* the last one */
	struct gk_web_trace *traces;
	size_t trace_count;
	unsigned steps, end; /* columns in use; where the next one goes */
	double time;         /* of the last frame */
};

/* own: its events are made by this program. */
void gk_web_host_init(struct gk_web_host *host, const char *name, bool own);
void gk_web_host_free(struct gk_web_host *host);

/*
 * Takes an event in (JSON of one line with a NUL behind it), which gets that
 * id. 0, GK_ERR_INVALID (nothing that a host
 * says) or GK_ERR_NOMEM.
 */
int gk_web_host_take(struct gk_web_host *host, enum gk_event_kind kind,
		     const char *json, size_t len, const char *token,
		     uint64_t id);

/* The hello of now, with the history; NULL without memory or before one came.
 * The caller drops it. */
struct gk_event *gk_web_host_hello(const struct gk_web_host *host,
				   const char *token, uint64_t id);

/* Adds what a list of hosts tells of it, as a JSON object. */
void gk_web_host_summary(const struct gk_web_host *host, struct gk_buf *out);

#endif
