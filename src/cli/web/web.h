/* SPDX-License-Identifier: Apache-2.0 */
/* web.h - `gpukit web`: its options, and the run. */
#ifndef GK_CLI_WEB_H
#define GK_CLI_WEB_H

#include "cli/serve/serve.h"
#include "cli/page.h"

#include <gpukit/gpukit.h>

struct gk_web {
	struct gk_serve_options serve;
	uint64_t interval_ns;
	bool commands;
	char *peers; /* --peer, an argz vector */
	size_t peers_len;
	const char *peer_auth, *peer_ca; /* file names, or NULL */
	/* NULL, or a peer whose snapshots are printed instead of serving. */
	const char *follow;
	struct gk_options machine;
};

/*
 * Serves until a signal arrives. Returns a gk_exit, after a message unless it
 * is 0.
 */
int gk_web_run(const struct gk_web *web);

/*
 * Prints the snapshots of the followed peer until it goes away or a signal
 * arrives. Returns a gk_exit, after a message unless it is 0.
 */
int gk_web_follow(const struct gk_web *web);

/* The options, for the manual. */
extern const struct argp gk_web_argp;

#endif
