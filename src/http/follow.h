/*
 * follow.h - reads pages of other servers that go on (event streams), or that
 * change, again and again. It knows HTTP only, not what they say.
 *
 * It is a module of its own (libgpukit-follow.so), loaded when it is wanted, so
 * that nobody else loads libcurl and its libraries.
 */
#ifndef GK_HTTP_FOLLOW_H
#define GK_HTTP_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gk_follow_options {
	const char *const *urls; /* http:// or https:// */
	size_t count;
	const char *login; /* "user:password", NULL: none */
	const char *ca;    /* file of certificates (PEM), NULL: the system's */
	/* Pages of another type, which end and are asked for again after so
	 * long; NULL: event streams, after two seconds. */
	const char *type;
	uint64_t again_ns;
	void *owner;
	/*
	 * All are called by one thread, with the place in urls. begins: a
	 * stream is asked for; the id of the last event that was read from it,
	 * "" if there is none. bytes: what came; false: it is none that can be
	 * read. ended: why, in words; NULL: a page of that type is whole.
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
