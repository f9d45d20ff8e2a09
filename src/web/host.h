/*
 * host.h - what is known of a host: its last events, and what its GPUs did in
 * the last minutes. Events come as text, from this machine or from a peer; they
 * are checked as those of a stranger. One thread at a time.
 */
#ifndef GK_WEB_HOST_H
#define GK_WEB_HOST_H

#include "base/str.h"

#include <gpukit/gpukit.h>
#include <jansson.h>

#define GK_WEB_RING    120 /* events that can be sent again */
#define GK_WEB_STEPS   300 /* intervals of history */
#define GK_WEB_DEVICES 256 /* the most that a host may have */

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
