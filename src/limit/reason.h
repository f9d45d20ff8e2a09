/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reason.h - why this process's limits cannot be enforced: the first reason
 * found, for the one line that its user sees.
 */
#ifndef GKL_REASON_H
#define GKL_REASON_H

/* Sets the reason, unless there is one already. Any thread. */
void gkl_reason_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* NULL: none was noted. */
const char *gkl_reason(void);

#endif
