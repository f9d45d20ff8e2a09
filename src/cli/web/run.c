/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - `gpukit web`: a background watch reads the devices. This file sends
 * their events to the hub, and passes pages and streams to the web server.
 */
#include "base/clock.h"
#include "format/names.h"
#include "cli/cmd.h"
#include "cli/interrupt.h"
#include "cli/web/peers.h"
#include "cli/web/web.h"
#include "format/json.h"
#include "web/hub.h"
#include "web/page.h"
#include "web/tell.h"

#include <argz.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERB "web"

/*
 * The shortest intervals at which processes and slow values are read and sent.
 */
#define PROCESSES_LEAST_NS (2 * GK_NS_PER_S)
#define SLOW_LEAST_NS      (5 * GK_NS_PER_S)

#define EVENTS "/api/v1/events"

enum { SLOT_FILES = 0, SLOT_SNAPSHOT = 6, SLOT_MESSAGE = 7 };

struct site {
	const struct gk_web *web;
	struct gk_server server;
	struct gk_hub *hub;
	struct gk_peers *peers; /* NULL: no peers */
	struct gk_serve_machine machine;
	/* Used only by the thread that reads the GPUs. */
	struct gk_teller teller;
	struct gk_buf text, identity, alerts;
	uint64_t processes_ns, details_ns; /* when to send them next */
	/* The next members are for /api/v1/snapshot. */
	pthread_mutex_t mutex; /* protects snap */
	struct gk_snapshot *snap;
	uint64_t number;
	struct gk_buf page; /* used by the server's thread only */
};

/* ---- pages ---- */

static void serve_snapshot(struct site *s, struct gk_http_page *page)
{
	pthread_mutex_lock(&s->mutex);
	if (!s->snap) {
		gk_serve_message(page, SLOT_MESSAGE, 503,
				 "nothing has been read yet\n");
	} else {
		s->page.len = 0;
		gk_format_json(&s->page, s->snap, GK_JSON_INDENT);
		*page = (struct gk_http_page){
		    .status = 200,
		    .type = "application/json",
		    .body = s->page.data,
		    .len = s->page.len,
		    .slot = SLOT_SNAPSHOT,
		    .number = s->number,
		};
	}
	pthread_mutex_unlock(&s->mutex);
}

/* EVENTS is the event stream of this host, EVENTS/NAME that of any host. */
static void serve_events(struct site *s, const struct gk_http_request *request,
			 struct gk_http_page *page)
{
	const char *name = request->path + strlen(EVENTS);
	struct gk_stream *stream;

	stream =
	    gk_hub_look(s->hub, *name ? name + 1 : NULL, request->last_event);
	if (!stream) {
		gk_serve_message(page, SLOT_MESSAGE, 404, "no such host\n");
		return;
	}
	if (request->head) {
		gk_stream_end(stream);
		gk_serve_message(page, SLOT_MESSAGE, 200, "");
		return;
	}
	page->status = 200;
	page->type = "text/event-stream";
	page->stream = stream;
}

static bool is_events(const char *path)
{
	size_t len = strlen(EVENTS);

	return !strncmp(path, EVENTS, len) && (!path[len] || path[len] == '/');
}

static void serve_page(void *owner, const struct gk_http_request *request,
		       struct gk_http_page *page)
{
	struct site *s = owner;
	struct gk_web_file file;

	if (is_events(request->path)) {
		serve_events(s, request, page);
	} else if (!strcmp(request->path, "/api/v1/snapshot")) {
		serve_snapshot(s, page);
	} else if (gk_web_file(request->path, &file)) {
		page->status = 200;
		page->type = file.type;
		page->body = file.body;
		page->len = file.len;
		page->slot = SLOT_FILES;
		page->number = (uint64_t)(uintptr_t)file.body;
	} else {
		gk_serve_message(page, SLOT_MESSAGE, 404, "no such page\n");
	}
}

static ssize_t read_more(void *owner, void *stream, char *dst, size_t cap)
{
	(void)owner;
	return gk_stream_read(stream, dst, cap);
}

static void end_stream(void *owner, void *stream)
{
	(void)owner;
	gk_stream_end(stream);
}

static void wake_server(void *owner)
{
	const struct site *s = owner;

	if (s->server.http)
		s->server.module->wake(s->server.http);
}

static const struct gk_http_header headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; "
     "frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {NULL, NULL},
};

/* ---- events ---- */

/*
 * Sends an event. Returns false if it was not sent: at the first reading no
 * device may be known yet.
 */
static bool put_event(struct site *s, enum gk_event_kind kind)
{
	return !s->text.failed &&
	       !gk_hub_take(s->hub, 0, kind, s->text.data, s->text.len);
}

/* Sends an event that rarely changes, but only if it has changed. */
static void put_if_new(struct site *s, enum gk_event_kind kind,
		       struct gk_buf *last)
{
	if ((last->len && !strcmp(last->data, s->text.data)) ||
	    !put_event(s, kind))
		return;
	last->len = 0;
	gk_buf_add(last, s->text.data, s->text.len);
}

/*
 * Whether it is time to send. Frames do not arrive exactly on time, so up to a
 * quarter of an interval early is accepted.
 */
static bool is_due(const struct site *s, uint64_t next_ns, uint64_t now_ns)
{
	return now_ns + s->web->interval_ns / 4 >= next_ns;
}

static uint64_t longer_time(uint64_t ns, uint64_t least)
{
	return ns > least ? ns : least;
}

/*
 * Whether all GPUs have been read once. Until then, each new frame sends
 * processes and details again.
 */
static bool is_whole(const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->device_count; i++)
		if (gk_device_unread(&snap->devices[i]))
			return false;
	return true;
}

