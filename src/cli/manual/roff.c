/* SPDX-License-Identifier: Apache-2.0 */
/* roff.c - writes text as lines of man(7). */
#include "cli/manual/roff.h"

#include <ctype.h>
#include <string.h>

#define LINE_MOST 78

/*
 * Returns the escape for a character that roff or its fonts would change, or
 * NULL for others.
 */
static const char *escape_of(char c)
{
	switch (c) {
	case '\\':
		return "\\e";
	case '-':
		return "\\-";
	case '~':
		return "\\(ti";
	case '^':
		return "\\(ha";
	case '`':
		return "\\(ga";
	case '\'':
		return "\\(aq";
	default:
		return NULL;
	}
}

void roff_literal(struct gk_buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const char *escape = escape_of(text[i]);

		if (escape)
			gk_buf_puts(out, escape);
		else
			gk_buf_putc(out, text[i]);
	}
}

static void add_bold(struct gk_buf *out, const char *text, size_t len)
{
	gk_buf_puts(out, "\\fB");
	roff_literal(out, text, len);
	gk_buf_puts(out, "\\fR");
}

/* Adds a character of prose, where hyphens and apostrophes are not escaped. */
static void add_prose(struct gk_buf *out, char c)
{
	const char *escape = c == '-' || c == '\'' ? NULL : escape_of(c);

	if (escape)
		gk_buf_puts(out, escape);
	else
		gk_buf_putc(out, c);
}

/*
 * Returns the length of the option with which a text begins, or 0 if it begins
 * otherwise.
 */
static size_t option_len(const char *text, size_t len)
{
	size_t n = 1;

	if (len < 2 || *text != '-' ||
	    (text[1] != '-' && !isalnum((unsigned char)text[1])))
		return 0;
	while (n < len && (isalnum((unsigned char)text[n]) || text[n] == '-'))
		n++;
	return n;
}

/* Adds text on one line, with `code` and options in bold. */
static void add_inline(struct gk_buf *out, const char *text, size_t len)
{
	bool begins = true;

	for (size_t i = 0; i < len; i++) {
		const char *end = memchr(text + i + 1, '`', len - i - 1);
		size_t option = begins ? option_len(text + i, len - i) : 0;

		if (text[i] == '`' && end) {
			add_bold(out, text + i + 1,
				 (size_t)(end - text) - i - 1);
			i = (size_t)(end - text);
		} else if (option) {
			add_bold(out, text + i, option);
			i += option - 1;
		} else {
			add_prose(out, text[i]);
		}
		begins = strchr(" (", text[i]) != NULL;
	}
}

/* Whether a sentence ends before the blank at index `at`. */
static bool ends_sentence(const char *text, size_t at, size_t len)
{
	return at && strchr(".?!", text[at - 1]) && at + 1 < len &&
	       (isupper((unsigned char)text[at + 1]) || text[at + 1] == '`' ||
		text[at + 1] == '-');
}

/*
 * Returns the length of the next line of a text. It ends at the end of a
 * sentence, or at the last fitting blank outside `code`.
 */
static size_t line_len(const char *text, size_t len)
{
	size_t fits = 0;
	bool code = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '`')
			code = !code;
		if (text[i] != ' ' || code)
			continue;
		if (i > LINE_MOST * 3 / 4 && fits)
			return fits;
		fits = i;
		if (ends_sentence(text, i, len))
			return i;
	}
	return len > LINE_MOST * 3 / 4 && fits ? fits : len;
}

void roff_text(struct gk_buf *out, const char *text, size_t len)
{
	while (len) {
		size_t n = line_len(text, len);

		/*
		 * roff would read a line that begins with these as a request.
		 */
		if (*text == '.' || *text == '\'')
			gk_buf_puts(out, "\\&");
		add_inline(out, text, n);
		gk_buf_putc(out, '\n');
		text += n;
		len -= n;
		while (len && (*text == ' ' || *text == '\n')) {
			text++;
			len--;
		}
	}
}

void roff_paragraphs(struct gk_buf *out, const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t len = end ? (size_t)(end - text) : strlen(text);

		roff_text(out, text, len);
		text += len + strspn(text + len, "\n");
		if (*text)
			gk_buf_puts(out, ".PP\n");
	}
}

static bool is_placeholder(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isupper((unsigned char)word[i]) &&
		    !isdigit((unsigned char)word[i]))
			return false;
	return isupper((unsigned char)*word);
}

void roff_usage(struct gk_buf *out, const char *text, size_t len)
{
	for (size_t n; len; text += n, len -= n) {
		n = 0;
		while (n < len && (isalnum((unsigned char)text[n]) ||
				   (text[n] == '-' && text[n + 1] != '-') ||
				   (text[n] == '-' && n < 2)))
			n++;
		if (!n) {
			n = 1;
			roff_literal(out, text, 1);
		} else if (is_placeholder(text, n)) {
			gk_buf_puts(out, "\\fI");
			roff_literal(out, text, n);
			gk_buf_puts(out, "\\fR");
		} else {
			add_bold(out, text, n);
		}
	}
}
