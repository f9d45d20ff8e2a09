/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.h - a thread of this process with a descriptor table of its own. The
 * files it opens use none of the program's descriptor numbers and stay open
 * even if the program closes all of its descriptors. Other processes of the
 * same user can open them as /proc/PID/task/THREAD/fd/NUMBER.
 */
#ifndef GKF_KEEPER_H
#define GKF_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Starts the thread, so that a later keeper_do() need not wait for the start.
 */
void keeper_start(void);

/*
 * Calls what(data) on the thread, which is started if necessary, and waits for
 * the call to return. Returns false if there can be no such thread (a kernel
 * before 5.9, a sandbox).
 */
bool keeper_do(void (*what)(void *data), void *data);

/* Returns the thread id, as in /proc; 0: the thread was not started. */
pid_t keeper_thread(void);

#endif
