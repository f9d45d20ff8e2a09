/* SPDX-License-Identifier: Apache-2.0 */
/* finding.c - writes findings and shows them. */
#include "cli/finding.h"

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

void gk_finding_say(struct gk_finding *f, enum gk_finding_state state,
		    const char *format, ...)
{
	va_list args;

	f->state = state;
	*f->says = '\0';
	va_start(args, format);
	add_text(f->says, sizeof f->says, format, args);
	va_end(args);
}

void gk_finding_add(struct gk_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_text(f->says, sizeof f->says, format, args);
	va_end(args);
}

void gk_finding_todo(struct gk_finding *f, const char *format, ...)
{
	va_list args;

	*f->todo = '\0';
	va_start(args, format);
	add_text(f->todo, sizeof f->todo, format, args);
	va_end(args);
}

/* ---- a finding as text and as JSON ---- */

static const struct {
	const char *name;
	enum gk_color color;
} states[] = {
    [FINDING_BAD] = {"bad", GK_BOLD_RED},
    [FINDING_WARN] = {"warn", GK_YELLOW},
    [FINDING_OK] = {"ok", GK_GREEN},
    [FINDING_ABSENT] = {"absent", GK_DIM},
    [FINDING_UNKNOWN] = {"unknown", GK_DIM},
};

void gk_finding_word(struct gk_buf *out, bool color, enum gk_color which,
		     const char *word, int width)
{
	int len = (int)strlen(word);

	gk_paint(out, color, which, word);
	gk_buf_pad(out, ' ', len < width ? (size_t)(width - len) : 1);
}

void gk_finding_text(struct gk_buf *out, bool color, const char *title,
		     const struct gk_finding *f)
{
	gk_finding_word(out, color, states[f->state].color,
			states[f->state].name, GK_FINDING_STATE);
	gk_finding_word(out, color, GK_PLAIN, title, GK_FINDING_TITLE);
	gk_buf_printf(out, "%s\n", f->says);
	if (!*f->todo)
		return;
	gk_buf_pad(out, ' ', GK_FINDING_STATE);
	gk_buf_printf(out, "do: %s\n", f->todo);
}

json_t *gk_finding_json(const char *id, const char *title,
			const struct gk_finding *f)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s?}", "id", id, "title", title,
			 "state", states[f->state].name, "finding", f->says,
			 "do", *f->todo ? f->todo : NULL);
}
