/*
 * thread.h - starting the library's own threads, in a program that knows
 * nothing of them.
 */
#ifndef GK_CORE_THREAD_H
#define GK_CORE_THREAD_H

#include <pthread.h>

/* Starts a thread that leaves signals to the program's own threads; 0 or a
 * gk_err. */
int gk_thread_start(pthread_t *ret_thread, void *(*run)(void *), void *arg);

/* A condition that waits by CLOCK_MONOTONIC. */
void gk_cond_init(pthread_cond_t *cond);

#endif
