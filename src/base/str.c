/* str.c - the growing buffer and the cleaning of foreign text. */
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gk_buf_free(struct gk_buf *buf)
{
	free(buf->data);
	*buf = (struct gk_buf){0};
}

/* Makes room for len more bytes and the NUL. */
static bool reserve(struct gk_buf *buf, size_t len)
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
	if (!reserve(buf, len))
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
	if (!reserve(buf, count))
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
	else if (reserve(buf, (size_t)n)) {
		vsnprintf(buf->data + buf->len, (size_t)n + 1, format, again);
		buf->len += (size_t)n;
	}
	va_end(again);
	va_end(args);
}

/* First byte -> length and the range of the second byte (Unicode, 3.9). */
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

/* C0, DEL, and C1 (U+0080..U+009F) would steer a terminal. */
static bool is_control(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;

	if (n == 1)
		return u[0] < 0x20 || u[0] == 0x7f;
	return n == 2 && u[0] == 0xc2 && u[1] < 0xa0;
}

size_t gk_str_clean(char *dst, size_t cap, const char *src, size_t len)
{
	size_t out = 0;

	for (size_t i = 0; i < len;) {
		size_t n = gk_utf8_len(src + i, len - i);
		const char *piece = src + i;
		size_t size = n;

		if (!n) {
			piece = "\xef\xbf\xbd";
			size = 3;
			n = 1;
		} else if (is_control(piece, n)) {
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
