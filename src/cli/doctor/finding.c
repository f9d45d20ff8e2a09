/* SPDX-License-Identifier: Apache-2.0 */
/* finding.c - writes findings. */
#include "cli/doctor/doctor.h"

#include <stdio.h>
#include <string.h>

/*
 * Appends a text and replaces its unprintable characters, because parts of it
 * may come from elsewhere.
 */
__attribute__((format(printf, 3, 0))) static void
add_text(char *dst, size_t cap, const char *format, va_list args)
{
	char text[1024];
	size_t len = strlen(dst);

	vsnprintf(text, sizeof text, format, args);
	gk_str_clean(dst + len, cap - len, text, strlen(text));
}

void gk_doctor_say(struct gk_doctor_finding *f, enum gk_doctor_state state,
		   const char *format, ...)
{
	va_list args;

	f->state = state;
	*f->says = '\0';
	va_start(args, format);
	add_text(f->says, sizeof f->says, format, args);
	va_end(args);
}

void gk_doctor_add(struct gk_doctor_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_text(f->says, sizeof f->says, format, args);
	va_end(args);
}

void gk_doctor_todo(struct gk_doctor_finding *f, const char *format, ...)
{
	va_list args;

	*f->todo = '\0';
	va_start(args, format);
	add_text(f->todo, sizeof f->todo, format, args);
	va_end(args);
}
