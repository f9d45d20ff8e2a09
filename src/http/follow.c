/* SPDX-License-Identifier: Apache-2.0 */
/* follow.c - follows streams of other servers, with one thread and libcurl. */
#include "http/follow.h"

#include "base/clock.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_SECONDS 5L
/* A server sends something on a stream at least every 15 s. */
#define SILENT_SECONDS 40L
#define AGAIN_NS       (2 * GK_NS_PER_S)
#define POLL_MS        1000
#define WHY_MAX        160

struct source {
	struct gk_follow *follow;
	size_t at;
	CURL *easy; /* NULL between transfers */
	struct curl_slist *headers;
	bool refused;      /* bytes() returned false */
	bool rests;        /* reading is paused */
	uint64_t rest_ns;  /* end of the pause */
	uint64_t again_ns; /* time of the next request */
};

struct gk_follow {
	struct gk_follow_options options;
	CURLM *multi;
	pthread_t thread;
	bool ends; /* the thread must end; __atomic */
	struct source sources[];
};

/* ---- requests ---- */

static const char *wanted_type(const struct gk_follow *f)
{
	return f->options.type ? f->options.type : "text/event-stream";
}

static bool is_wanted(const struct source *s)
{
	const char *wanted = wanted_type(s->follow), *type = NULL;

	curl_easy_getinfo(s->easy, CURLINFO_CONTENT_TYPE, &type);
	return type && !strncmp(type, wanted, strlen(wanted));
}

static uint64_t next_time(const struct gk_follow *f)
{
	return gk_mono_ns() +
	       (f->options.type ? f->options.again_ns : AGAIN_NS);
}

static size_t receive_bytes(char *bytes, size_t size, size_t count, void *cls)
{
	struct source *s = cls;
	struct gk_follow_options *o = &s->follow->options;

	/* libcurl keeps these bytes and delivers them again later. */
	if (gk_mono_ns() < s->rest_ns) {
		s->rests = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	if (!is_wanted(s) || !o->bytes(o->owner, s->at, bytes, size * count))
		s->refused = true;
	if (o->rest)
		s->rest_ns = gk_mono_ns() + o->rest(o->owner, s->at);
	return s->refused ? 0 : size * count;
}

/* Resumes the sources whose pause has ended. */
static void go_on(struct gk_follow *f)
{
	for (size_t i = 0; i < f->options.count; i++) {
		struct source *s = &f->sources[i];

		if (!s->easy || !s->rests || gk_mono_ns() < s->rest_ns)
			continue;
		s->rests = false;
		curl_easy_pause(s->easy, CURLPAUSE_CONT);
	}
}

static void set_headers(struct source *s, const char *last_id)
{
	struct curl_slist *more;
	char line[160];

	snprintf(line, sizeof line, "Accept: %s", wanted_type(s->follow));
	s->headers = curl_slist_append(NULL, line);
	snprintf(line, sizeof line, "Last-Event-ID: %s", last_id);
	more = *last_id ? curl_slist_append(s->headers, line) : NULL;
	if (more)
		s->headers = more;
	curl_easy_setopt(s->easy, CURLOPT_HTTPHEADER, s->headers);
}

static void set_options(struct source *s)
{
	const struct gk_follow_options *o = &s->follow->options;
	CURL *e = s->easy;

	curl_easy_setopt(e, CURLOPT_URL, o->urls[s->at]);
	curl_easy_setopt(e, CURLOPT_PRIVATE, (void *)s);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, receive_bytes);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, (void *)s);
	curl_easy_setopt(e, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_PROXY, "");
	/* With HTTP/2 libcurl would buffer up to 32 MiB of a paused stream. */
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, SILENT_SECONDS);
	if (o->ca)
		curl_easy_setopt(e, CURLOPT_CAINFO, o->ca);
	if (o->login) {
		curl_easy_setopt(e, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl_easy_setopt(e, CURLOPT_USERPWD, o->login);
	}
}

static void ask_source(struct source *s)
{
	const struct gk_follow_options *o = &s->follow->options;

	s->refused = s->rests = false;
	s->rest_ns = 0;
	s->easy = curl_easy_init();
	if (!s->easy) {
		s->again_ns = next_time(s->follow);
		return;
	}
	set_options(s);
	set_headers(s, o->begins(o->owner, s->at));
	curl_multi_add_handle(s->follow->multi, s->easy);
}

