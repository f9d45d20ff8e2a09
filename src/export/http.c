/*
 * http.c - the web server; see http.h. One thread runs everything:
 * libmicrohttpd, the pages, and the book of connections by which old ones make
 * room.
 */
#include "export/http.h"

#include "base/clock.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTION_MEMORY 8192
/* The most bytes that a request may bring along; they are read and dropped. */
#define MOST_BODY 65536
/* From the connection, or the beginning of a request, to its end. */
#define REQUEST_NS (10 * GK_NS_PER_S)
/* Between two requests of one connection: two scrapes a minute and less. */
#define IDLE_NS       (150 * GK_NS_PER_S)
#define LOOK_EVERY_MS 500

/* In one of two lists, by the time since which it has not done anything. */
struct connection {
	struct connection *before, *after;
	int fd;
	uint64_t since_ns;
	bool fresh; /* idle since the last look */
	bool idle;  /* between two requests; else a request is to come to an end
		     */
};

struct cached {
	uint64_t number;
	struct MHD_Response *response;
};

struct gk_http {
	struct gk_http_options options;
	struct MHD_Daemon *daemon;
	pthread_t thread;
	int end;                      /* an eventfd: stop */
	struct connection busy, idle; /* heads of rings, oldest first */
	unsigned count;
	bool made_room; /* one of too many has gone: the library has to look
			   at once for whom it left waiting */
	struct cached cached[GK_HTTP_SLOTS];
};

/* ---- the book of connections ---- */

static void ring_init(struct connection *head)
{
	head->before = head->after = head;
}

static void ring_remove(struct connection *c)
{
	c->before->after = c->after;
	c->after->before = c->before;
}

/* As the youngest of its ring. */
static void ring_add(struct gk_http *http, struct connection *c, bool idle)
{
	struct connection *head = idle ? &http->idle : &http->busy;

	c->idle = c->fresh = idle;
	c->since_ns = gk_mono_ns();
	c->before = head->before;
	c->after = head;
	head->before->after = c;
	head->before = c;
}

/* Its end is then noticed by the library, which closes it. */
static void end_connection(struct gk_http *http, struct connection *c)
{
	shutdown(c->fd, SHUT_RDWR);
	ring_remove(c);
	ring_add(http, c, c->idle);
	c->fresh = false;
}

static void end_oldest(struct gk_http *http)
{
	if (http->busy.after != &http->busy)
		end_connection(http, http->busy.after);
	else if (http->idle.after != &http->idle)
		end_connection(http, http->idle.after);
}

/* A client that sent its last request and the end of its sending at once is
 * not noticed by the library, which has read the request alone. */
static void end_half_closed(struct gk_http *http)
{
	struct connection *c, *before;
	char byte;

	for (c = http->idle.before; c != &http->idle && c->fresh; c = before) {
		before = c->before;
		c->fresh = false;
		if (!recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT))
			end_connection(http, c);
	}
}

static void end_late(struct gk_http *http)
{
	uint64_t now = gk_mono_ns();
	struct connection *c;

	while ((c = http->busy.after) != &http->busy &&
	       now > c->since_ns + REQUEST_NS)
		end_connection(http, c);
	while ((c = http->idle.after) != &http->idle &&
	       now > c->since_ns + IDLE_NS)
		end_connection(http, c);
}

static void connection_changed(void *owner, struct MHD_Connection *connection,
			       void **context,
			       enum MHD_ConnectionNotificationCode what)
{
	struct gk_http *http = owner;
	struct connection *c = *context;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		    connection, MHD_CONNECTION_INFO_CONNECTION_FD);

		c = calloc(1, sizeof *c);
		if (!c || !info) {
			free(c);
			return;
		}
		*context = c;
		c->fd = info->connect_fd;
		if (++http->count > http->options.most_connections)
			end_oldest(http);
		ring_add(http, c, false);
	} else if (c) {
		ring_remove(c);
		http->made_room |=
		    http->count-- > http->options.most_connections;
		free(c);
		*context = NULL;
	}
}

