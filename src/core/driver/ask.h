/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h - questions to GPUs with a deadline: a thread of the library calls the
 * driver, and the caller stops waiting at the deadline.
 *
 * A GPU has one question at a time, so that at most one thread is stuck in it,
 * however often it is asked. Threads are started when several GPUs are asked at
 * the same time, at most one more than there are GPUs. Waking a thread takes
 * ten times as long as asking a GPU. Therefore the thread that answered last
 * spins for a moment, on a different processor from the caller's, and the
 * caller also spins for a moment before it sleeps. If that thread gets no
 * processor, another one is woken.
 */
#ifndef GK_CORE_ASK_H
#define GK_CORE_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gk_asks;

/* Functions of a question, which run in a thread of the library. */
struct gk_ask_calls {
	void (*run)(void *arg);  /* calls the driver */
	void (*drop)(void *arg); /* frees a late answer; may be NULL */
};

/* Prepares questions to `count` GPUs. Returns 0 or GK_ERR_NOMEM. End with
 * gk_asks_stop() and gk_asks_free(). */
int gk_asks_new(size_t count, struct gk_asks **ret_asks);

/*
 * Waits until a GPU can be asked, for at most timeout_ns. Fails at once if the
 * GPU's previous question has been running for that long. On success the caller
 * owns the GPU's question, and all that the question writes to, until
 * gk_ask_end() or gk_ask_leave().
 */
bool gk_ask_begin(struct gk_asks *asks, size_t gpu, uint64_t timeout_ns);

/* Makes a thread call run(arg). Returns 0, or a gk_err if no thread could be
 * started, which ends the question. */
int gk_ask_put(struct gk_asks *asks, size_t gpu,
	       const struct gk_ask_calls *calls, void *arg);

/* Waits for the answer, at most until until_ns of CLOCK_MONOTONIC. */
bool gk_ask_wait(struct gk_asks *asks, size_t gpu, uint64_t until_ns);

/* Ends a question that was answered; the GPU can be asked again. */
void gk_ask_end(struct gk_asks *asks, size_t gpu);

/* Abandons a question that has been put. It ends when the driver answers. */
void gk_ask_leave(struct gk_asks *asks, size_t gpu);

/* When the current question was put; 0: there is none. Any thread. */
uint64_t gk_ask_since(const struct gk_asks *asks, size_t gpu);

/* Ends the threads; waits at most until until_ns. Returns false if a thread is
 * stuck in the driver: it is abandoned, and all that it uses must stay. NULL is
 * allowed. */
bool gk_asks_stop(struct gk_asks *asks, uint64_t until_ns);

/* Frees everything. Call it once all threads have ended. NULL is allowed. */
void gk_asks_free(struct gk_asks *asks);

#endif
