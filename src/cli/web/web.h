/* web.h - `gpukit web`: what its options chose, and the run. */
#ifndef GK_CLI_WEB_H
#define GK_CLI_WEB_H

#include "cli/serve/serve.h"

#include <gpukit/gpukit.h>

struct gk_web {
	struct gk_serve_options serve;
	uint64_t interval_ns;
	bool commands;
	char *peers; /* --peer, an argz vector */
	size_t peers_len;
	const char *peer_auth, *peer_ca; /* files, or NULL */
	const char *follow; /* a peer to tell of instead of serving, or NULL */
	struct gk_options machine;
};

/* Serves until a signal comes; a gk_exit, after a message when it is not 0. */
int gk_web_run(const struct gk_web *web);

/* Prints what the peer that is followed tells, until it is away or a signal
 * comes; the same. */
int gk_web_follow(const struct gk_web *web);

#endif
