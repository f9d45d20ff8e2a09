/* SPDX-License-Identifier: Apache-2.0 */
/* sse.c - parses server-sent events line by line. */
#include "web/sse.h"

#include <string.h>

static void end_event(struct gk_sse *s, gk_sse_event event, void *owner)
{
	if (s->data.len && !s->skipped)
		event(owner, *s->kind ? s->kind : "message", s->data.data,
		      s->data.len);
	s->passed += s->skipped > 0;
	s->data.len = s->skipped = 0;
	*s->kind = '\0';
}

/*
 * If the line contains the named field, returns the field's value without one
 * leading blank; otherwise NULL.
 */
static const char *value_of(const char *line, const char *field)
{
	size_t len = strlen(field);

	if (strncmp(line, field, len) != 0 || line[len] != ':')
		return NULL;
	return line + len + 1 + (line[len + 1] == ' ');
}

/* Copies a value unless it is too long, which no value from gpukit is. */
static void keep_text(char *dst, size_t cap, const char *value)
{
	if (strlen(value) < cap)
		gk_str_copy(dst, cap, value);
}

static void take_line(struct gk_sse *s, gk_sse_event event, void *owner)
{
	char *line = s->line.data ? s->line.data : (char[]){""};
	const char *value;

	if (s->line.len && line[s->line.len - 1] == '\r')
		line[--s->line.len] = '\0';
	if (!s->line.len)
		end_event(s, event, owner);
	else if (s->skipped)
		;
	else if ((value = value_of(line, "data"))) {
		gk_buf_puts(&s->data, s->data.len ? "\n" : "");
		gk_buf_puts(&s->data, value);
	} else if ((value = value_of(line, "event")))
		keep_text(s->kind, sizeof s->kind, value);
	else if ((value = value_of(line, "id")))
		keep_text(s->id, sizeof s->id, value);
	s->line.len = 0;
}

/*
 * Appends bytes to the line. While an event is being skipped, records only
 * whether the line is empty.
 */
static void keep_part(struct gk_sse *s, const char *bytes, size_t len)
{
	size_t room = s->line.len < 2 ? 2 - s->line.len : 0;

	if (!s->skipped && s->line.len + s->data.len + len <= GK_SSE_MOST) {
		gk_buf_add(&s->line, bytes, len);
		return;
	}
	if (!s->skipped) {
		s->skipped = s->line.len + s->data.len;
		s->line.len = s->line.len < 2 ? s->line.len : 2;
		s->data.len = 0;
		room = 2 - s->line.len;
	}
	s->skipped += len;
	gk_buf_add(&s->line, bytes, len < room ? len : room);
}

bool gk_sse_feed(struct gk_sse *s, const char *bytes, size_t len,
		 gk_sse_event event, void *owner)
{
	while (len) {
		const char *end = memchr(bytes, '\n', len);
		size_t n = end ? (size_t)(end - bytes) : len;

		keep_part(s, bytes, n);
		if (s->line.failed || s->data.failed ||
		    s->skipped > GK_SSE_REFUSED)
			return false;
		if (end)
			take_line(s, event, owner);
		bytes += n + (end != NULL);
		len -= n + (end != NULL);
	}
	return true;
}

void gk_sse_begin(struct gk_sse *s)
{
	s->line.len = s->data.len = s->skipped = 0;
	s->line.failed = s->data.failed = false;
	*s->kind = '\0';
}

void gk_sse_free(struct gk_sse *s)
{
	gk_buf_free(&s->line);
	gk_buf_free(&s->data);
}
