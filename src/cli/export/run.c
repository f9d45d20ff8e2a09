/*
 * run.c - `gpukit export`: loads the web server, has the devices read
 * in the background and feeds it.
 */
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/export/export.h"
#include "cli/interrupt.h"
#include "cli/open.h"
#include "cli/where.h"
#include "export/http.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MODULE "lib/gpukit/libgpukit-http.so"

/* Limits, links and totals change slowly; a reading costs the driver. */
#define SLOW_LEAST_NS   (5 * GK_NS_PER_S)
#define DETAIL_LEAST_NS (10 * GK_NS_PER_S)
/* Where rates are shown; counters of links move in steps. */
#define RATES_LEAST_NS (1 * GK_NS_PER_S)

struct server {
	const struct gk_export *export;
	const struct gk_http_module *module;
	struct gk_http *http;
	struct gk_export_listener listener;
	struct gk_feed *feed;
	struct gk_export_users users;
	char *cert, *key, *client_ca; /* PEM */
	struct gk *gk;
};

int gk_export_failure(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("gpukit export: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return GK_EXIT_FAILURE;
}

/* ---- the module ---- */

static int load_module(struct server *s)
{
	char path[PATH_MAX];
	void *library;

	if (gk_where(MODULE, path, sizeof path))
		return gk_export_failure(
		    "its own files cannot be found; is /proc "
		    "mounted?");
	if (access(path, R_OK))
		return gk_export_failure(
		    "built without it: there is no %s; install "
		    "libmicrohttpd-dev and libgnutls28-dev and "
		    "build anew",
		    path);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	s->module = library ? dlsym(library, "gk_http") : NULL;
	return s->module ? 0 : gk_export_failure("%s", dlerror());
}

/* ---- listening ---- */

static bool allowed(void *owner, const char *user, const char *password)
{
	const struct server *s = owner;

	return gk_export_users_allow(&s->users, user, password);
}

static void serve_page(void *owner, const struct gk_http_request *request,
		       struct gk_http_page *ret_page)
{
	const struct server *s = owner;

	gk_feed_page(s->feed, request, ret_page);
}

static int read_secrets(struct server *s)
{
	const struct gk_export *e = s->export;

	if (e->auth && gk_export_users_read(e->auth, &s->users))
		return GK_EXIT_FAILURE;
	if (e->cert && !(s->cert = gk_export_read(e->cert, false)))
		return GK_EXIT_FAILURE;
	if (e->key && !(s->key = gk_export_read(e->key, true)))
		return GK_EXIT_FAILURE;
	if (e->client_ca &&
	    !(s->client_ca = gk_export_read(e->client_ca, false)))
		return GK_EXIT_FAILURE;
	return 0;
}

static bool is_known_host(void *owner, const char *host)
{
	const struct server *s = owner;

	return gk_export_host_known(s->export, host);
}

static int start_listening(struct server *s)
{
	struct gk_http_options options = {
	    .cert = s->cert,
	    .key = s->key,
	    .client_ca = s->client_ca,
	    .realm = "gpukit",
	    .allowed = s->users.count ? allowed : NULL,
	    .page = serve_page,
	    .owner = s,
	};
	const char *why = "";

	if (gk_export_room(&options.most_connections) ||
	    gk_export_listen(s->export, &s->listener))
		return GK_EXIT_FAILURE;
	options.listener = s->listener.fd;
	if (s->listener.loopback || s->export->hosts)
		options.known = is_known_host;
	s->http = s->module->start(&options, &why);
	return s->http ? 0 : gk_export_failure("cannot serve: %s", why);
}

/* ---- telling ---- */

/* To the service manager, if there is one: sd_notify(3)'s protocol. */
static void tell_manager(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t len = path ? strlen(path) : 0;
	int fd;

	if (!len || len >= sizeof to.sun_path)
		return;
	memcpy(to.sun_path, path, len);
	if (*path == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	close(fd);
}

static void tell_user(const struct server *s)
{
	bool six = strchr(s->export->address, ':');

	fprintf(stderr, "gpukit export: %s://%s%s%s:%u/metrics\n",
		s->cert ? "https" : "http", six ? "[" : "", s->export->address,
		six ? "]" : "", s->listener.port);
	if (s->users.count && !s->cert && !s->listener.loopback)
		fputs("gpukit export: warning: the passwords of --auth go over "
		      "the network in the clear; use --tls-cert and "
		      "--tls-key\n",
		      stderr);
}

/* ---- reading ---- */

static uint64_t longer_time(uint64_t ns, uint64_t least)
{
	return ns > least ? ns : least;
}

static int open_exported_machine(struct server *s)
{
	const struct gk_export *e = s->export;
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
	return gk_cli_open("export", &options, &s->gk);
}

static int feed(struct server *s)
{
	int fd = gk_watch_fd(s->gk);

	while (gk_interrupt_wait(fd, POLLIN)) {
		struct gk_snapshot *snap;
		int err = gk_watch_next(s->gk, &snap);

		if (err == GK_ERR_TIMEOUT)
			continue;
		if (err)
			return gk_export_failure("cannot read the GPUs: %s",
						 gk_strerror(err));
		gk_feed_put(s->feed, snap);
	}
	return GK_EXIT_OK;
}

static int serve_requests(struct server *s)
{
	int err = gk_watch_begin(s->gk, s->export->interval_ns);
	int status = err ? gk_export_failure("cannot read the GPUs: %s",
					     gk_strerror(err))
			 : start_listening(s);

	gk_interrupt_ready();
	if (status)
		return status;
	tell_user(s);
	tell_manager("READY=1");
	status = feed(s);
	tell_manager("STOPPING=1");
	return status;
}

static void end_server(struct server *s)
{
	if (s->http)
		s->module->stop(s->http);
	gk_feed_free(s->feed);
	gk_export_users_free(&s->users);
	gk_export_forget(s->key);
	free(s->cert);
	free(s->client_ca);
}

int gk_export_run(const struct gk_export *export)
{
	struct server s = {.export = export};
	int status;

	/* A heap for each thread would be most of the memory that this takes,
	 * and nothing here is in a hurry. */
	mallopt(M_ARENA_MAX, 1);
	if (gk_interrupt_catch())
		return gk_export_failure("cannot catch signals");
	status = load_module(&s);
	if (!status)
		status = read_secrets(&s);
	s.feed = gk_feed_new(export);
	if (!status && !s.feed)
		status = gk_export_failure("out of memory");
	if (!status)
		status = open_exported_machine(&s);
	if (!status)
		status = serve_requests(&s);
	end_server(&s);
	return s.gk ? gk_cli_close(s.gk, status) : status;
}
