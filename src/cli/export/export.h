/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - `gpukit export`: its options, and the run. */
#ifndef GK_CLI_EXPORT_H
#define GK_CLI_EXPORT_H

#include "cli/serve/serve.h"
#include "cli/page.h"
#include "format/prometheus/prometheus.h"

#include <gpukit/gpukit.h>

struct gk_export {
	struct gk_serve_options serve;
	uint64_t interval_ns;
	struct gk_prometheus show;
	struct gk_options machine;
};

/*
 * Serves until SIGINT or SIGTERM. Returns a gk_exit, after a message unless it
 * is 0.
 */
int gk_export_run(const struct gk_export *export);

/* ---- feed.c ---- */

/* The newest snapshot, and the pages that were made from it. */
struct gk_feed;

/* Returns NULL if out of memory. The feed keeps the pointer to export. */
struct gk_feed *gk_feed_new(const struct gk_export *export);
void gk_feed_free(struct gk_feed *feed);

/* Puts a new snapshot into the feed, which frees it later. */
void gk_feed_put(struct gk_feed *feed, struct gk_snapshot *snap);

/* Records that there is no driver, until the next snapshot arrives. */
void gk_feed_away(struct gk_feed *feed);

/* Makes a page; see http.h. Called on another thread than gk_feed_put(). */
void gk_feed_page(struct gk_feed *feed, const struct gk_http_request *request,
		  struct gk_http_page *ret_page);

/* ---- mended.c ---- */

/* When each GPU has recovered. Initialise it with zeros. */
struct gk_mended {
	struct gk_mended_gpu *gpus;
	size_t count;
};

/*
 * If a GPU has recovered since its last Xid, sets the number of that Xid in the
 * snapshot to 0. Call this for each snapshot, in order.
 */
void gk_mended_end_xids(struct gk_mended *mended, struct gk_snapshot *snap);
void gk_mended_free(struct gk_mended *mended);

/* The options, for the manual. */
extern const struct argp gk_export_argp;

#endif
