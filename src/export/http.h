/*
 * http.h - the web server of `gpukit export`: small pages from memory, over
 * HTTP or HTTPS, that no client can hold up.
 *
 * It is a module of its own (libgpukit-http.so), loaded when it is wanted, so
 * that no other verb loads libmicrohttpd and its libraries. It knows nothing
 * of GPUs.
 */
#ifndef GK_EXPORT_HTTP_H
#define GK_EXPORT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gk_http_request {
	const char *path;
	const char *accept; /* header, "" if there is none */
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
	/* All are called by one thread. known, of a Host header, NULL: all
	 * are; allowed NULL: everybody is. */
	bool (*known)(void *owner, const char *host);
	bool (*allowed)(void *owner, const char *user, const char *password);
	void (*page)(void *owner, const struct gk_http_request *request,
		     struct gk_http_page *ret_page);
	void *owner;
};

struct gk_http;

/* The functions that the module exports by the name "gk_http". */
struct gk_http_module {
	/*
	 * Starts to answer. On failure NULL, and *ret_why is a static text.
	 */
	struct gk_http *(*start)(const struct gk_http_options *options,
				 const char **ret_why);
	void (*stop)(struct gk_http *http);
};

#endif
