/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - the diagnostic log, off unless GPUKIT_LOG=level[:path] is set.
 *
 * Each call writes one line by one write(2), to the file or to stderr. It never
 * writes to stdout, nor to a file that the program opened under the number of a
 * closed stderr. Safe in any thread of a foreign process; errno is unchanged.
 */
#ifndef GK_BASE_LOG_H
#define GK_BASE_LOG_H

enum gk_log_level {
	GK_LOG_OFF,
	GK_LOG_ERROR,
	GK_LOG_WARN,
	GK_LOG_INFO,
	GK_LOG_DEBUG
};

/* Returns the level in force; costs one relaxed load after the first call. */
int gk_log_level(void);

/* Sets the level that applies if GPUKIT_LOG does not set one. */
void gk_log_set_default(int level);

/* Writes one line, cut to 511 bytes. The format has no newline. */
void gk_log_write(int level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Writes a line for the user to stderr, without a prefix, whether logging is on
 * or not; writes nothing if GPUKIT_LOG=off.
 */
void gk_log_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define gk_log(level, ...)                                                     \
	do {                                                                   \
		if ((level) <= gk_log_level())                                 \
			gk_log_write((level), __VA_ARGS__);                    \
	} while (0)

#endif
