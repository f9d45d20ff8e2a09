/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - `gpukit export`: a background watch reads the devices and feeds the
 * web server. Requests are served even while there is no driver.
 */
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/export/export.h"
#include "cli/interrupt.h"

#include <malloc.h>

/* Limits, links and totals change slowly, and reading them is costly. */
#define SLOW_LEAST_NS   (5 * GK_NS_PER_S)
#define DETAIL_LEAST_NS (10 * GK_NS_PER_S)

#define VERB "export"

struct exporter {
	const struct gk_export *export;
	struct gk_server server;
	struct gk_feed *feed;
	struct gk_serve_machine machine;
	struct gk_mended mended;
};

static void serve_page(void *owner, const struct gk_http_request *request,
		       struct gk_http_page *ret_page)
{
	const struct exporter *e = owner;

	gk_feed_page(e->feed, request, ret_page);
}

static uint64_t longer_time(uint64_t ns, uint64_t least)
{
	return ns > least ? ns : least;
}

static void put_frame(void *owner, struct gk_snapshot *snap)
{
	struct exporter *e = owner;

	gk_mended_end_xids(&e->mended, snap);
	gk_feed_put(e->feed, snap);
}

static void tell_away(void *owner, const char *why)
{
	const struct exporter *e = owner;

	(void)why; /* the reason may tell clients more than they should know */
	gk_feed_away(e->feed);
}

static int read_machine(struct exporter *x)
{
	const struct gk_export *e = x->export;
	struct gk_options options = e->machine;
	struct gk_metric_set only;
	bool detail;

	gk_prometheus_metrics(&e->show, &only, &detail);
	options.only = &only;
	options.with |= GK_WITH_EVENTS | (detail ? GK_WITH_DETAIL : 0);
	if (!e->show.processes)
		options.with |= GK_WITHOUT_PROCESSES;
	options.period_ns[GK_TIER_MEDIUM] = e->interval_ns;
	options.period_ns[GK_TIER_ASKED] = e->interval_ns;
	options.period_ns[GK_TIER_SLOW] =
	    longer_time(e->interval_ns, SLOW_LEAST_NS);
	options.period_ns[GK_TIER_DETAIL] = longer_time(
	    e->interval_ns, e->show.names == GK_NAMES_NVITOP ? e->interval_ns
							     : DETAIL_LEAST_NS);
	x->machine = (struct gk_serve_machine){
	    .verb = VERB,
	    .options = &options,
	    .interval_ns = e->interval_ns,
	    .put = put_frame,
	    .away = tell_away,
	    .owner = x,
	};
	return gk_serve_machine(&x->machine);
}

static int serve_requests(struct exporter *e)
{
	struct gk_http_options how = {.page = serve_page, .owner = e};
	int status = gk_serve_begin(&e->server, how);

	gk_interrupt_ready();
	if (status)
		return status;
	gk_serve_tell(&e->server, "/metrics");
	return read_machine(e);
}

int gk_export_run(const struct gk_export *export)
{
	struct exporter e = {.export = export};
	int status;

	/*
	 * One malloc arena for all threads: an arena for each would take most
	 * of the memory of this process, and allocation speed does not matter
	 * here.
	 */
	mallopt(M_ARENA_MAX, 1);
	if (gk_interrupt_catch())
		return gk_serve_failure(VERB, "cannot catch signals");
	status = gk_serve_load(&e.server, &export->serve);
	e.feed = gk_feed_new(export);
	if (!status && !e.feed)
		status = gk_serve_failure(VERB, "out of memory");
	if (!status)
		status = serve_requests(&e);
	gk_serve_end(&e.server);
	gk_feed_free(e.feed);
	gk_mended_free(&e.mended);
	return gk_serve_machine_end(&e.machine, status);
}
