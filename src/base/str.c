/* SPDX-License-Identifier: Apache-2.0 */
/* str.c - implements the growing buffer, and cleans text from other sources. */
#include "base/str.h"
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gk_buf_free(struct gk_buf *buf)
{
	free(buf->data);
	*buf = (struct gk_buf){0};
}

/* Reserves space for `len` more bytes and a NUL. */
static bool reserve_bytes(struct gk_buf *buf, size_t len)
{
	size_t cap = buf->cap ? buf->cap : 256;
	char *data = NULL;

	if (buf->failed || len < buf->cap - buf->len)
		return !buf->failed;
	while (cap <= SIZE_MAX / 2 && cap - buf->len <= len)
		cap *= 2;
	if (cap - buf->len > len)
		data = realloc(buf->data, cap);
	if (!data) {
		buf->failed = true;
		return false;
	}
	buf->data = data;
	buf->cap = cap;
	return true;
}

void gk_buf_add(struct gk_buf *buf, const char *bytes, size_t len)
{
	if (!reserve_bytes(buf, len))
		return;
	if (len)
		memcpy(buf->data + buf->len, bytes, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void gk_buf_puts(struct gk_buf *buf, const char *text)
{
	gk_buf_add(buf, text, strlen(text));
}

void gk_buf_putc(struct gk_buf *buf, char c)
{
	gk_buf_add(buf, &c, 1);
}

void gk_buf_pad(struct gk_buf *buf, char c, size_t count)
{
	if (!reserve_bytes(buf, count))
		return;
	memset(buf->data + buf->len, c, count);
	buf->len += count;
	buf->data[buf->len] = '\0';
}

void gk_buf_printf(struct gk_buf *buf, const char *format, ...)
{
	va_list args, again;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	if (n < 0)
		buf->failed = true;
	else if (reserve_bytes(buf, (size_t)n)) {
		vsnprintf(buf->data + buf->len, (size_t)n + 1, format, again);
		buf->len += (size_t)n;
	}
	va_end(again);
	va_end(args);
}

/*
 * One row for each range of the first byte: the length of the sequence, and the
 * range of its second byte (Unicode, 3.9).
 */
static const struct {
	unsigned char first, last, len, low, high;
} utf8[] = {
    {0x00, 0x7f, 1, 0, 0},       {0xc2, 0xdf, 2, 0x80, 0xbf},
    {0xe0, 0xe0, 3, 0xa0, 0xbf}, {0xe1, 0xec, 3, 0x80, 0xbf},
    {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf},
    {0xf0, 0xf0, 4, 0x90, 0xbf}, {0xf1, 0xf3, 4, 0x80, 0xbf},
    {0xf4, 0xf4, 4, 0x80, 0x8f},
};

size_t gk_utf8_len(const char *s, size_t left)
{
	const unsigned char *u = (const unsigned char *)s;

	for (size_t i = 0; left && i < sizeof utf8 / sizeof *utf8; i++) {
		if (u[0] < utf8[i].first || u[0] > utf8[i].last)
			continue;
		if (utf8[i].len == 1)
			return 1;
		if (utf8[i].len > left || u[1] < utf8[i].low ||
		    u[1] > utf8[i].high)
			return 0;
		for (size_t k = 2; k < utf8[i].len; k++)
			if ((u[k] & 0xc0) != 0x80)
				return 0;
		return utf8[i].len;
	}
	return 0;
}

uint32_t gk_utf8_decode(const char *s, size_t n)
{
	static const unsigned char first_bits[5] = {0, 0x7f, 0x1f, 0x0f, 7};
	uint32_t c = (unsigned char)s[0] & first_bits[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
}

/*
 * Characters that control a terminal, change the direction of the surrounding
 * text, break lines or are invisible: a text that contains one is not what it
 * looks like. The table is in ascending order (Unicode's Cc, Cf, Zl, Zp, and
 * fillers that look blank).
 */
static const struct {
	uint32_t first, last;
} hidden[] = {
    {0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},
    {0x34f, 0x34f},     {0x61c, 0x61c},     {0x115f, 0x1160},
    {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},
    {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
    {0xfffe, 0xffff},   {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
    {0xe0000, 0xe0fff},
};

bool gk_utf8_hidden(const char *s, size_t n)
{
	uint32_t c = gk_utf8_decode(s, n);

	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
		if (c <= hidden[i].last)
			return c >= hidden[i].first;
	return false;
}

size_t gk_str_clean(char *dst, size_t cap, const char *src, size_t len)
{
	size_t out = 0;

	GK_ASSERT(cap);
	for (size_t i = 0; i < len;) {
		size_t n = gk_utf8_len(src + i, len - i);
		const char *piece = src + i;
		size_t size = n;

		if (!n) {
			piece = "\xef\xbf\xbd";
			size = 3;
			n = 1;
		} else if (gk_utf8_hidden(piece, n)) {
			piece = "?";
			size = 1;
		}
		if (out + size >= cap)
			break;
		memcpy(dst + out, piece, size);
		out += size;
		i += n;
	}
	dst[out] = '\0';
	return out;
}

/* Full-width = + - and @, which some spreadsheets treat like the ASCII ones. */
static bool is_wide_sign(const char *text, size_t len)
{
	static const char signs[][4] = {"＝", "＋", "－", "＠"};

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (len >= 3 && !memcmp(text, signs[i], 3))
			return true;
	return false;
}

bool gk_str_is_formula(const char *text, size_t len)
{
	static const char signs[] = {'=', '+', '-', '@'};

	for (; len && *text == '\''; len--)
		text++;
	return len &&
	       (memchr(signs, *text, sizeof signs) || is_wide_sign(text, len));
}

size_t gk_str_copy(char *dst, size_t cap, const char *src)
{
	size_t len = strlen(src);

	if (cap) {
		size_t n = len < cap ? len : cap - 1;

		memcpy(dst, src, n);
		dst[n] = '\0';
	}
	return len;
}
