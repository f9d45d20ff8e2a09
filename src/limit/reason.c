/* SPDX-License-Identifier: Apache-2.0 */
/* reason.c - owns the text that says why limits cannot be enforced. */
#include "limit/reason.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

enum { NOBODY, IS_WRITTEN, WRITTEN };

static char text[400];
static _Atomic int state;

void gkl_reason_note(const char *format, ...)
{
	int nobody = NOBODY;
	va_list args;

	if (!atomic_compare_exchange_strong(&state, &nobody, IS_WRITTEN))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	atomic_store(&state, WRITTEN);
}

const char *gkl_reason(void)
{
	return atomic_load(&state) == WRITTEN ? text : NULL;
}