static struct connection *find_connection(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
	    connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void request_state(struct gk_http *http,
			  struct MHD_Connection *connection, bool idle)
{
	struct connection *c = find_connection(connection);

	if (!c)
		return;
	ring_remove(c);
	ring_add(http, c, idle);
}

/*
 * No page has arguments, and the library would make a record of each, in the
 * memory that it needs to answer: it does not get to see them. uri is the
 * library's own buffer, of which it has not read more than the line.
 */
static void *request_begins(void *owner, const char *uri,
			    struct MHD_Connection *connection)
{
	struct connection *c = find_connection(connection);
	char *arguments = strchr((char *)(uintptr_t)uri, '?');

	if (arguments)
		arguments[1] = '\0';
	/* One that took long to begin has no more time for it. */
	if (c && c->idle)
		request_state(owner, connection, false);
	return NULL;
}

static void request_ends(void *owner, struct MHD_Connection *connection,
			 void **context, enum MHD_RequestTerminationCode how)
{
	(void)context;
	if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		request_state(owner, connection, true);
}

/* ---- answers ---- */

static enum MHD_Result answer_briefly(struct MHD_Connection *connection,
				      unsigned status, const char *text,
				      const char *header, const char *value)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
	    strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result r = MHD_NO;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				"text/plain; charset=utf-8");
	if (header)
		MHD_add_response_header(response, header, value);
	r = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return r;
}

static enum MHD_Result ask_who(const struct gk_http *http,
			       struct MHD_Connection *connection)
{
	static const char text[] = "user and password, please\n";
	struct MHD_Response *response = MHD_create_response_from_buffer(
	    sizeof text - 1, (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result r = MHD_NO;

	if (response)
		r = MHD_queue_basic_auth_fail_response(
		    connection, http->options.realm, response);
	if (response)
		MHD_destroy_response(response);
	return r;
}

/* Shows a certificate that the authority asked for has signed. */
static bool has_certificate(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
	    connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	unsigned status = 1;

	return info && info->tls_session &&
	       !gnutls_certificate_verify_peers2(info->tls_session, &status) &&
	       !status;
}

static bool is_allowed(const struct gk_http *http,
		       struct MHD_Connection *connection)
{
	char *password = NULL, *user;
	bool allowed;

	if (!http->options.allowed)
		return true;
	user = MHD_basic_auth_get_username_password(connection, &password);
	allowed = user && password &&
		  http->options.allowed(http->options.owner, user, password);
	MHD_free(user);
	MHD_free(password);
	return allowed;
}

/* The response of a page: made anew when the page is another one. */
static struct MHD_Response *response_for(struct gk_http *http,
					 const struct gk_http_page *page)
{
	struct cached *cached = &http->cached[page->slot % GK_HTTP_SLOTS];
	struct MHD_Response *response;

	if (cached->response && cached->number == page->number)
		return cached->response;
	response = MHD_create_response_from_buffer(
	    page->len, (void *)(uintptr_t)page->body, MHD_RESPMEM_MUST_COPY);
	if (!response)
		return NULL;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				page->type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
				"no-store");
	if (cached->response)
		MHD_destroy_response(cached->response);
	cached->response = response;
	cached->number = page->number;
	return response;
}

static const char *request_header(struct MHD_Connection *connection,
				  const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result answer_page(struct gk_http *http,
				   struct MHD_Connection *connection,
				   const char *path)
{
	const char *accept = request_header(connection, MHD_HTTP_HEADER_ACCEPT);
	struct gk_http_request request = {path, accept ? accept : ""};
	struct gk_http_page page = {0};
	struct MHD_Response *response;

	http->options.page(http->options.owner, &request, &page);
	response = page.body ? response_for(http, &page) : NULL;
	if (!response)
		return answer_briefly(connection, 500, "out of memory\n", NULL,
				      NULL);
	return MHD_queue_response(connection, page.status, response);
}

/* Called when the headers are there: before the body, if there is one. */
static enum MHD_Result begin_answer(struct MHD_Connection *connection,
				    const char *method)
{
	const char *length =
	    request_header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);

	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return answer_briefly(connection, 405, "only GET and HEAD\n",
				      "Allow", "GET, HEAD");
	if (request_header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING))
		return answer_briefly(connection, 411,
				      "no page needs a body; one of unknown "
				      "length is not read\n",
				      "Connection", "close");
	if (length && strtoull(length, NULL, 10) > MOST_BODY)
		return answer_briefly(connection, 413,
				      "no page needs a body; one of more than "
				      "64 KiB is not read\n",
				      "Connection", "close");
	return MHD_YES;
}

/* Who asks without a Host header is no browser. */
static bool is_known(const struct gk_http *http,
		     struct MHD_Connection *connection)
{
	const char *host = request_header(connection, MHD_HTTP_HEADER_HOST);

	return !http->options.known || !host ||
	       http->options.known(http->options.owner, host);
}

