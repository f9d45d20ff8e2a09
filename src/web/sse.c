/* sse.c - reads events line by line. */
#include "web/sse.h"

#include <string.h>

static void end_event(struct gk_sse *s, gk_sse_event event, void *owner)
{
	if (s->data.len)
		event(owner, *s->kind ? s->kind : "message", s->data.data,
		      s->data.len);
	s->data.len = 0;
	*s->kind = '\0';
}

/* The value of a field, without the one blank that may be before it. */
static const char *value_of(const char *line, const char *field)
{
	size_t len = strlen(field);

	if (strncmp(line, field, len) != 0 || line[len] != ':')
		return NULL;
	return line + len + 1 + (line[len + 1] == ' ');
}

/* A value that is longer than its room is none that we sent. */
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
	else if ((value = value_of(line, "data"))) {
		gk_buf_puts(&s->data, s->data.len ? "\n" : "");
		gk_buf_puts(&s->data, value);
	} else if ((value = value_of(line, "event")))
		keep_text(s->kind, sizeof s->kind, value);
	else if ((value = value_of(line, "id")))
		keep_text(s->id, sizeof s->id, value);
	s->line.len = 0;
}

bool gk_sse_feed(struct gk_sse *s, const char *bytes, size_t len,
		 gk_sse_event event, void *owner)
{
	while (len) {
		const char *end = memchr(bytes, '\n', len);
		size_t n = end ? (size_t)(end - bytes) : len;

		gk_buf_add(&s->line, bytes, n);
		if (s->line.failed || s->data.failed ||
		    s->line.len + s->data.len > GK_SSE_MOST)
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
	s->line.len = s->data.len = 0;
	s->line.failed = s->data.failed = false;
	*s->kind = '\0';
}

void gk_sse_free(struct gk_sse *s)
{
	gk_buf_free(&s->line);
	gk_buf_free(&s->data);
}