static void tell_events(struct site *s, const struct gk_snapshot *snap)
{
	uint64_t now = snap->mono_ns;
	bool whole = is_whole(snap);

	gk_tell_take(&s->teller, snap);
	s->text.len = 0;
	gk_tell_hello(&s->text, snap, s->web->interval_ns);
	put_if_new(s, GK_EVENT_HELLO, &s->identity);
	s->text.len = 0;
	gk_tell_frame(&s->text, &s->teller, snap);
	put_event(s, GK_EVENT_FRAME);
	s->text.len = 0;
	gk_tell_alerts(&s->text, &s->teller, snap);
	put_if_new(s, GK_EVENT_ALERT, &s->alerts);
	if (is_due(s, s->processes_ns, now)) {
		s->text.len = 0;
		gk_tell_processes(&s->text, &s->teller, snap, s->web->commands);
		if (put_event(s, GK_EVENT_PROCESSES) && whole)
			s->processes_ns = now + PROCESSES_LEAST_NS;
	}
	if (is_due(s, s->details_ns, now)) {
		s->text.len = 0;
		gk_tell_details(&s->text, snap);
		if (put_event(s, GK_EVENT_DETAILS) && whole)
			s->details_ns = now + SLOW_LEAST_NS;
	}
	gk_hub_tell_hosts(s->hub);
}

static void put_frame(void *owner, struct gk_snapshot *snap)
{
	struct site *s = owner;
	struct gk_snapshot *old;

	if (!s->web->commands)
		gk_serve_hide_commands(snap);
	tell_events(s, snap);
	pthread_mutex_lock(&s->mutex);
	old = s->snap;
	s->snap = snap;
	s->number++;
	pthread_mutex_unlock(&s->mutex);
	gk_snapshot_free(old);
}

/* ---- running ---- */

/* Tells every client why there is nothing to read. */
static void tell_away(void *owner, const char *why)
{
	struct site *s = owner;
	struct gk_snapshot *old;

	gk_hub_away(s->hub, 0, why);
	pthread_mutex_lock(&s->mutex);
	old = s->snap;
	s->snap = NULL;
	pthread_mutex_unlock(&s->mutex);
	gk_snapshot_free(old);
}

static void tell_tick(void *owner)
{
	const struct site *s = owner;

	gk_hub_tell_hosts(s->hub);
}

static int serve_frames(struct site *s)
{
	struct gk_options options = s->web->machine;
	uint64_t interval = s->web->interval_ns;

	/*
	 * The web page's filter needs these values. Containers are read
	 * together with command lines, which are hidden if they must not be
	 * shown.
	 */
	options.with |= GK_WITH_EVENTS | GK_WITH_THREADS | GK_WITH_IO |
			GK_WITH_RANK | (s->web->commands ? GK_WITH_CWD : 0);
	options.period_ns[GK_TIER_MEDIUM] =
	    longer_time(interval, PROCESSES_LEAST_NS);
	options.period_ns[GK_TIER_ASKED] = interval;
	options.period_ns[GK_TIER_SLOW] = longer_time(interval, SLOW_LEAST_NS);
	s->machine = (struct gk_serve_machine){
	    .verb = VERB,
	    .options = &options,
	    .interval_ns = interval,
	    .put = put_frame,
	    .away = tell_away,
	    .tick = tell_tick,
	    .owner = s,
	};
	return gk_serve_machine(&s->machine);
}

static int serve_site(struct site *s)
{
	struct gk_http_options how = {
	    .headers = headers,
	    .owner = s,
	    .page = serve_page,
	    .more = read_more,
	    .stream_end = end_stream,
	};
	int status = gk_serve_begin(&s->server, how);

	if (!status && s->web->peers)
		status = gk_peers_start(s->web, s->hub, &s->peers);
	gk_interrupt_ready();
	if (status)
		return status;
	gk_serve_tell(&s->server, "/");
	return serve_frames(s);
}

/* Creates the hub. Its hosts are this machine, then the peers. */
static int new_hub(struct site *s)
{
	size_t count = 1 + argz_count(s->web->peers, s->web->peers_len);
	const char **names = calloc(count, sizeof *names);
	const char *url = NULL;
	char own[GK_NAME_MAX] = "localhost";

	gethostname(own, sizeof own - 1);
	if (names) {
		names[0] = own;
		for (size_t i = 1; i < count; i++) {
			url = argz_next(s->web->peers, s->web->peers_len, url);
			names[i] = gk_peer_name(url);
		}
		s->hub = gk_hub_new(names, count, wake_server, s);
	}
	free(names);
	return s->hub ? 0 : gk_serve_failure(VERB, "out of memory");
}

static void end_site(struct site *s)
{
	gk_peers_end(s->peers);
	gk_serve_end(&s->server);
	gk_hub_free(s->hub);
	gk_snapshot_free(s->snap);
	gk_buf_free(&s->text);
	gk_buf_free(&s->identity);
	gk_buf_free(&s->alerts);
	gk_buf_free(&s->page);
	pthread_mutex_destroy(&s->mutex);
}

int gk_web_run(const struct gk_web *web)
{
	struct site s = {.web = web};
	int status;

	/* One malloc arena for all threads; see gk_export_run(). */
	mallopt(M_ARENA_MAX, 1);
	pthread_mutex_init(&s.mutex, NULL);
	if (gk_interrupt_catch())
		return gk_serve_failure(VERB, "cannot catch signals");
	status = gk_serve_load(&s.server, &web->serve);
	if (!status)
		status = new_hub(&s);
	if (!status)
		status = serve_site(&s);
	end_site(&s);
	return gk_serve_machine_end(&s.machine, status);
}
