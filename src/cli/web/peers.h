/* SPDX-License-Identifier: Apache-2.0 */
/* peers.h - the other machines that `gpukit web` shows. */
#ifndef GK_CLI_WEB_PEERS_H
#define GK_CLI_WEB_PEERS_H

#include "cli/web/web.h"
#include "http/follow.h"
#include "web/hub.h"

struct gk_peers;

/* Returns the name of a peer, "HOST:PORT", until it has sent its own. */
const char *gk_peer_name(const char *url);

/*
 * Starts to follow the peers. They are the hosts of the hub from number 1 on.
 * Returns 0, or a gk_exit after a message. The caller keeps `web`, which must
 * outlive the peers.
 */
int gk_peers_start(const struct gk_web *web, struct gk_hub *hub,
		   struct gk_peers **ret_peers);
void gk_peers_end(
    struct gk_peers *peers); /* call before freeing the hub; accepts NULL */

/*
 * Reads the login of --peer-auth, or sets NULL if that was not given. Free it
 * with gk_serve_forget(). Returns 0, or a gk_exit after a message.
 */
int gk_peer_login(const struct gk_web *web, char **ret_login);

/* Loads the module that follows pages. Returns NULL after a message. */
const struct gk_follow_module *gk_peer_module(void);

#endif
