/*
 * http.h - a web server: small pages from memory and pages that go on, over
 * HTTP or HTTPS, that no client can hold up.
 *
 * It is a module of its own (libgpukit-http.so), loaded when it is wanted, so
 * that no other verb loads libmicrohttpd and its libraries. It knows nothing
 * of GPUs.
 */
#ifndef GK_HTTP_HTTP_H
#define GK_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gk_http_request {
	const char *path;
	/* Headers, "" if there is none. */
	const char *accept, *last_event;
	bool head; /* the body is not sent */
};

/*
 * A page. body must stay until the next call; number tells pages of one slot
 * apart: the same number is the same page, and costs nothing again.
 */
struct gk_http_page {
	unsigned status;
	const char *type;
	const char *body;
	size_t len;
	unsigned slot; /* below GK_HTTP_SLOTS */
	uint64_t number;
	/* Not NULL: a page that goes on; status and type are as above, what it
	 * sends comes from more(). The server ends it with stream_end(). */
	void *stream;
};

/* Sent with all pages; a NULL name ends a list of them. */
struct gk_http_header {
	const char *name, *value;
};

#define GK_HTTP_SLOTS 8

/* Beyond most_connections the oldest go; so many more are there meanwhile. */
#define GK_HTTP_SURPLUS 16

struct gk_http_options {
	int listener; /* a socket that listens; the module closes it */
	unsigned most_connections;
	/* PEM texts; cert and key NULL: no TLS. client_ca: clients must show
	 * a certificate of it. */
	const char *cert, *key, *client_ca;
	const char *realm;
	const struct gk_http_header *headers; /* NULL: none */
	/*
	 * All functions are called by one thread. known, of a Host header,
	 * NULL: all are; allowed NULL: everybody is.
	 */
	void *guard;
	bool (*known)(void *guard, const char *host);
	bool (*allowed)(void *guard, const char *user, const char *password);
	void *owner;
	void (*page)(void *owner, const struct gk_http_request *request,
		     struct gk_http_page *ret_page);
	/*
	 * The next bytes of a stream, at most cap: how many. 0: there is
	 * nothing new, it is asked again after wake(). -1: that was all.
	 */
	ssize_t (*more)(void *owner, void *stream, char *dst, size_t cap);
	void (*stream_end)(void *owner, void *stream);
};

struct gk_http;

/* The functions that the module exports by the name "gk_http". */
struct gk_http_module {
	/*
	 * Starts to answer. On failure NULL, and *ret_why is a static text.
	 */
	struct gk_http *(*start)(const struct gk_http_options *options,
				 const char **ret_why);
	/* Streams may have something to send. From any thread. */
	void (*wake)(struct gk_http *http);
	void (*stop)(struct gk_http *http);
};

#endif
