/*
 * follow.h - reads pages that go on (event streams) of other servers, and again
 * when they end or cannot be had. It knows HTTP only, not what they say.
 *
 * It is a module of its own (libgpukit-follow.so), loaded when it is wanted, so
 * that nobody else loads libcurl and its libraries.
 */
#ifndef GK_HTTP_FOLLOW_H
#define GK_HTTP_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>

struct gk_follow_options {
	const char *const *urls; /* http:// or https:// */
	size_t count;
	const char *login; /* "user:password", NULL: none */
	const char *ca;    /* file of certificates (PEM), NULL: the system's */
	void *owner;
	/*
	 * All are called by one thread, with the place in urls. begins: a
	 * stream is asked for; the id of the last event that was read from it,
	 * "" if there is none. bytes: what came; false: it is none that can be
	 * read. ended: why, in words.
	 */
	const char *(*begins)(void *owner, size_t at);
	bool (*bytes)(void *owner, size_t at, const char *bytes, size_t len);
	void (*ended)(void *owner, size_t at, const char *why);
};

struct gk_follow;

/* The functions that the module exports by the name "gk_follow". */
struct gk_follow_module {
	/* Copies the options, but not what they point to. NULL: no memory, or
	 * no thread. */
	struct gk_follow *(*start)(const struct gk_follow_options *options);
	void (*stop)(struct gk_follow *follow);
};

#endif
