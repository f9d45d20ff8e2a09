/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - owns the open driver libraries, and makes them usable by several
 * threads and after forks. */
#include "core.h"

#include "base/clock.h"
#include "core/context.h"
#include "core/driver/thread.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SESSIONS_MAX 8

/* The first call has more time: the driver may have to be loaded first. */
#define STARTS_SLOWER 5

/*
 * The sessions that were used last. A forked child starts without any: the
 * parent's threads do not exist there, and one of them may have held a lock.
 */
static struct {
	pthread_mutex_t lock;
	struct session *all[SESSIONS_MAX]; /* the one used last comes first */
	_Atomic uint64_t deadline_ns;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .deadline_ns = GK_NS_PER_S};

static void forget_sessions(void)
{
	memset(state.all, 0, sizeof state.all);
	pthread_mutex_init(&state.lock, NULL);
}

static void register_fork_handler(void)
{
	pthread_atfork(NULL, NULL, forget_sessions);
}

void session_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_fork_handler);
}

static bool is_alike(const struct session *s, unsigned with,
		     const struct gk_metric_set *only)
{
	return s->with == with && s->choosy == (only != NULL) &&
	       (!only || !memcmp(&s->only, only, sizeof *only));
}

/* A session with a hung GPU cannot be closed. It is leaked. */
static void free_session(struct session *s)
{
	if (!gk_close(s->gk)) {
		pthread_cond_destroy(&s->taken);
		pthread_mutex_destroy(&s->lock);
		free(s);
	}
}

static int open_session(unsigned with, const struct gk_metric_set *only,
			struct session **ret_session, int *ret_nvml)
{
	struct gk_options options = GK_OPTIONS_DEFAULT;
	struct session *s = calloc(1, sizeof *s);
	int r;

	if (!s)
		return GK_ERR_NOMEM;
	options.with = with;
	options.only = only;
	options.timeout_ns = session_deadline();
	r = gk_open_within(&options, STARTS_SLOWER * options.timeout_ns,
			   ret_nvml, &s->gk);
	if (r) {
		free(s);
		return r;
	}
	gk_heed(s->gk, session_silence);
	pthread_mutex_init(&s->lock, NULL);
	gk_cond_init(&s->taken);
	s->with = with;
	s->choosy = only != NULL;
	if (only)
		s->only = *only;
	*ret_session = s;
	return 0;
}

/*
 * Moves a session to the front. If there are then too many, returns one for the
 * caller to close.
 */
static struct session *move_to_front(struct session *s, size_t from)
{
	struct session *last = state.all[from];

	memmove(state.all + 1, state.all, from * sizeof *state.all);
	state.all[0] = s;
	return last == s ? NULL : last;
}

static bool owes_answer(const struct session *s)
{
	for (size_t i = 0; i < gk_gpu_count(s->gk); i++)
		if (gk_silence(s->gk, (unsigned)i))
			return true;
	return false;
}

/*
 * Returns the index of the session to close when a new one is opened: the
 * oldest. Sessions that wait for a GPU are kept, because session_silence() must
 * read them.
 */
static size_t find_oldest(void)
{
	size_t i = SESSIONS_MAX;

	while (i-- > 1)
		if (!owes_answer(state.all[i]))
			return i;
	return SESSIONS_MAX - 1;
}

/* The caller holds the lock. */
static int find_session(unsigned with, const struct gk_metric_set *only,
			struct session **ret_session, struct session **ret_old,
			int *ret_nvml)
{
	struct session *s;
	size_t i = 0;
	int r = 0;

	while (i < SESSIONS_MAX && state.all[i] &&
	       !is_alike(state.all[i], with, only))
		i++;
	if (i == SESSIONS_MAX)
		i = find_oldest();
	s = state.all[i];
	if (!s || !is_alike(s, with, only)) {
		r = open_session(with, only, &s, ret_nvml);
		if (r)
			return r;
		s->refs = 1;
	}
	*ret_old = move_to_front(s, i);
	s->refs++;
	*ret_session = s;
	return 0;
}

/*
 * Returns the session used last, if it is of the right kind and no other thread
 * is opening a session.
 */
static struct session *session_again(unsigned with,
				     const struct gk_metric_set *only)
{
	struct session *s;

	if (pthread_mutex_trylock(&state.lock))
		return NULL;
	s = state.all[0];
	if (s && !is_alike(s, with, only))
		s = NULL;
	if (s)
		s->refs++;
	pthread_mutex_unlock(&state.lock);
	return s;
}

struct session *session_get(unsigned with, const struct gk_metric_set *only)
{
	struct session *s = session_again(with, only), *old = NULL;
	PyThreadState *python;
	int nvml = 0, r;

	if (s)
		return s;
	python = PyEval_SaveThread();
	pthread_mutex_lock(&state.lock);
	r = find_session(with, only, &s, &old, &nvml);
	pthread_mutex_unlock(&state.lock);
	if (old)
		session_put(old);
	PyEval_RestoreThread(python);
	if (r)
		raise_error(r, nvml);
	return s;
}

struct session *session_live(void)
{
	return session_get(0, NULL);
}

void session_put(struct session *s)
{
	bool last;

	pthread_mutex_lock(&state.lock);
	last = !--s->refs;
	pthread_mutex_unlock(&state.lock);
	if (last)
		free_session(s);
}

void session_close_all(void)
{
	struct session *all[SESSIONS_MAX];

	pthread_mutex_lock(&state.lock);
	memcpy(all, state.all, sizeof all);
	memset(state.all, 0, sizeof state.all);
	pthread_mutex_unlock(&state.lock);
	for (size_t i = 0; i < SESSIONS_MAX && all[i]; i++)
		session_put(all[i]);
}

/* ---- deadlines ---- */

uint64_t session_deadline(void)
{
	return atomic_load(&state.deadline_ns);
}

void session_set_deadline(uint64_t ns)
{
	pthread_mutex_lock(&state.lock);
	atomic_store(&state.deadline_ns, ns);
	for (size_t i = 0; i < SESSIONS_MAX && state.all[i]; i++)
		gk_set_timeout(state.all[i]->gk, ns);
	pthread_mutex_unlock(&state.lock);
}

uint64_t session_silence(unsigned index)
{
	uint64_t longest = 0;

	pthread_mutex_lock(&state.lock);
	for (size_t i = 0; i < SESSIONS_MAX && state.all[i]; i++) {
		uint64_t silence = gk_silence(state.all[i]->gk, index);

		if (silence > longest)
			longest = silence;
	}
	pthread_mutex_unlock(&state.lock);
	return longest;
}