/* ---- the end of a stream ---- */

static void explain_status(long status, char why[WHY_MAX])
{
	switch (status) {
	case 401:
		snprintf(why, WHY_MAX, "requires a password: --peer-auth");
		return;
	case 421:
		snprintf(why, WHY_MAX,
			 "does not accept this host name: start "
			 "it with --allow-host");
		return;
	case 404:
		snprintf(why, WHY_MAX, "no gpukit web at this address");
		return;
	default:
		snprintf(why, WHY_MAX, "answered with status %ld", status);
	}
}

static void explain_end(const struct source *s, CURLcode code,
			char why[WHY_MAX])
{
	long status = 0;

	curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
	if (s->refused)
		snprintf(why, WHY_MAX, "does not answer like gpukit web");
	else if (code == CURLE_HTTP_RETURNED_ERROR)
		explain_status(status, why);
	else if (code)
		snprintf(why, WHY_MAX, "%s", curl_easy_strerror(code));
	else
		snprintf(why, WHY_MAX, "it ended");
}

static void forget_request(struct source *s)
{
	if (!s->easy)
		return;
	curl_multi_remove_handle(s->follow->multi, s->easy);
	curl_easy_cleanup(s->easy);
	curl_slist_free_all(s->headers);
	s->easy = NULL;
	s->headers = NULL;
}

static void take_ends(struct gk_follow *f)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(f->multi, &left))) {
		struct source *s = NULL;
		char why[WHY_MAX];
		bool whole;

		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &s);
		if (message->msg != CURLMSG_DONE || !s)
			continue;
		explain_end(s, message->data.result, why);
		whole = f->options.type && !message->data.result;
		forget_request(s);
		s->again_ns = next_time(f);
		f->options.ended(f->options.owner, s->at, whole ? NULL : why);
	}
}

/* ---- the thread ---- */

/*
 * Returns the time until the next request or the end of a pause, but at most
 * POLL_MS.
 */
static int patience_ms(const struct gk_follow *f)
{
	uint64_t now = gk_mono_ns(), least = POLL_MS * GK_NS_PER_MS;

	for (size_t i = 0; i < f->options.count; i++) {
		const struct source *s = &f->sources[i];
		uint64_t next = s->rests ? s->rest_ns : s->again_ns;

		if ((!s->easy || s->rests) && next < now + least)
			least = next > now ? next - now : 0;
	}
	return (int)((least + GK_NS_PER_MS - 1) / GK_NS_PER_MS);
}

static void *follow_all(void *owner)
{
	struct gk_follow *f = owner;

	while (!__atomic_load_n(&f->ends, __ATOMIC_ACQUIRE)) {
		int running;

		for (size_t i = 0; i < f->options.count; i++)
			if (!f->sources[i].easy &&
			    gk_mono_ns() >= f->sources[i].again_ns)
				ask_source(&f->sources[i]);
		go_on(f);
		curl_multi_perform(f->multi, &running);
		take_ends(f);
		curl_multi_poll(f->multi, NULL, 0, patience_ms(f), NULL);
	}
	return NULL;
}

static void free_follow(struct gk_follow *f)
{
	for (size_t i = 0; i < f->options.count; i++)
		forget_request(&f->sources[i]);
	curl_multi_cleanup(f->multi);
	curl_global_cleanup();
	free(f);
}

static struct gk_follow *start_follow(const struct gk_follow_options *options)
{
	struct gk_follow *f =
	    calloc(1, sizeof *f + options->count * sizeof *f->sources);

	if (!f)
		return NULL;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	f->options = *options;
	f->multi = curl_multi_init();
	for (size_t i = 0; i < options->count; i++)
		f->sources[i] = (struct source){.follow = f, .at = i};
	if (f->multi && !pthread_create(&f->thread, NULL, follow_all, f))
		return f;
	free_follow(f);
	return NULL;
}

static void stop_follow(struct gk_follow *f)
{
	__atomic_store_n(&f->ends, true, __ATOMIC_RELEASE);
	curl_multi_wakeup(f->multi);
	pthread_join(f->thread, NULL);
	free_follow(f);
}

__attribute__((
    visibility("default"))) extern const struct gk_follow_module gk_follow;
const struct gk_follow_module gk_follow = {start_follow, stop_follow};
