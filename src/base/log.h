/*
 * log.h - diagnostics, off unless GPUKIT_LOG=level[:path] is set.
 *
 * One line a call, one write(2), to the file or to stderr; never to stdout, and
 * never to a file that the program has opened in the place of its stderr.
 * Safe in any thread of a foreign process; errno is kept.
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

/* The level in force; costs one relaxed load after the first call. */
int gk_log_level(void);

/* The level where GPUKIT_LOG does not say one. */
void gk_log_set_default(int level);

/* Writes one line; longer ones are cut to 511 bytes. No newline in format. */
void gk_log_write(int level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define gk_log(level, ...)                                                     \
	do {                                                                   \
		if ((level) <= gk_log_level())                                 \
			gk_log_write((level), __VA_ARGS__);                    \
	} while (0)

#endif
