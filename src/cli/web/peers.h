/* peers.h - the other machines that `gpukit web` shows. */
#ifndef GK_CLI_WEB_PEERS_H
#define GK_CLI_WEB_PEERS_H

#include "cli/web/web.h"
#include "http/follow.h"
#include "web/hub.h"

struct gk_peers;

/* What a peer is called before it has said its name: "HOST:PORT". */
const char *gk_peer_name(const char *url);

/*
 * Begins to follow the peers; they are the hosts of the hub from the second on.
 * 0 or a gk_exit after a message. web stays the caller's and must last.
 */
int gk_peers_start(const struct gk_web *web, struct gk_hub *hub,
		   struct gk_peers **ret_peers);
void gk_peers_end(struct gk_peers *peers); /* before the hub; NULL is allowed */

/*
 * The login of --peer-auth, to be given to gk_serve_forget(); NULL without one.
 * 0 or a gk_exit after a message.
 */
int gk_peer_login(const struct gk_web *web, char **ret_login);

/* The module that follows pages; NULL after a message. */
const struct gk_follow_module *gk_peer_module(void);

#endif
