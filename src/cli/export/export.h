/*
 * export.h - `gpukit export`: what its options chose, and the run.
 */
#ifndef GK_CLI_EXPORT_H
#define GK_CLI_EXPORT_H

#include "cli/serve/serve.h"
#include "format/prometheus.h"

#include <gpukit/gpukit.h>

struct gk_export {
	struct gk_serve_options serve;
	uint64_t interval_ns;
	struct gk_prometheus show;
	struct gk_options machine;
};

/* Serves until a signal comes; a gk_exit, after a message when it is not 0. */
int gk_export_run(const struct gk_export *export);

/* ---- feed.c ---- */

/* The newest snapshot, and the pages made of it when somebody asks. */
struct gk_feed;

/* NULL without memory. The feed refers to export. */
struct gk_feed *gk_feed_new(const struct gk_export *export);
void gk_feed_free(struct gk_feed *feed);

/* Takes a snapshot over. */
void gk_feed_put(struct gk_feed *feed, struct gk_snapshot *snap);

/* Makes a page, in another thread than the one of gk_feed_put(). See http.h. */
void gk_feed_page(struct gk_feed *feed, const struct gk_http_request *request,
		  struct gk_http_page *ret_page);

#endif
