/*
 * str.h - text: a growing buffer, numbers with units, cleaning of foreign
 * bytes.
 */
#ifndef GK_BASE_STR_H
#define GK_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A growing text, always NUL-terminated once it holds anything. Zero it to
 * start, gk_buf_free() at the end. When memory runs out the buffer stays as
 * it is and failed is set: check once, at the end.
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
 * gk_utf8_hidden()) become '?', bytes that are no UTF-8 become U+FFFD. Cuts
 * between characters when dst is full. Returns the length written, without the
 * NUL; cap must be at least 1.
 */
size_t gk_str_clean(char *dst, size_t cap, const char *src, size_t len);

/* Length of the valid UTF-8 sequence at s (1 to 4), 0 if there is none. */
size_t gk_utf8_len(const char *s, size_t left);

/* The character at s, which gk_utf8_len() found to be n bytes long. */
uint32_t gk_utf8_decode(const char *s, size_t n);

/*
 * Whether that character is none that people see: control characters, marks of
 * direction, line separators, blanks without a width, tags.
 */
bool gk_utf8_hidden(const char *s, size_t n);

/*
 * Whether a spreadsheet might compute a clean text instead of showing it: it
 * begins with = + - or @, or with apostrophes and one of these. Whoever writes
 * a cell puts an apostrophe before such a text, whoever reads one takes it off;
 * so each text has a form of its own.
 */
bool gk_str_is_formula(const char *text, size_t len);

/* Copies with truncation, always NUL-terminated; returns strlen(src). */
size_t gk_str_copy(char *dst, size_t cap, const char *src);

/*
 * Numbers as a person types them; the whole text must be used. 0 or
 * GK_ERR_INVALID (not a number, unknown unit) or GK_ERR_RANGE.
 * size: "60GiB", "60Gi", "512M" (binary), "80GB" (decimal), "1024", wherever a
 * size is typed. duration: "30s", "1.5h", "200ms", "10" (seconds), result in
 * nanoseconds.
 */
int gk_parse_int(const char *text, int64_t *ret_value);
int gk_parse_size(const char *text, uint64_t *ret_bytes);
int gk_parse_duration(const char *text, uint64_t *ret_ns);

#endif
