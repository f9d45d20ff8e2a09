/* SPDX-License-Identifier: Apache-2.0 */
/* hub.c - distributes the events of hosts to streams. */
#include "web/hub.h"

#include "base/assert.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * How often to send a comment, which shows proxies and clients that the stream
 * is alive.
 */
#define COMMENT_NS (15 * GK_NS_PER_S)
static const char comment[] = ":\n\n";

struct gk_hub {
	pthread_mutex_t mutex; /* protects all members below, and all streams */
	char token[24];        /* distinguishes this run's ids from others */
	uint64_t id;           /* id of the last event */
	struct gk_event *list; /* the newest list of hosts */
	size_t count;
	struct gk_web_host *hosts;
	void (*wake)(void *owner);
	void *owner;
};

struct gk_stream {
	struct gk_hub *hub;
	struct gk_web_host *host;
	bool greeted;    /* whether the client has got a hello */
	unsigned wanted; /* kinds of events to send after the hello, as bits
			  * 1 << kind */
	uint64_t at;     /* id of the last event sent */
	/* The client gets every event up to this id, then only the newest. */
	uint64_t all_until;
	uint64_t list_at;      /* id of the last list of hosts sent */
	struct gk_event *part; /* event of which only a part has been sent */
	size_t sent;           /* bytes of `part` already sent */
	uint64_t sent_ns;      /* when bytes were last sent */
};

/* ---- creating and freeing ---- */

struct gk_hub *gk_hub_new(const char *const *names, size_t count,
			  void (*wake)(void *owner), void *owner)
{
	struct gk_hub *hub = calloc(1, sizeof *hub);

	if (!hub || !(hub->hosts = calloc(count, sizeof *hub->hosts))) {
		free(hub);
		return NULL;
	}
	pthread_mutex_init(&hub->mutex, NULL);
	snprintf(hub->token, sizeof hub->token, "%llx",
		 (unsigned long long)gk_wall_ns());
	hub->wake = wake;
	hub->owner = owner;
	for (hub->count = 0; hub->count < count; hub->count++)
		gk_web_host_init(&hub->hosts[hub->count], names[hub->count],
				 !hub->count);
	return hub;
}

void gk_hub_free(struct gk_hub *hub)
{
	if (!hub)
		return;
	for (size_t i = 0; i < hub->count; i++)
		gk_web_host_free(&hub->hosts[i]);
	gk_event_drop(hub->list);
	pthread_mutex_destroy(&hub->mutex);
	free(hub->hosts);
	free(hub);
}

/* ---- hosts ---- */

static struct gk_web_host *find_host(struct gk_hub *hub, const char *name)
{
	for (size_t i = 0; i < hub->count; i++)
		if (!strcmp(hub->hosts[i].name, name))
			return &hub->hosts[i];
	return NULL;
}

int gk_hub_take(struct gk_hub *hub, size_t host, enum gk_event_kind kind,
		const char *json, size_t len)
{
	int err;

	GK_ASSERT(host < hub->count);
	pthread_mutex_lock(&hub->mutex);
	err = gk_web_host_take(&hub->hosts[host], kind, json, len, hub->token,
			       hub->id + 1);
	if (!err)
		hub->id++;
	pthread_mutex_unlock(&hub->mutex);
	if (!err)
		hub->wake(hub->owner);
	return err;
}

void gk_hub_away(struct gk_hub *hub, size_t host, const char *why)
{
	pthread_mutex_lock(&hub->mutex);
	gk_str_copy(hub->hosts[host].why, sizeof hub->hosts[host].why, why);
	pthread_mutex_unlock(&hub->mutex);
}

void gk_hub_too_large(struct gk_hub *hub, size_t host)
{
	struct gk_web_host *h = &hub->hosts[host];

	pthread_mutex_lock(&hub->mutex);
	if (!h->hello)
		gk_str_copy(h->why, sizeof h->why,
			    "sent more at once than gpukit web does");
	pthread_mutex_unlock(&hub->mutex);
}

void gk_hub_tell_hosts(struct gk_hub *hub)
{
	struct gk_event *list = NULL;
	struct gk_buf text = {0};

	pthread_mutex_lock(&hub->mutex);
	if (hub->count > 1 || *hub->hosts[0].why) {
		gk_buf_puts(&text, "{\"hosts\":[");
		for (size_t i = 0; i < hub->count; i++) {
			gk_buf_puts(&text, i ? "," : "");
			gk_web_host_summary(&hub->hosts[i], &text);
		}
		gk_buf_puts(&text, "]}");
	}
	if (text.data && !text.failed)
		list = gk_event_new(GK_EVENT_HOSTS, hub->token, ++hub->id,
				    text.data);
	gk_event_drop(hub->list);
	hub->list = list;
	pthread_mutex_unlock(&hub->mutex);
	gk_buf_free(&text);
	if (list)
		hub->wake(hub->owner);
}

/* ---- streams ---- */

/*
 * Returns the number in an event's id if this run of the hub made the id, else
 * 0.
 */
static uint64_t number_of_id(const struct gk_hub *hub, const char *id)
{
	size_t len = strlen(hub->token);
	char *end;
	uint64_t number;

	if (strncmp(id, hub->token, len) != 0 || id[len] != '-')
		return 0;
	number = strtoull(id + len + 1, &end, 10);
	return *end || number > hub->id ? 0 : number;
}

