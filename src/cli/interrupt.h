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

/* Whether one of the signals has come. */
bool gk_interrupted(void);

/*
 * Waits until fd is readable. True when it is, false when a signal came
 * before or meanwhile.
 */
bool gk_interrupt_wait(int fd);

#endif
