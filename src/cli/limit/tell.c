/* SPDX-License-Identifier: Apache-2.0 */
/* tell.c - prints the messages of `gpukit limit` on stderr, one line each. */
#include "cli/cmd.h"
#include "cli/limit/limit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void __attribute__((format(printf, 1, 0)))
say(const char *format, va_list args)
{
	char text[1024], clean[1024];

	vsnprintf(text, sizeof text, format, args);
	gk_str_clean(clean, sizeof clean, text, strlen(text));
	fprintf(stderr, "gpukit limit: %s\n", clean);
}

int limit_failure(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return GK_EXIT_FAILURE;
}

int limit_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return GK_EXIT_USAGE;
}

int limit_tell(const char *name, int err)
{
	switch (err) {
	case GK_ERR_NOT_FOUND:
		return limit_failure("no group '%s'; `gpukit limit ls` lists "
				     "them",
				     name);
	case GK_ERR_PERMISSION:
		return limit_failure(
		    "group %s belongs to another user, or others could change "
		    "it; work as its owner, or remove it as root",
		    name);
	case GK_ERR_IN_USE:
		return limit_failure("group %s has running processes; end them "
				     "first (`gpukit limit show %s`)",
				     name, name);
	case GK_ERR_INVALID:
		return limit_failure("'%s' is not a group name: 1 to %d "
				     "letters, digits, '.', '_', '-'",
				     name, GKL_NAME - 1);
	default:
		return limit_failure("group %s: %s", name, gk_strerror(err));
	}
}
