/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.h - text: a growing buffer, parsing of numbers with units, and cleaning
 * of text from other sources.
 */
#ifndef GK_BASE_STR_H
#define GK_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A growing text, NUL-terminated once it is not empty. Zero it first; call
 * gk_buf_free() at the end. If memory runs out, the text stays as it is and
 * `failed` is set, which needs checking only once, at the end.
 */
struct gk_buf {
	char *data;
	size_t len, cap;
	bool failed;
};

void gk_buf_free(struct gk_buf *buf);
void gk_buf_add(struct gk_buf *buf, const char *bytes, size_t len);
void gk_buf_puts(struct gk_buf *buf, const char *text);
void gk_buf_putc(struct gk_buf *buf, char c);
void gk_buf_pad(struct gk_buf *buf, char c, size_t count);
void gk_buf_printf(struct gk_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Copies src as printable UTF-8: control and hidden characters (see
 * gk_utf8_hidden()) become '?', invalid bytes become U+FFFD. If dst is full,
 * the text is cut between characters. Returns the length written, without the
 * NUL; cap must be at least 1.
 */
size_t gk_str_clean(char *dst, size_t cap, const char *src, size_t len);

/*
 * Returns the length of the valid UTF-8 sequence at s (1 to 4), or 0 if there
 * is none.
 */
size_t gk_utf8_len(const char *s, size_t left);

/* Returns the character at s, whose length n was returned by gk_utf8_len(). */
uint32_t gk_utf8_decode(const char *s, size_t n);

/*
 * Whether a character is invisible: control characters, direction marks, line
 * separators, zero-width blanks, tags.
 */
bool gk_utf8_hidden(const char *s, size_t n);

/*
 * Whether a spreadsheet might evaluate a clean text as a formula: the text
 * begins with = + - or @, or with apostrophes followed by one of these. When
 * such a text is written to a cell, an apostrophe is put before it, and readers
 * remove the apostrophe again. So each text has exactly one written form.
 */
bool gk_str_is_formula(const char *text, size_t len);

/* Copies with truncation, always NUL-terminated; returns strlen(src). */
size_t gk_str_copy(char *dst, size_t cap, const char *src);

/*
 * Parse numbers as people type them; the whole text must be a number. Return 0,
 * GK_ERR_INVALID (not a number, unknown unit) or GK_ERR_RANGE.
 *
 * gk_parse_size() accepts "60GiB", "60Gi", "512M" (binary), "80GB" (decimal)
 * and "1024". gk_parse_duration() accepts "30s", "1.5h", "200ms" and "10"
 * (seconds), and returns ns.
 */
int gk_parse_int(const char *text, int64_t *ret_value);
int gk_parse_size(const char *text, uint64_t *ret_bytes);
int gk_parse_duration(const char *text, uint64_t *ret_ns);

#endif
