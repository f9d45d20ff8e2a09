/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.c - runs the web server of a verb: loads it, passes it certificates and
 * passwords, prints its address, and feeds it snapshots.
 */
#include "cli/serve/serve.h"

#include "base/array.h"
#include "cli/cmd.h"
#include "cli/where.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- modules and files ---- */

/*
 * Loads the library that a module is not linked with but needs, and makes its
 * symbols visible to the module.
 */
static bool open_needed(const struct gk_serve_module *m)
{
	for (size_t i = 0; i < COUNT(m->needs); i++)
		if (m->needs[i] && dlopen(m->needs[i], RTLD_NOW | RTLD_GLOBAL))
			return true;
	return false;
}

const void *gk_serve_open(const char *verb, const struct gk_serve_module *m)
{
	char path[PATH_MAX];
	const void *table;
	void *library;

	if (gk_where_library(m->file, path, sizeof path)) {
		gk_serve_failure(verb, "its own files cannot be found; is "
				       "/proc mounted?");
		return NULL;
	}
	if (access(path, R_OK)) {
		gk_serve_failure(
		    verb,
		    "not built: %s is missing; install %s and build again",
		    path, m->packages);
		return NULL;
	}
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library && m->needs[0] && !open_needed(m)) {
		gk_serve_failure(verb, "%s needs %s, which is not installed",
				 m->purpose, m->needs[0]);
		return NULL;
	}
	if (!library)
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	table = library ? dlsym(library, m->symbol) : NULL;
	if (!table)
		gk_serve_failure(verb, "%s", dlerror());
	return table;
}

static int read_secrets(struct gk_server *s)
{
	const struct gk_serve_options *o = s->options;

	if (o->auth && gk_serve_users_read(o->verb, o->auth, &s->users))
		return GK_EXIT_FAILURE;
	if (o->cert && !(s->cert = gk_serve_read(o->verb, o->cert, false)))
		return GK_EXIT_FAILURE;
	if (o->key && !(s->key = gk_serve_read(o->verb, o->key, true)))
		return GK_EXIT_FAILURE;
	if (o->client_ca &&
	    !(s->client_ca = gk_serve_read(o->verb, o->client_ca, false)))
		return GK_EXIT_FAILURE;
	return 0;
}

static const struct gk_serve_module plain = {
    "libgpukit-http.so",
    "gk_http",
    "libmicrohttpd-dev and libgnutls28-dev",
    NULL,
    {NULL},
};
static const struct gk_serve_module with_tls = {
    "libgpukit-https.so",
    "gk_http",
    "libmicrohttpd-dev and libgnutls28-dev",
    "TLS",
    {"libgnutls.so.30"},
};

int gk_serve_load(struct gk_server *s, const struct gk_serve_options *options)
{
	s->options = options;
	s->module =
	    gk_serve_open(options->verb, options->cert ? &with_tls : &plain);
	return s->module ? read_secrets(s) : GK_EXIT_FAILURE;
}

/* ---- listening ---- */

static bool is_allowed(void *guard, const char *user, const char *password)
{
	const struct gk_server *s = guard;

	return gk_serve_users_allow(&s->users, user, password);
}

static bool is_known_host(void *guard, const char *host)
{
	const struct gk_server *s = guard;

	return gk_serve_host_known(s->options, host);
}

int gk_serve_begin(struct gk_server *s, struct gk_http_options how)
{
	const char *verb = s->options->verb, *why = "";

	how.cert = s->cert;
	how.key = s->key;
	how.client_ca = s->client_ca;
	how.realm = "gpukit";
	how.guard = s;
	how.allowed = s->users.count ? is_allowed : NULL;
	if (gk_serve_room(verb, &how.most_connections) ||
	    gk_serve_listen(s->options, &s->listener))
		return GK_EXIT_FAILURE;
	how.listener = s->listener.fd;
	if (s->listener.loopback || s->options->hosts)
		how.known = is_known_host;
	s->http = s->module->start(&how, &why);
	return s->http ? 0 : gk_serve_failure(verb, "cannot serve: %s", why);
}

/* ---- messages ---- */

/*
 * Notifies the service manager, if there is one, with the protocol of
 * sd_notify(3).
 */
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

void gk_serve_message(struct gk_http_page *ret_page, unsigned slot,
		      unsigned status, const char *text)
{
	*ret_page = (struct gk_http_page){
	    .status = status,
	    .type = "text/plain; charset=utf-8",
	    .body = text,
	    .len = strlen(text),
	    .slot = slot,
	    .number = (uint64_t)(uintptr_t)text,
	};
}

void gk_serve_tell(const struct gk_server *s, const char *path)
{
	const char *verb = s->options->verb, *address = s->options->address;
	bool six = strchr(address, ':');

	fprintf(stderr, "gpukit %s: %s://%s%s%s:%u%s\n", verb,
		s->cert ? "https" : "http", six ? "[" : "", address,
		six ? "]" : "", s->listener.port, path);
	if (s->users.count && !s->cert && !s->listener.loopback)
		fprintf(
		    stderr,
		    "gpukit %s: warning: --auth sends passwords unencrypted "
		    "over the network; use --tls-cert and --tls-key\n",
		    verb);
	tell_manager("READY=1");
}

void gk_serve_end(struct gk_server *s)
{
	if (s->http) {
		tell_manager("STOPPING=1");
		s->module->stop(s->http);
	}
	gk_serve_users_free(&s->users);
	gk_serve_forget(s->key);
	free(s->cert);
	free(s->client_ca);
}

void gk_serve_hide_commands(struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->process_count; i++) {
		snap->processes[i].command = "";
		snap->processes[i].args_len = 0;
		snap->processes[i].cwd = "";
		snap->processes[i].cwd_why = GK_ABSENT_NOT_READ;
	}
}
