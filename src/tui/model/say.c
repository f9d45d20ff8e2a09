/* SPDX-License-Identifier: Apache-2.0 */
/* say.c - shows a message on the last row for some seconds. */
#include "base/clock.h"
#include "tui/model/model.h"

#include <stdarg.h>
#include <stdio.h>

#define MESSAGE_NS (3 * GK_NS_PER_S)

void tui_say(struct tui *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(t->message, sizeof t->message, format, args);
	va_end(args);
	t->message_until_ns = gk_mono_ns() + MESSAGE_NS;
}
