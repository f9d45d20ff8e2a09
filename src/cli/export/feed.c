/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.c - the newest snapshot of `gpukit export` and its pages. One thread
 * puts snapshots in, another asks for pages. Each page is made only once per
 * snapshot.
 */
#include "base/clock.h"
#include "cli/export/export.h"
#include "export/flows.h"
#include "export/nvlinks.h"
#include "http/http.h"
#include "format/json.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * Requests are answered with an error after this many intervals without a new
 * snapshot.
 */
#define STALE_INTERVALS 3
#define STALE_LEAST_NS  (5 * GK_NS_PER_S)

static const char no_driver[] = "there is no driver; the log says why\n";

enum slot {
	SLOT_TEXT,
	SLOT_OPENMETRICS,
	SLOT_JSON,
	SLOT_MESSAGE, /* not cached, because each error has its own text */
};

struct gk_feed {
	const struct gk_export *export;
	pthread_mutex_t mutex; /* protects all members below */
	struct gk_snapshot *snap, *before;
	struct gk_host_flows flows;
	struct gk_nvlinks nvlinks;
	uint64_t number;   /* number of the snapshot; the first is 1 */
	uint64_t taken_ns; /* when the snapshot arrived, by gk_mono_ns() */
	uint64_t scrapes;
	bool away; /* there is no driver */
	struct {
		struct gk_buf body;
		/* Number of the snapshot that the page shows. */
		uint64_t number;
	} made[SLOT_MESSAGE];
};

struct gk_feed *gk_feed_new(const struct gk_export *export)
{
	struct gk_feed *feed = calloc(1, sizeof *feed);

	if (!feed)
		return NULL;
	feed->export = export;
	pthread_mutex_init(&feed->mutex, NULL);
	return feed;
}

void gk_feed_free(struct gk_feed *feed)
{
	if (!feed)
		return;
	for (int i = 0; i < SLOT_MESSAGE; i++)
		gk_buf_free(&feed->made[i].body);
	gk_snapshot_free(feed->snap);
	gk_snapshot_free(feed->before);
	gk_flows_free(&feed->flows);
	gk_nvlinks_free(&feed->nvlinks);
	pthread_mutex_destroy(&feed->mutex);
	free(feed);
}

static uint64_t detail_time(const struct gk_snapshot *snap)
{
	return snap && snap->device_count
		   ? snap->devices[0].read_ns[GK_TIER_DETAIL]
		   : 0;
}

void gk_feed_put(struct gk_feed *feed, struct gk_snapshot *snap)
{
	struct gk_snapshot *old;

	if (!feed->export->show.commands)
		gk_serve_hide_commands(snap);
	pthread_mutex_lock(&feed->mutex);
	old = feed->snap;
	/*
	 * Rates are the difference between the last two readings of the
	 * counters.
	 */
	if (feed->export->show.names == GK_NAMES_NVITOP) {
		gk_flows_read(&feed->flows);
		if (detail_time(old) && detail_time(old) != detail_time(snap)) {
			old = feed->before;
			feed->before = feed->snap;
		}
	}
	if (feed->export->show.names == GK_NAMES_DCGM)
		gk_nvlinks_take(&feed->nvlinks, snap);
	feed->snap = snap;
	feed->away = false;
	feed->number++;
	feed->taken_ns = gk_mono_ns();
	pthread_mutex_unlock(&feed->mutex);
	gk_snapshot_free(old);
}

void gk_feed_away(struct gk_feed *feed)
{
	pthread_mutex_lock(&feed->mutex);
	feed->away = true;
	pthread_mutex_unlock(&feed->mutex);
}

/* ---- pages ---- */

static void make_page(struct gk_feed *feed, enum slot slot, struct gk_buf *out)
{
	struct gk_prometheus show = feed->export->show;

	if (slot == SLOT_JSON) {
		gk_format_json(out, feed->snap,
			       show.processes ? 0 : GK_JSON_NO_PROCESSES);
		return;
	}
	show.openmetrics = slot == SLOT_OPENMETRICS;
	show.frames = feed->number;
	show.scrapes = feed->scrapes;
	show.flows = &feed->flows;
	show.before = feed->before;
	show.nvlink_rates = feed->nvlinks.rates;
	gk_format_prometheus(out, feed->snap, &show);
}

static void of_snapshot(struct gk_feed *feed, enum slot slot, const char *type,
			struct gk_http_page *page)
{
	struct gk_buf *body = &feed->made[slot].body;

