/* SPDX-License-Identifier: Apache-2.0 */
/* failure.c - error messages of verbs that serve. */
#include "cli/cmd.h"
#include "cli/serve/serve.h"

#include <stdarg.h>
#include <stdio.h>

int gk_serve_failure(const char *verb, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "gpukit %s: ", verb);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return GK_EXIT_FAILURE;
}
