/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - reads endless pages of other servers (event streams), or polls
 * pages that change. It knows HTTP but not the content of the pages.
 *
 * It is a separate module (libgpukit-follow.so), loaded on demand, so that
 * other verbs do not load libcurl and its dependencies.
 */
#ifndef GK_HTTP_FOLLOW_H
#define GK_HTTP_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gk_follow_options {
	const char *const *urls; /* http:// or https:// */
	size_t count;
	const char *login; /* "user:password", or NULL */
	const char *ca;    /* file of CA certificates (PEM); NULL: the
			    * system's */
	/*
	 * If not NULL, the URLs are pages of this content type, each of which
	 * is requested again `again_ns` after it has ended. If NULL, they are
	 * event streams, which are reconnected after two seconds.
	 */
	const char *type;
	uint64_t again_ns;
	void *owner;
	/*
	 * One thread calls all of these functions; `at` is an index of urls.
	 * begins() is called before a request; it returns the id of the last
	 * event received, or "". bytes() receives content; it returns false to
	 * end the transfer because the content is invalid. ended() receives the
	 * reason in words, or NULL if a page of `type` was received completely.
	 */
	const char *(*begins)(void *owner, size_t at);
	bool (*bytes)(void *owner, size_t at, const char *bytes, size_t len);
	/*
	 * Called after bytes(). Returns how long to stop reading, in ns, which
	 * makes the sender wait. May be NULL.
	 */
	uint64_t (*rest)(void *owner, size_t at);
	void (*ended)(void *owner, size_t at, const char *why);
};

struct gk_follow;

/* The functions that the module exports as "gk_follow". */
struct gk_follow_module {
	/*
	 * Copies the options, but not what they point to. Returns NULL when out
	 * of memory or if no thread can be started.
	 */
	struct gk_follow *(*start)(const struct gk_follow_options *options);
	void (*stop)(struct gk_follow *follow);
};

#endif
