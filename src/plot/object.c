/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - parses JSON objects in place. */
#include "plot/object.h"

#include "base/err.h"

#include <stdbool.h>
#include <string.h>

struct reader {
	char *at;
	const char *end;
};

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && strchr(" \t\r\n", *r->at))
		r->at++;
}

static bool take_char(struct reader *r, char c)
{
	skip_blanks(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* Parses a string. The result keeps the escapes but not the quotes. */
static bool take_raw_string(struct reader *r, struct gk_csv_field *ret)
{
	char *from;

	if (!take_char(r, '"'))
		return false;
	from = r->at;
	while (r->at < r->end && *r->at != '"')
		r->at += *r->at == '\\' ? 2 : 1;
	if (r->at >= r->end)
		return false;
	*ret = (struct gk_csv_field){from, (size_t)(r->at - from)};
	r->at++;
	return true;
}

static bool take_hex(const char *p, const char *end, unsigned *ret)
{
	unsigned value = 0;

	if (end - p < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		const char *digit = strchr("0123456789abcdef", p[i] | 0x20);

		if (!digit || !p[i])
			return false;
		value = value * 16 + (unsigned)(digit - "0123456789abcdef");
	}
	*ret = value;
	return true;
}

static char *put_utf8(char *to, unsigned c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*to++ = (char)(0xe0 | c >> 12);
		} else {
			*to++ = (char)(0xf0 | c >> 18);
			*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		}
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (c & 0x3f));
	return to;
}

/* Decodes \uXXXX or a surrogate pair; *p points after the u. */
static bool take_unicode(const char **p, const char *end, char **to)
{
	unsigned c, low;

	if (!take_hex(*p, end, &c))
		return false;
	*p += 4;
	if (c >= 0xd800 && c < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' &&
	    (*p)[1] == 'u' && take_hex(*p + 2, end, &low) && low >= 0xdc00 &&
	    low < 0xe000) {
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		*p += 6;
	}
	*to = put_utf8(*to, c);
	return true;
}

/*
 * Decodes escapes in place: no escape is shorter than its character.
 */
static bool unescape_text(struct gk_csv_field *field, char *text)
{
	static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *p = text, *end = text + field->len;
	char *to = memchr(text, '\\', field->len);

	if (!to)
		return true;
	for (p = to; p < end;) {
		const char *name;

		if (*p != '\\') {
			*to++ = *p++;
			continue;
		}
		p++;
		name = p < end && *p ? strchr(names, *p) : NULL;
		if (name)
			*to++ = means[name - names];
		else if (p == end || *p != 'u')
			return false;
		p++;
		if (!name && !take_unicode(&p, end, &to))
			return false;
	}
	field->len = (size_t)(to - text);
	return true;
}

/* Parses a number, true, false or null. The result for null is empty. */
static bool take_word(struct reader *r, struct gk_csv_field *ret)
{
	char *from = r->at;

	while (r->at < r->end && !strchr(",} \t\r\n\"{[", *r->at))
		r->at++;
	*ret = (struct gk_csv_field){from, (size_t)(r->at - from)};
	if (ret->len == 4 && !memcmp(from, "null", 4))
		ret->len = 0;
	return r->at > from;
}

static bool take_value(struct reader *r, struct gk_csv_field *ret, bool decode)
{
	char *text;

	skip_blanks(r);
	if (r->at == r->end || *r->at != '"')
		return take_word(r, ret);
	text = r->at + 1;
	return take_raw_string(r, ret) && (!decode || unescape_text(ret, text));
}

int gk_object_split(char *text, const char *end, struct gk_csv_field *keys,
		    struct gk_csv_field *values, size_t most, size_t *ret_count)
{
	struct reader r = {text, end};
	struct gk_csv_field ignored;
	size_t count = 0;

	if (!take_char(&r, '{'))
		return GK_ERR_CORRUPT;
	do {
		if (count == most || !take_raw_string(&r, &keys[count]) ||
		    !take_char(&r, ':') ||
		    !take_value(&r, values ? &values[count] : &ignored,
				values != NULL))
			return GK_ERR_CORRUPT;
		count++;
	} while (take_char(&r, ','));
	if (!take_char(&r, '}'))
		return GK_ERR_CORRUPT;
	skip_blanks(&r);
	if (r.at != end)
		return GK_ERR_CORRUPT;
	*ret_count = count;
	return 0;
}
