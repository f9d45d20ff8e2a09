/* SPDX-License-Identifier: Apache-2.0 */
/* interrupt.h - lets a verb end cleanly on SIGINT and SIGTERM. */
#ifndef GK_CLI_INTERRUPT_H
#define GK_CLI_INTERRUPT_H

#include <stdbool.h>

/*
 * Catches SIGINT and SIGTERM, which then interrupt system calls of the calling
 * thread, and ignores SIGPIPE. Threads started between this call and
 * gk_interrupt_ready() never receive the signals. Returns 0 or a gk_err.
 */
int gk_interrupt_catch(void);
void gk_interrupt_ready(void);

/*
 * Waits for events (POLLIN, POLLOUT) of fd. Returns true if one occurs or fd is
 * broken, false if a signal has arrived before or meanwhile.
 */
bool gk_interrupt_wait(int fd, short events);

#endif
