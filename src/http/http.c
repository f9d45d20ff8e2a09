/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c - answers HTTP requests. One thread runs everything: libmicrohttpd,
 * pages, streams and the list of connections.
 */
#include "http/http.h"

#include "http/connections.h"
#include "http/request.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTION_MEMORY 8192
#define LOOK_EVERY_MS     500
/* The number of connections that streams may not use. */
#define NOT_STREAMS 8
/*
 * The size of a stream's socket buffer. In a larger one, data would grow stale.
 */
#define STREAM_SOCKET_BUFFER 65536
#define STREAM_BLOCK         16384

struct cached {
	uint64_t number;
	struct MHD_Response *response;
};

/* An endless page. It is suspended while it has nothing new to send. */
struct stream {
	struct stream *before, *after;
	struct gk_http *http;
	struct MHD_Connection *connection;
	void *source; /* the page owner's stream, passed to options.more() */
	bool waits;
};

struct gk_http {
	struct gk_http_options options;
	struct MHD_Daemon *daemon;
	pthread_t thread;
	int end;  /* an eventfd that ends the thread */
	int news; /* an eventfd: streams may have something to send */
	bool ends;
	struct gk_connections connections;
	struct stream streams; /* head of a ring */
	struct cached cached[GK_HTTP_SLOTS];
};

/* ---- connections ---- */

static void connection_changed(void *owner, struct MHD_Connection *connection,
			       void **context,
			       enum MHD_ConnectionNotificationCode what)
{
	struct gk_http *http = owner;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		    connection, MHD_CONNECTION_INFO_CONNECTION_FD);

		*context = info ? gk_connection_add(&http->connections,
						    info->connect_fd)
				: NULL;
		if (*context)
			((struct gk_connection *)*context)->of = connection;
	} else if (*context) {
		gk_connection_remove(&http->connections, *context);
		*context = NULL;
	}
}

static struct gk_connection *find_connection(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
	    connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void connection_does(struct gk_http *http,
			    struct MHD_Connection *connection,
			    enum gk_doing what)
{
	struct gk_connection *c = find_connection(connection);

	if (c)
		gk_connection_does(&http->connections, c, what);
}

static void *request_begins(void *owner, const char *uri,
			    struct MHD_Connection *connection)
{
	struct gk_connection *c = find_connection(connection);

	gk_request_line((char *)(uintptr_t)uri);
	/* A request that has already begun keeps its deadline. */
	if (c && c->doing == GK_DOING_NOTHING)
		connection_does(owner, connection, GK_DOING_REQUEST);
	return NULL;
}

static void request_ends(void *owner, struct MHD_Connection *connection,
			 void **context, enum MHD_RequestTerminationCode how)
{
	struct gk_connection *c = find_connection(connection);

	(void)context;
	if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		connection_does(owner, connection, GK_DOING_NOTHING);
	else if (c)
		c->of = NULL;
}

/*
 * Called when libmicrohttpd writes to its log. If version 0.9.75 refuses an
 * unreadable Content-Length, it sends the head of its answer twice. Therefore
 * we send our own answer first, and shut the socket down.
 */
static void library_says(void *owner, const char *format, va_list args)
{
	struct gk_http *http = owner;
	struct gk_connection *head = &http->connections.heads[GK_DOING_REQUEST];

	(void)format;
	(void)args;
	for (struct gk_connection *c = head->after; c != head; c = c->after)
		if (c->of && !c->refused &&
		    gk_request_refuse_length(c->of, c->fd))
			c->refused = true;
}

/* ---- answers ---- */

static void add_headers(const struct gk_http *http,
			struct MHD_Response *response, const char *type)
{
	const struct gk_http_header *h = http->options.headers;

	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
				"no-store");
	for (; h && h->name; h++)
		MHD_add_response_header(response, h->name, h->value);
}

/* Returns a page's response, which is rebuilt only if the page has changed. */
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
	add_headers(http, response, page->type);
	if (cached->response)
		MHD_destroy_response(cached->response);
	cached->response = response;
	cached->number = page->number;
	return response;
}

