/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - how the CUDA programs of this directory check themselves. The first
 * error is reported in one line on stderr and ends the program with status 1.
 * Status 77: this machine has nothing to check it on.
 */
#ifndef CUDA_CHECK_H
#define CUDA_CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SKIPPED 77

static inline void __attribute__((format(printf, 3, 4), noreturn))
wrong(const char *file, int line, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

#define WRONG(...) wrong(__FILE__, __LINE__, __VA_ARGS__)

#define REQUIRE(condition)                                                     \
	do {                                                                   \
		if (!(condition))                                              \
			WRONG("not true: %s", #condition);                     \
	} while (0)

/* Both must be integers or pointers. */
#define EQUAL(actual, expected)                                                \
	do {                                                                   \
		long long actual_ = (long long)(actual);                       \
		long long expected_ = (long long)(expected);                   \
                                                                               \
		if (actual_ != expected_)                                      \
			WRONG("%s is %lld, not %lld", #actual, actual_,        \
			      expected_);                                      \
	} while (0)

#define EQUAL_FLOAT(actual, expected)                                          \
	do {                                                                   \
		double actual_ = (double)(actual);                             \
		double expected_ = (double)(expected);                         \
		double off_ = actual_ - expected_;                             \
                                                                               \
		if (!(off_ <= 1e-5 && off_ >= -1e-5))                          \
			WRONG("%s is %g, not %g", #actual, actual_,            \
			      expected_);                                      \
	} while (0)

static inline void __attribute__((noreturn)) skip(const char *why)
{
	fprintf(stderr, "skipped: %s\n", why);
	exit(SKIPPED);
}

/* A clock in seconds. */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void rest(double seconds)
{
	struct timespec t;

	t.tv_sec = (time_t)seconds;
	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

#endif
