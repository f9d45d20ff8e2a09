/* SPDX-License-Identifier: Apache-2.0 */
/* peers.c - passes the events of other machines on to the hub. */
#include "cli/web/peers.h"

#include "cli/cmd.h"
#include "http/follow.h"
#include "base/clock.h"
#include "web/budget.h"
#include "web/sse.h"

#include <argz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS "/api/v1/events"

struct peer {
	char *url; /* URL of the peer's event stream */
	struct gk_sse sse;
	struct gk_budget budget;
	unsigned passed; /* number of skipped events reported so far */
};

struct gk_peers {
	struct gk_hub *hub;
	const struct gk_follow_module *module;
	struct gk_follow *follow;
	char *login;
	size_t count;
	const char **urls;
	struct peer *peers;
	/* Used only by the thread that follows the peers. */
	size_t at; /* index of the peer whose bytes are being read */
	bool bad;  /* the peer has sent something other than gpukit's events */
};

/* ---- events of peers ---- */

/* Returns the hub's number of a peer. Host 0 is this machine. */
static size_t host_of(size_t peer)
{
	return peer + 1;
}

static void take_event(void *owner, const char *name, const char *data,
		       size_t len)
{
	struct gk_peers *p = owner;
	enum gk_event_kind kind = gk_event_kind(name);

	gk_budget_spend(&p->peers[p->at].budget, gk_mono_ns(), GK_BUDGET_EVENT);
	/* Ignores unknown kinds of events, which later versions may send. */
	if (kind == GK_EVENT_KINDS)
		return;
	if (gk_hub_take(p->hub, host_of(p->at), kind, data, len) ==
	    GK_ERR_INVALID)
		p->bad = true;
}

static bool pass_peer_bytes(void *owner, size_t at, const char *bytes,
			    size_t len)
{
	struct gk_peers *p = owner;

	struct peer *peer = &p->peers[at];
	bool fed;

	p->at = at;
	p->bad = false;
	gk_budget_spend(&peer->budget, gk_mono_ns(), len);
	fed = gk_sse_feed(&peer->sse, bytes, len, take_event, p);
	if (peer->passed != peer->sse.passed)
		gk_hub_too_large(p->hub, host_of(at));
	peer->passed = peer->sse.passed;
	return fed && !p->bad;
}

static uint64_t rest_of_peer(void *owner, size_t at)
{
	const struct gk_peers *p = owner;

	return gk_budget_wait(&p->peers[at].budget, gk_mono_ns());
}

static const char *begin_peer(void *owner, size_t at)
{
	const struct gk_peers *p = owner;

	gk_sse_begin(&p->peers[at].sse);
	return p->peers[at].sse.id;
}

static void lose_peer(void *owner, size_t at, const char *why)
{
	const struct gk_peers *p = owner;

	gk_hub_away(p->hub, host_of(at), why);
}

/* ---- start and end ---- */

const char *gk_peer_name(const char *url)
{
	return strstr(url, "//") + 2;
}

static bool add_peers(struct gk_peers *p, const struct gk_web *web)
{
	const char *url = NULL;

	while ((url = argz_next(web->peers, web->peers_len, url))) {
		int len = (int)strlen(url);

		while (len && url[len - 1] == '/')
			len--;
		if (asprintf(&p->peers[p->count].url, "%.*s" EVENTS, len, url) <
		    0)
			return false;
		p->urls[p->count] = p->peers[p->count].url;
		p->count++;
	}
	return true;
}

/* Reads the login, which is the first line of the file. */
int gk_peer_login(const struct gk_web *web, char **ret_login)
{
	char *login;

	*ret_login = NULL;
	if (!web->peer_auth)
		return 0;
	login = gk_serve_read("web", web->peer_auth, true);
	if (!login)
		return GK_EXIT_FAILURE;
	login[strcspn(login, "\r\n")] = '\0';
	*ret_login = login;
	return strchr(login, ':')
		   ? 0
		   : gk_serve_failure("web", "%s: a line is USER:PASSWORD",
				      web->peer_auth);
}

const struct gk_follow_module *gk_peer_module(void)
{
	static const struct gk_serve_module follow = {
	    "libgpukit-follow.so",
	    "gk_follow",
	    "libcurl4-gnutls-dev",
	    "--peer",
	    {"libcurl.so.4", "libcurl-gnutls.so.4"},
	};

	return gk_serve_open("web", &follow);
}

static int start_follow(struct gk_peers *p, const struct gk_web *web)
{
	struct gk_follow_options options = {
	    .urls = p->urls,
	    .count = p->count,
	    .login = p->login,
	    .ca = web->peer_ca,
	    .owner = p,
	    .begins = begin_peer,
	    .bytes = pass_peer_bytes,
	    .rest = rest_of_peer,
	    .ended = lose_peer,
	};

	p->follow = p->module->start(&options);
	return p->follow ? 0 : gk_serve_failure("web", "no thread");
}

int gk_peers_start(const struct gk_web *web, struct gk_hub *hub,
		   struct gk_peers **ret_peers)
{
	size_t count = argz_count(web->peers, web->peers_len);
	struct gk_peers *p = calloc(1, sizeof *p);
	int status = GK_EXIT_FAILURE;

	if (p) {
		p->hub = hub;
		p->urls = calloc(count, sizeof *p->urls);
		p->peers = calloc(count, sizeof *p->peers);
	}
	if (!p || !p->urls || !p->peers || !add_peers(p, web))
		gk_serve_failure("web", "out of memory");
	else if ((p->module = gk_peer_module()))
		status = gk_peer_login(web, &p->login);
	if (!status)
		status = start_follow(p, web);
	if (status)
		gk_peers_end(p);
	else
		*ret_peers = p;
	return status;
}

void gk_peers_end(struct gk_peers *p)
{
	if (!p)
		return;
	if (p->follow)
		p->module->stop(p->follow);
	for (size_t i = 0; i < p->count; i++) {
		free(p->peers[i].url);
		gk_sse_free(&p->peers[i].sse);
	}
	gk_serve_forget(p->login);
	free(p->urls);
	free(p->peers);
	free(p);
}
