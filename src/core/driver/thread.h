/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - starts the library's own threads, which are unknown to the
 * program.
 */
#ifndef GK_CORE_THREAD_H
#define GK_CORE_THREAD_H

#include <pthread.h>

/* Starts a thread that leaves signals to the program's own threads. 0 or a
 * gk_err. */
int gk_thread_start(pthread_t *ret_thread, void *(*run)(void *), void *arg);

/* Initialises a condition whose waits use CLOCK_MONOTONIC. */
void gk_cond_init(pthread_cond_t *cond);

#endif
