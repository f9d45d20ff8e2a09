/*
 * interrupt.h - SIGINT and SIGTERM end a verb in an orderly way.
 */
#ifndef GK_CLI_INTERRUPT_H
#define GK_CLI_INTERRUPT_H

#include <stdbool.h>

/*
 * Catches SIGINT and SIGTERM, which then interrupt system calls of the
 * calling thread, and ignores SIGPIPE. Threads started between this call and
 * gk_interrupt_ready() never see the signals. 0 or a gk_err.
 */
int gk_interrupt_catch(void);
void gk_interrupt_ready(void);

/*
 * Waits for events (POLLIN, POLLOUT) of fd. True when there are some, or fd
 * is broken; false when a signal came before or meanwhile.
 */
bool gk_interrupt_wait(int fd, short events);

#endif
