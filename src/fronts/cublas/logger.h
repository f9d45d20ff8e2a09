/* SPDX-License-Identifier: Apache-2.0 */
/* logger.h - writes lines to cuBLAS' own log. */
#ifndef GKF_CUBLAS_LOGGER_H
#define GKF_CUBLAS_LOGGER_H

/*
 * Writes a line; the text must not end with a newline. Cheap when the log is
 * off.
 */
void logger_write(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
