/* SPDX-License-Identifier: Apache-2.0 */
/* environ.c - reads /proc/<pid>/environ and makes it printable. */
#include "tui/model/environ.h"

#include "base/assert.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/pidstat.h"
#include "base/secret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_FIRST (64 << 10)
#define READ_MAX   (16 << 20)

const char *tui_environ_value(const struct tui_environ *e, size_t at)
{
	const struct tui_variable *v = &e->list[at];

	GK_ASSERT(at < e->count);
	return v->secret && !e->unmasked && *v->value ? GK_SECRET_COVER
						      : v->value;
}

/* ---- reading ---- */

/*
 * Reads a whole file of /proc, whose size stat() does not report. The caller
 * frees *ret_bytes. Returns the length or a gk_err.
 */
static ssize_t read_proc_file(int proc, const char *path, char **ret_bytes)
{
	for (size_t cap = READ_FIRST; cap <= READ_MAX; cap *= 4) {
		char *bytes = malloc(cap);
		ssize_t n;

		if (!bytes)
			return GK_ERR_NOMEM;
		n = gk_read_at(proc, path, bytes, cap);
		if (n >= 0 && (size_t)n < cap - 1) {
			*ret_bytes = bytes;
			return n;
		}
		free(bytes);
		if (n < 0)
			return n;
	}
	return GK_ERR_TOO_MANY;
}

/*
 * Adds a text in printable form, with newlines as ␤. `room` must be large
 * enough. Returns the position after the terminating NUL.
 */
static char *add_clean(char *dst, size_t room, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		size_t n = gk_str_clean(dst, room, text, len);

		dst += n;
		room -= n;
		text += len;
		if (*text) {
			text++;
			n = gk_str_copy(dst, room, "␤");
			dst += n;
			room -= n;
		}
	}
	*dst = '\0';
	return dst + 1;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct tui_variable *)a)->key,
		      ((const struct tui_variable *)b)->key);
}

/*
 * Each byte becomes at most three: U+FFFD for invalid UTF-8, ␤ for a newline.
 */
static int parse_environ(struct tui_environ *e, const char *bytes, size_t len)
{
	size_t room = 3 * len + 2, count = 0;
	char *at = malloc(room);

	for (size_t i = 0; i < len; i++)
		count += !bytes[i];
	e->list = calloc(count + 1, sizeof *e->list);
	e->text = (struct gk_buf){.data = at, .cap = room};
	if (!at || !e->list)
		return GK_ERR_NOMEM;
	for (const char *p = bytes; p < bytes + len; p += strlen(p) + 1) {
		struct tui_variable *v = &e->list[e->count];
		char *end =
		    add_clean(at, room - (size_t)(at - e->text.data), p);
		char *sign = strchr(at, '=');

		if (!*p)
			continue;
		if (sign)
			*sign = '\0';
		v->key = at;
		v->value = sign ? sign + 1 : "";
		v->secret = gk_secret_variable(v->key, v->value);
		e->count++;
		at = end;
	}
	qsort(e->list, e->count, sizeof *e->list, by_key);
	return 0;
}

static bool is_still(const struct tui_environ *e, int proc)
{
	struct gk_pidstat st;

	return !gk_pidstat_read(proc, e->who.pid, &st) &&
	       st.start == e->who.start_ticks;
}

static void forget_environ(struct tui_environ *e)
{
	free(e->list);
	free(e->text.data);
	e->list = NULL;
	e->text = (struct gk_buf){0};
	e->count = 0;
}

int tui_environ_read(struct tui_environ *e, int proc)
{
	char path[32], *bytes = NULL;
	ssize_t n;

	forget_environ(e);
	snprintf(path, sizeof path, "%d/environ", (int)e->who.pid);
	n = read_proc_file(proc, path, &bytes);
	if (n >= 0 && !is_still(e, proc))
		n = GK_ERR_NOT_FOUND;
	if (n > 0)
		n = parse_environ(e, bytes, (size_t)n);
	free(bytes);
	if (n)
		forget_environ(e);
	e->error = (int)n;
	if (e->selected >= e->count)
		e->selected = e->count ? e->count - 1 : 0;
	return e->error;
}

void tui_environ_free(struct tui_environ *e)
{
	forget_environ(e);
	gk_buf_free(&e->title);
	*e = (struct tui_environ){0};
}
