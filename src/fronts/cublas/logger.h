/* logger.h - lines of cuBLAS' own log, for whoever listens. */
#ifndef GKF_CUBLAS_LOGGER_H
#define GKF_CUBLAS_LOGGER_H

/* Cheap where nobody listens. No newline. */
void logger_write(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
