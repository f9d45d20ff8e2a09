/* SPDX-License-Identifier: Apache-2.0 */
/* tell.c - prints the messages of `gpukit fake` on stderr, one line each. */
#include "base/str.h"
#include "cli/fake/fake.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void fake_tell(const char *format, ...)
{
	char text[FAKE_MESSAGE_MAX], clean[FAKE_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	gk_str_clean(clean, sizeof clean, text, strlen(text));
	fprintf(stderr, "gpukit fake: %s\n", clean);
}
