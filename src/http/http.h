/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - an HTTP and HTTPS server for small pages in memory and for endless
 * pages. No client can block the others.
 *
 * It is a separate module (libgpukit-http.so), loaded on demand, so that other
 * verbs do not load libmicrohttpd and its dependencies. It knows nothing about
 * GPUs.
 */
#ifndef GK_HTTP_HTTP_H
#define GK_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gk_http_request {
	const char *path;
	/* the values of these headers; "" if missing */
	const char *accept, *last_event;
	bool head; /* a HEAD request: send no body */
};

/*
 * A page. body must stay valid until the next call of page(). The server caches
 * the last page of each slot, and uses it again if `number` has not changed.
 */
struct gk_http_page {
	unsigned status;
	const char *type;
	const char *body;
	size_t len;
	unsigned slot; /* below GK_HTTP_SLOTS */
	uint64_t number;
	/*
	 * If not NULL, the page is endless: status and type are used as above,
	 * but more() provides the body. At the end the server calls
	 * stream_end().
	 */
	void *stream;
};

/* A header that is sent with every page; a NULL name ends the list. */
struct gk_http_header {
	const char *name, *value;
};

#define GK_HTTP_SLOTS 8

/*
 * This many connections above most_connections are accepted temporarily, until
 * the oldest ones are closed.
 */
#define GK_HTTP_SURPLUS 16

struct gk_http_options {
	int listener; /* a listening socket; the module closes it */
	unsigned most_connections;
	/*
	 * PEM texts. If cert and key are NULL, TLS is off. If client_ca is set,
	 * clients must show a certificate signed by this authority.
	 */
	const char *cert, *key, *client_ca;
	const char *realm;
	const struct gk_http_header *headers; /* may be NULL */
	/*
	 * One thread calls all of these functions. known() says whether to
	 * accept a Host header; NULL: accept all. allowed() checks a user's
	 * password; NULL: accept everybody.
	 */
	void *guard;
	bool (*known)(void *guard, const char *host);
	bool (*allowed)(void *guard, const char *user, const char *password);
	void *owner;
	void (*page)(void *owner, const struct gk_http_request *request,
		     struct gk_http_page *ret_page);
	/*
	 * Writes the stream's next bytes, at most cap, and returns their
	 * number. Returns 0 if there is nothing new; the server calls it again
	 * after wake(). Returns -1 at the end of the stream.
	 */
	ssize_t (*more)(void *owner, void *stream, char *dst, size_t cap);
	void (*stream_end)(void *owner, void *stream);
};

struct gk_http;

/* The functions that the module exports as "gk_http". */
struct gk_http_module {
	/*
	 * Starts the server. On failure returns NULL, and *ret_why is a static
	 * text.
	 */
	struct gk_http *(*start)(const struct gk_http_options *options,
				 const char **ret_why);
	/*
	 * Tells the server that streams may have something to send. Any thread
	 * may call it.
	 */
	void (*wake)(struct gk_http *http);
	void (*stop)(struct gk_http *http);
};

#endif
