/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_thread.c - owns the per-thread default streams. A thread gets its
 * stream in a context when it first uses it there. The stream ends with the
 * thread or with the context.
 */
#include "fronts/cuda/stream/stream_private.h"

#include <stdlib.h>

struct thread_entry {
	CUcontext ctx;
	uint64_t ctx_id;          /* the id of `ctx` */
	_Atomic(CUstream) stream; /* NULL: its context has ended */
	struct thread_entry *next;
};

static _Thread_local
    __attribute__((tls_model("initial-exec"))) struct thread_entry *mine;

/*
 * Guards against a thread that ends while another thread destroys the context
 * of its stream.
 */
static pthread_mutex_t exit_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_key_t streams_exit_key;
static bool has_streams_exit_key;

static void leave_thread_streams(void *entries)
{
	struct thread_entry *e = entries, *next;
	bool lives = atomic_load(&cuda.ready) == CUDA_READY;

	mine = NULL;
	if (lives)
		pthread_mutex_lock(&exit_lock);
	for (; e; e = next) {
		next = e->next;
		if (lives && e->stream)
			stream_destroy(e->stream);
		free(e);
	}
	if (lives)
		pthread_mutex_unlock(&exit_lock);
}

__attribute__((constructor)) static void make_streams_exit_key(void)
{
	has_streams_exit_key =
	    !pthread_key_create(&streams_exit_key, leave_thread_streams);
}

void stream_leave_threads(struct streams *streams)
{
	pthread_mutex_lock(&exit_lock);
	for (CUstream s = streams->all; s; s = s->next) {
		if (s->thread)
			atomic_store(&s->thread->stream, NULL);
		s->thread = NULL;
	}
	pthread_mutex_unlock(&exit_lock);
}

/*
 * Returns the thread's entry for this context, or else a free entry, whose
 * context has ended.
 */
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
	if (has_streams_exit_key)
		pthread_setspecific(streams_exit_key, mine);
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
