/* SPDX-License-Identifier: Apache-2.0 */
/* tell.c - prints the messages of `gpukit fake` on stderr, one line each. */
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/fake/fake.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void __attribute__((format(printf, 1, 0)))
say(const char *format, va_list args)
{
	char text[FAKE_MESSAGE_MAX], clean[FAKE_MESSAGE_MAX];

	vsnprintf(text, sizeof text, format, args);
	gk_str_clean(clean, sizeof clean, text, strlen(text));
	fprintf(stderr, "gpukit fake: %s\n", clean);
}

int fake_failure(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return GK_EXIT_FAILURE;
}

int fake_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return GK_EXIT_USAGE;
}
