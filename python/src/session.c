/* session.c - owns the open driver library, through forks and threads. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

#define SESSIONS_MAX 8

/* The last ones used. A child of fork() starts without any: threads of the
 * parent are not there, and one of them may have held a lock. */
static struct {
	pthread_mutex_t lock;
	struct session *all[SESSIONS_MAX]; /* the one used last comes first */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

/* A GPU that hangs keeps its session: it cannot be closed, only left behind. */
static void free_session(struct session *s)
{
	if (!gk_close(s->gk)) {
		pthread_mutex_destroy(&s->taking);
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
	r = gk_open(&options, ret_nvml, &s->gk);
	if (r) {
		free(s);
		return r;
	}
	pthread_mutex_init(&s->taking, NULL);
	s->with = with;
	s->choosy = only != NULL;
	if (only)
		s->only = *only;
	*ret_session = s;
	return 0;
}

/* Puts it first; what falls out at the end is to be closed by the caller. */
static struct session *move_to_front(struct session *s, size_t from)
{
	struct session *last = state.all[from];

	memmove(state.all + 1, state.all, from * sizeof *state.all);
	state.all[0] = s;
	return last == s ? NULL : last;
}

/* With the lock held. */
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
		i--;
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

/* The one that was used last, if it will do and nobody is opening another. */
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