/* Whether all events after the given id are still in the ring. */
static bool is_in_ring(const struct gk_web_host *h, uint64_t id)
{
	return h->count && id && h->ring[h->first]->id <= id;
}

static void resume_after(struct gk_stream *s, uint64_t id)
{
	const struct gk_web_host *h = s->host;

	s->greeted = true;
	s->at = id;
	s->all_until = h->ring[(h->first + h->count - 1) % GK_WEB_RING]->id;
}

struct gk_stream *gk_hub_look(struct gk_hub *hub, const char *name,
			      const char *last_id)
{
	struct gk_stream *s = calloc(1, sizeof *s);
	uint64_t id;

	if (!s)
		return NULL;
	pthread_mutex_lock(&hub->mutex);
	s->hub = hub;
	s->host = name ? find_host(hub, name) : &hub->hosts[0];
	s->sent_ns = gk_mono_ns();
	id = number_of_id(hub, last_id);
	if (s->host && is_in_ring(s->host, id))
		resume_after(s, id);
	pthread_mutex_unlock(&hub->mutex);
	if (s->host)
		return s;
	free(s);
	return NULL;
}

void gk_stream_end(struct gk_stream *s)
{
	pthread_mutex_lock(&s->hub->mutex);
	gk_event_drop(s->part);
	pthread_mutex_unlock(&s->hub->mutex);
	free(s);
}

/* Returns the id of a host's last event, or 0 if there was none. */
static uint64_t last_of_host(const struct gk_web_host *h)
{
	uint64_t last = 0;

	for (int kind = 0; kind < GK_EVENT_KINDS; kind++)
		if (h->latest[kind] && h->latest[kind]->id > last)
			last = h->latest[kind]->id;
	return last;
}

/*
 * Returns the first event for a client that has none yet: a hello. Marks the
 * other kinds, so that the newest event of each follows.
 */
static struct gk_event *greet_client(struct gk_stream *s)
{
	const struct gk_web_host *h = s->host;
	uint64_t last = last_of_host(h);
	struct gk_event *hello = gk_web_host_hello(h, s->hub->token, last);

	if (!hello)
		return NULL;
	s->greeted = true;
	s->at = last;
	s->wanted = ((1u << GK_EVENT_KINDS) - 1) & ~(1u << GK_EVENT_HELLO);
	return hello;
}

static struct gk_event *next_wanted(struct gk_stream *s)
{
	while (s->wanted) {
		int kind = __builtin_ctz(s->wanted);

		s->wanted &= s->wanted - 1;
		if (s->host->latest[kind])
			return gk_event_use(s->host->latest[kind]);
	}
	return NULL;
}

/*
 * Returns the event with the lower id, leaving out events that were already
 * sent. Either may be NULL.
 */
static struct gk_event *earlier_event(const struct gk_stream *s,
				      struct gk_event *next,
				      struct gk_event *other)
{
	if (!other || other->id <= s->at || (next && next->id <= other->id))
		return next;
	return other;
}

/*
 * Returns the next event to send. A client that is catching up gets all events
 * that are still in the ring. Otherwise it gets only the newest of each kind,
 * which may not be in the ring any more.
 */
static struct gk_event *next_news(struct gk_stream *s)
{
	const struct gk_web_host *h = s->host;
	struct gk_event *next = NULL;

	for (unsigned i = 0; s->at < s->all_until && i < h->count; i++) {
		struct gk_event *e = h->ring[(h->first + i) % GK_WEB_RING];

		if (e->id <= s->all_until)
			next = earlier_event(s, next, e);
	}
	for (int kind = 0; kind < GK_EVENT_KINDS; kind++)
		next = earlier_event(s, next, h->latest[kind]);
	if (next)
		s->at = next->id;
	return gk_event_use(next);
}

static struct gk_event *next_event(struct gk_stream *s)
{
	struct gk_event *list = s->hub->list, *e;

	if (list && list->id > s->list_at) {
		s->list_at = list->id;
		return gk_event_use(list);
	}
	if (!s->greeted)
		return greet_client(s);
	e = next_wanted(s);
	return e ? e : next_news(s);
}

static size_t send_part(struct gk_stream *s, char *dst, size_t cap)
{
	size_t n = s->part->len - s->sent;

	n = n < cap ? n : cap;
	memcpy(dst, s->part->text + s->sent, n);
	s->sent += n;
	if (s->sent == s->part->len) {
		gk_event_drop(s->part);
		s->part = NULL;
		s->sent = 0;
	}
	return n;
}

ssize_t gk_stream_read(struct gk_stream *s, char *dst, size_t cap)
{
	uint64_t now = gk_mono_ns();
	size_t n = 0;

	pthread_mutex_lock(&s->hub->mutex);
	while (n < cap && (s->part || (s->part = next_event(s))))
		n += send_part(s, dst + n, cap - n);
	pthread_mutex_unlock(&s->hub->mutex);
	if (!n && now - s->sent_ns > COMMENT_NS && cap >= sizeof comment) {
		n = sizeof comment - 1;
		memcpy(dst, comment, n);
	}
	if (n)
		s->sent_ns = now;
	return (ssize_t)n;
}
