/*
 * keeper.h - a thread of this process that has descriptors of its own. What it
 * opens takes no number of the program's, survives a program that closes all of
 * its descriptors, and can be opened by other processes of the same user, as
 * /proc/PID/task/THREAD/fd/NUMBER.
 */
#ifndef GKF_KEEPER_H
#define GKF_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts it; who will need it soon does not wait so long then. */
void keeper_start(void);

/*
 * Calls what(data) on that thread, which is started at the first call, and
 * waits for it. False: there can be none (a kernel before 5.9, a sandbox).
 */
bool keeper_do(void (*what)(void *data), void *data);

/* Its number, as /proc has it; 0: it was not started. */
pid_t keeper_thread(void);

#endif
