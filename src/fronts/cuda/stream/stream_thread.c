/*
 * stream_thread.c - per-thread default streams: each thread has one in every
 * context that it used one in. It goes with the thread, or with the context.
 */
#include "fronts/cuda/stream_private.h"

#include <stdlib.h>

struct thread_entry {
	CUcontext ctx;
	uint64_t ctx_id;          /* of the life of ctx that was meant */
	_Atomic(CUstream) stream; /* NULL: went with its context */
	struct thread_entry *next;
};

static _Thread_local
    __attribute__((tls_model("initial-exec"))) struct thread_entry *mine;

/* A thread ends while another one destroys the context of its stream. */
static pthread_mutex_t leaving = PTHREAD_MUTEX_INITIALIZER;

static pthread_key_t at_exit;
static bool told_exit;

static void leave_thread_streams(void *entries)
{
	struct thread_entry *e = entries, *next;
	bool lives = atomic_load(&cuda.ready) == CUDA_READY;

	mine = NULL;
	if (lives)
		pthread_mutex_lock(&leaving);
	for (; e; e = next) {
		next = e->next;
		if (lives && e->stream)
			stream_destroy(e->stream);
		free(e);
	}
	if (lives)
		pthread_mutex_unlock(&leaving);
}

__attribute__((constructor)) static void load(void)
{
	told_exit = !pthread_key_create(&at_exit, leave_thread_streams);
}

void stream_leave_threads(struct streams *streams)
{
	pthread_mutex_lock(&leaving);
	for (CUstream s = streams->all; s; s = s->next) {
		if (s->thread)
			atomic_store(&s->thread->stream, NULL);
		s->thread = NULL;
	}
	pthread_mutex_unlock(&leaving);
}

/* Finds the entry of this context, or one whose context is gone. */
static struct thread_entry *find_thread_entry(CUcontext ctx)
{
	struct thread_entry *gone = NULL;

	for (struct thread_entry *e = mine; e; e = e->next) {
		if (!e->stream)
			gone = e;
		else if (e->ctx == ctx && e->ctx_id == ctx->id)
			return e;
	}
	return gone;
}

static struct thread_entry *add_thread_entry(void)
{
	struct thread_entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->next = mine;
	mine = e;
	if (told_exit)
		pthread_setspecific(at_exit, mine);
	return e;
}

CUstream stream_of_thread(CUcontext ctx)
{
	struct thread_entry *e = find_thread_entry(ctx);
	CUstream s;

	if (e && e->stream)
		return e->stream;
	if (!e)
		e = add_thread_entry();
	s = e ? stream_new(ctx, STREAM_BLOCKING, 0) : NULL;
	if (!s)
		return NULL;
	s->thread = e;
	e->ctx = ctx;
	e->ctx_id = ctx->id;
	e->stream = s;
	return s;
}