static enum MHD_Result answer_request(void *owner,
				      struct MHD_Connection *connection,
				      const char *path, const char *method,
				      const char *version, const char *upload,
				      size_t *upload_size, void **context)
{
	static int seen;
	struct gk_http *http = owner;

	(void)version;
	(void)upload;
	if (!*context) {
		*context = &seen;
		return begin_answer(connection, method);
	}
	/* The library takes no answer before the body has ended. */
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (!is_known(http, connection))
		return answer_briefly(
		    connection, 421,
		    "not served by this name (Host); if it is one of this "
		    "host: gpukit export --allow-host NAME\n",
		    NULL, NULL);
	if (http->options.client_ca && !has_certificate(connection))
		return answer_briefly(connection, 403,
				      "a client certificate, please\n", NULL,
				      NULL);
	if (!is_allowed(http, connection))
		return ask_who(http, connection);
	return answer_page(http, connection, path);
}

/* ---- the thread ---- */

static int epoll_of(const struct gk_http *http)
{
	const union MHD_DaemonInfo *info =
	    MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->listen_fd : -1;
}

static void *serve_http(void *owner)
{
	struct gk_http *http = owner;
	struct pollfd fds[] = {{.fd = epoll_of(http), .events = POLLIN},
			       {.fd = http->end, .events = POLLIN}};

	while (!fds[1].revents) {
		MHD_UNSIGNED_LONG_LONG wanted;
		int timeout = LOOK_EVERY_MS;

		if (MHD_get_timeout(http->daemon, &wanted) == MHD_YES &&
		    wanted < LOOK_EVERY_MS)
			timeout = (int)wanted;
		if (http->made_room)
			timeout = 0;
		http->made_room = false;
		poll(fds, 2, timeout);
		MHD_run(http->daemon);
		end_half_closed(http);
		end_late(http);
	}
	return NULL;
}

/* ---- beginning and end ---- */

static struct MHD_Daemon *start_daemon(struct gk_http *http)
{
	const struct gk_http_options *o = &http->options;
	unsigned flags = MHD_USE_EPOLL | MHD_USE_ITC;
	struct MHD_OptionItem tls[] = {
	    {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)o->cert},
	    {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->key},
	    {MHD_OPTION_HTTPS_PRIORITIES, 0,
	     (void *)(uintptr_t) "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1"},
	    {o->client_ca ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0,
	     (void *)(uintptr_t)o->client_ca},
	    {MHD_OPTION_END, 0, NULL},
	};
	struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};

	if (o->cert)
		flags |= MHD_USE_TLS;
	return MHD_start_daemon(
	    flags, 0, NULL, NULL, answer_request, http, /* */
	    MHD_OPTION_LISTEN_SOCKET, o->listener,      /* */
	    MHD_OPTION_ARRAY, o->cert ? tls : none, MHD_OPTION_CONNECTION_LIMIT,
	    o->most_connections + GK_HTTP_SURPLUS,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
	    MHD_OPTION_NOTIFY_CONNECTION, connection_changed, http,
	    MHD_OPTION_NOTIFY_COMPLETED, request_ends, http,
	    MHD_OPTION_URI_LOG_CALLBACK, request_begins, http, MHD_OPTION_END);
}

static void free_all(struct gk_http *http)
{
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	for (int i = 0; i < GK_HTTP_SLOTS; i++)
		if (http->cached[i].response)
			MHD_destroy_response(http->cached[i].response);
	if (http->end >= 0)
		close(http->end);
	free(http);
}

static struct gk_http *start_http(const struct gk_http_options *options,
				  const char **ret_why)
{
	struct gk_http *http = calloc(1, sizeof *http);

	*ret_why = "out of memory";
	if (!http)
		return NULL;
	http->options = *options;
	ring_init(&http->busy);
	ring_init(&http->idle);
	http->end = eventfd(0, EFD_CLOEXEC);
	if (options->cert &&
	    MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
		*ret_why = "this libmicrohttpd knows no TLS";
	else if (http->end >= 0) {
		*ret_why = options->cert ? "bad certificate or key"
					 : "the web server does not start";
		http->daemon = start_daemon(http);
	}
	if (http->daemon) {
		*ret_why = "no thread";
		if (!pthread_create(&http->thread, NULL, serve_http, http))
			return http;
	}
	free_all(http);
	return NULL;
}

static void stop_http(struct gk_http *http)
{
	uint64_t one = 1;

	while (write(http->end, &one, sizeof one) < 0 && errno == EINTR)
		;
	pthread_join(http->thread, NULL);
	free_all(http);
}

__attribute__((
    visibility("default"))) extern const struct gk_http_module gk_http;
const struct gk_http_module gk_http = {start_http, stop_http};