/* ---- streams ---- */

/* Called when the socket can accept more bytes. */
static ssize_t read_stream(void *cls, uint64_t at, char *dst, size_t cap)
{
	struct stream *s = cls;
	struct gk_http *http = s->http;
	const struct gk_connection *c = find_connection(s->connection);
	ssize_t n =
	    http->ends || (c && c->left)
		? -1
		: http->options.more(http->options.owner, s->source, dst, cap);

	(void)at;
	if (n < 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (n) {
		connection_does(http, s->connection, GK_DOING_STREAM);
		return n;
	}
	s->waits = true;
	MHD_suspend_connection(s->connection);
	return 0;
}

static void free_stream(void *cls)
{
	struct stream *s = cls;
	struct gk_http_options *o = &s->http->options;

	s->before->after = s->after;
	s->after->before = s->before;
	o->stream_end(o->owner, s->source);
	free(s);
}

static struct stream *new_stream(struct gk_http *http,
				 struct MHD_Connection *connection,
				 void *source)
{
	struct stream *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->http = http;
	s->connection = connection;
	s->source = source;
	s->before = http->streams.before;
	s->after = &http->streams;
	s->before->after = s->after->before = s;
	return s;
}

/*
 * With the default buffer size, a slow client's data would grow stale in the
 * kernel.
 */
static void limit_socket(struct MHD_Connection *connection)
{
	struct gk_connection *c = find_connection(connection);
	int size = STREAM_SOCKET_BUFFER;

	if (c)
		setsockopt(c->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

/* Answers with the page's stream, and takes ownership of it. */
static enum MHD_Result answer_stream(struct gk_http *http,
				     struct MHD_Connection *connection,
				     const struct gk_http_page *page)
{
	struct gk_http_options *o = &http->options;
	bool room = gk_connections_room(
	    &http->connections, find_connection(connection), NOT_STREAMS);
	struct stream *s =
	    room ? new_stream(http, connection, page->stream) : NULL;
	struct MHD_Response *response;
	enum MHD_Result r;

	if (!s) {
		o->stream_end(o->owner, page->stream);
		return gk_answer_briefly(
		    connection, 503,
		    "too many viewers already, in total or "
		    "from your address\n",
		    "Retry-After", "10");
	}
	response = MHD_create_response_from_callback(
	    MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, s, free_stream);
	if (!response) {
		free_stream(s);
		return MHD_NO;
	}
	add_headers(http, response, page->type);
	limit_socket(connection);
	connection_does(http, connection, GK_DOING_STREAM);
	r = MHD_queue_response(connection, page->status, response);
	MHD_destroy_response(response);
	return r;
}

static void resume_streams(struct gk_http *http)
{
	for (struct stream *s = http->streams.after; s != &http->streams;
	     s = s->after)
		if (s->waits) {
			s->waits = false;
			MHD_resume_connection(s->connection);
		}
}

/* ---- pages ---- */

static enum MHD_Result answer_page(struct gk_http *http,
				   struct MHD_Connection *connection,
				   const char *path, const char *method)
{
	struct gk_http_request request = {
	    .path = path,
	    .accept = gk_request_text(connection, MHD_HTTP_HEADER_ACCEPT),
	    .last_event = gk_request_text(connection, "Last-Event-ID"),
	    .head = !strcmp(method, "HEAD"),
	};
	struct gk_http_page page = {0};
	struct MHD_Response *response;

	http->options.page(http->options.owner, &request, &page);
	if (page.stream)
		return answer_stream(http, connection, &page);
	response = page.body ? response_for(http, &page) : NULL;
	if (!response)
		return gk_answer_briefly(connection, 500, "out of memory\n",
					 NULL, NULL);
	return MHD_queue_response(connection, page.status, response);
}

static enum MHD_Result answer_request(void *owner,
				      struct MHD_Connection *connection,
				      const char *path, const char *method,
				      const char *version, const char *upload,
				      size_t *upload_size, void **context)
{
	static int seen;
	struct gk_http *http = owner;
	enum MHD_Result r;

	(void)upload;
	if (!*context) {
		*context = &seen;
		return gk_request_begin(connection, method, version);
	}
	/* The library does not accept an answer before the body has ended. */
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (gk_request_barred(&http->options, connection, &r))
		return r;
	return answer_page(http, connection, path, method);
}

/* ---- the thread ---- */

static int epoll_of(const struct gk_http *http)
{
	const union MHD_DaemonInfo *info =
	    MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->listen_fd : -1;
}

static void drain_event(int event)
{
	uint64_t count;

	while (read(event, &count, sizeof count) < 0 && errno == EINTR)
		;
}

/* Waits for events and handles them, once. */
static void run_once(struct gk_http *http, struct pollfd fds[3])
{
	MHD_UNSIGNED_LONG_LONG wanted;
	int timeout = LOOK_EVERY_MS;

	if (MHD_get_timeout(http->daemon, &wanted) == MHD_YES &&
	    wanted < LOOK_EVERY_MS)
		timeout = (int)wanted;
	if (http->connections.made_room) {
		timeout = 0;
		resume_streams(http);
	}
	http->connections.made_room = false;
	poll(fds, 3, timeout);
	if (fds[2].revents) {
		drain_event(http->news);
		resume_streams(http);
	}
	MHD_run(http->daemon);
	gk_connections_look(&http->connections);
}

/* The library must not be stopped while any connection is suspended. */
static void end_streams(struct gk_http *http)
{
	http->ends = true;
	resume_streams(http);
	MHD_run(http->daemon);
}

static void *serve_http(void *owner)
{
	struct gk_http *http = owner;
	struct pollfd fds[] = {{.fd = epoll_of(http), .events = POLLIN},
			       {.fd = http->end, .events = POLLIN},
			       {.fd = http->news, .events = POLLIN}};

	while (!fds[1].revents)
		run_once(http, fds);
	end_streams(http);
	return NULL;
}

/* ---- start and stop ---- */

/*
 * A header that continues on a second line may be read as two headers, so RFC
 * 9112, 5.2, allows servers to refuse it. libmicrohttpd before 1.0 always does.
 */
#if MHD_VERSION >= 0x01000000
#define DISCIPLINE MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1
#else
#define DISCIPLINE MHD_OPTION_STRICT_FOR_CLIENT, 0
#endif

static struct MHD_Daemon *start_daemon(struct gk_http *http)
{
	const struct gk_http_options *o = &http->options;
	unsigned flags = MHD_USE_EPOLL | MHD_USE_ITC |
			 MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
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
	    MHD_OPTION_EXTERNAL_LOGGER, library_says, http,
	    MHD_OPTION_LISTEN_SOCKET, o->listener, DISCIPLINE, MHD_OPTION_ARRAY,
	    o->cert ? tls : none, MHD_OPTION_CONNECTION_LIMIT,
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
	if (http->news >= 0)
		close(http->news);
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
	gk_connections_init(&http->connections, options->most_connections);
	http->streams.before = http->streams.after = &http->streams;
	http->end = eventfd(0, EFD_CLOEXEC);
	http->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (options->cert &&
	    MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
		*ret_why = "this libmicrohttpd does not support TLS";
	else if (http->end >= 0 && http->news >= 0) {
		*ret_why = options->cert ? "bad certificate or key"
					 : "the web server cannot start";
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

static void signal_event(int event)
{
	uint64_t one = 1;

	while (write(event, &one, sizeof one) < 0 && errno == EINTR)
		;
}

static void wake_http(struct gk_http *http)
{
	signal_event(http->news);
}

static void stop_http(struct gk_http *http)
{
	signal_event(http->end);
	pthread_join(http->thread, NULL);
	free_all(http);
}

__attribute__((
    visibility("default"))) extern const struct gk_http_module gk_http;
const struct gk_http_module gk_http = {start_http, wake_http, stop_http};