	if (feed->away && slot != SLOT_JSON) {
		gk_serve_message(page, SLOT_MESSAGE, 200,
				 gk_prometheus_away(&feed->export->show,
						    slot == SLOT_OPENMETRICS));
		page->type = type;
		return;
	}
	if (feed->away || !feed->snap) {
		gk_serve_message(page, SLOT_MESSAGE, 503,
				 feed->away ? no_driver
					    : "nothing has been read yet\n");
		return;
	}
	if (feed->made[slot].number != feed->number) {
		body->len = 0;
		body->failed = false;
		make_page(feed, slot, body);
		feed->made[slot].number = body->failed ? 0 : feed->number;
	}
	if (body->failed) {
		gk_serve_message(page, SLOT_MESSAGE, 500, "out of memory\n");
		return;
	}
	page->status = 200;
	page->type = type;
	/* If no GPU has answered yet, the page is empty. */
	page->body = body->data ? body->data : "";
	page->len = body->len;
	page->slot = slot;
	page->number = feed->number;
}

/* Returns the quality value of a media type in an Accept header, times 1000. */
static int find_quality(const char *accept, const char *type)
{
	const char *at = strcasestr(accept, type);
	const char *end = at ? at + strcspn(at, ",") : NULL;
	const char *q = at ? strstr(at, "q=") : NULL;

	if (!at)
		return 0;
	return q && q < end ? (int)(strtod(q + 2, NULL) * 1000) : 1000;
}

static bool wants_openmetrics(const struct gk_feed *feed, const char *accept)
{
	int open = find_quality(accept, "application/openmetrics-text");

	return feed->export->show.names == GK_NAMES_GPUKIT && open > 0 &&
	       open >= find_quality(accept, "text/plain");
}

static void serve_metrics_page(struct gk_feed *feed,
			       const struct gk_http_request *request,
			       struct gk_http_page *page)
{
	feed->scrapes++;
	if (wants_openmetrics(feed, request->accept))
		of_snapshot(feed, SLOT_OPENMETRICS,
			    "application/openmetrics-text; version=1.0.0; "
			    "charset=utf-8",
			    page);
	else
		of_snapshot(feed, SLOT_TEXT,
			    "text/plain; version=0.0.4; charset=utf-8", page);
}

static void snapshot(struct gk_feed *feed,
		     const struct gk_http_request *request,
		     struct gk_http_page *page)
{
	(void)request;
	of_snapshot(feed, SLOT_JSON, "application/json", page);
}

static void health(struct gk_feed *feed, const struct gk_http_request *request,
		   struct gk_http_page *page)
{
	uint64_t patience = STALE_INTERVALS * feed->export->interval_ns;

	(void)request;
	if (patience < STALE_LEAST_NS)
		patience = STALE_LEAST_NS;
	if (feed->away)
		gk_serve_message(page, SLOT_MESSAGE, 503, no_driver);
	else if (!feed->snap)
		gk_serve_message(page, SLOT_MESSAGE, 503,
				 "nothing has been read yet\n");
	else if (gk_mono_ns() - feed->taken_ns > patience)
		gk_serve_message(page, SLOT_MESSAGE, 503,
				 "the devices are no longer read\n");
	else
		gk_serve_message(page, SLOT_MESSAGE, 200, "ok\n");
}

static void index_page(struct gk_feed *feed,
		       const struct gk_http_request *request,
		       struct gk_http_page *page)
{
	(void)feed;
	(void)request;
	gk_serve_message(
	    page, SLOT_MESSAGE, 200,
	    "gpukit export\n/metrics\n/api/v1/snapshot\n/healthz\n");
}

static const struct {
	const char *path;
	void (*page)(struct gk_feed *feed,
		     const struct gk_http_request *request,
		     struct gk_http_page *page);
} pages[] = {
    {"/metrics", serve_metrics_page},
    {"/api/v1/snapshot", snapshot},
    {"/healthz", health},
    {"/", index_page},
};

void gk_feed_page(struct gk_feed *feed, const struct gk_http_request *request,
		  struct gk_http_page *ret_page)
{
	pthread_mutex_lock(&feed->mutex);
	gk_serve_message(ret_page, SLOT_MESSAGE, 404, "no such page\n");
	for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
		if (!strcmp(pages[i].path, request->path))
			pages[i].page(feed, request, ret_page);
	pthread_mutex_unlock(&feed->mutex);
}
