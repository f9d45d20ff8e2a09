/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.c - reads the rows of a CSV file. A row is split into fields once the
 * buffer contains all of it.
 */
#include "plot/csv.h"
#include "plot/object.h"

#include "base/err.h"
#include "base/str.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The size of the block. It limits the length of a row; recorders truncate
 * command lines to 64 KiB.
 */
#define BLOCK      (1 << 20)
#define FIELDS_MAX 512

struct gk_csv {
	int fd;
	/* skipping: ignores the rest of a line that is longer than the block */
	bool ended, skipping;
	uint64_t line; /* number of the line that begins at `at` */
	char *at, *end;
	bool begun, json;
	uint64_t keys; /* hash of the keys that were last found in a JSON
			* file */
	struct gk_csv_field fields[FIELDS_MAX], values[FIELDS_MAX];
	char block[BLOCK];
};

int gk_csv_open(int fd, struct gk_csv **ret_csv)
{
	struct gk_csv *csv = malloc(sizeof *csv);

	if (!csv)
		return GK_ERR_NOMEM;
	csv->fd = fd;
	csv->ended = csv->skipping = csv->begun = csv->json = false;
	csv->keys = 0;
	csv->line = 1;
	csv->at = csv->end = csv->block;
	*ret_csv = csv;
	return 0;
}

void gk_csv_close(struct gk_csv *csv)
{
	free(csv);
}

/*
 * Moves the unread part to the start of the block and reads more. *ret_more is
 * false at the end of the file or if the block is full.
 */
static int fill_buffer(struct gk_csv *csv, bool *ret_more)
{
	size_t left = (size_t)(csv->end - csv->at);
	ssize_t n;

	memmove(csv->block, csv->at, left);
	csv->at = csv->block;
	csv->end = csv->block + left;
	*ret_more = false;
	if (csv->ended || left == BLOCK)
		return 0;
	do
		n = read(csv->fd, csv->end, BLOCK - left);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return gk_err_from_errno(errno);
	csv->ended = !n;
	csv->end += n;
	*ret_more = n > 0;
	return 0;
}

/*
 * Returns the newline that ends the row (one outside quotes), or NULL if the
 * block has none.
 */
static char *row_end(const struct gk_csv *csv)
{
	char *p = csv->at;

	if (csv->json)
		return memchr(p, '\n', (size_t)(csv->end - p));
	for (;;) {
		char *newline = memchr(p, '\n', (size_t)(csv->end - p));
		char *stop = newline ? newline : csv->end;
		char *quote = memchr(p, '"', (size_t)(stop - p));

		if (!quote)
			return newline;
		quote = memchr(quote + 1, '"', (size_t)(csv->end - quote - 1));
		if (!quote)
			return NULL;
		p = quote + 1;
	}
}

/*
 * Returns the end of the field at p: a comma or `end`. Returns NULL if the
 * field is malformed.
 */
static char *field_end(char *p, char *end)
{
	char *comma;

	if (p == end || *p != '"') {
		comma = memchr(p, ',', (size_t)(end - p));
		comma = comma ? comma : end;
		return memchr(p, '"', (size_t)(comma - p)) ? NULL : comma;
	}
	do {
		p = memchr(p + 1, '"', (size_t)(end - p - 1));
		if (!p)
			return NULL;
		p++;
	} while (p < end && *p == '"');
	return p == end || *p == ',' ? p : NULL;
}

/* Removes a field's quotes in place. */
static void unquote_field(struct gk_csv_field *field, char *text)
{
	char *to = text, *end = text + field->len - 1;

	for (char *p = text + 1; p < end; p++) {
		p += *p == '"';
		*to++ = *p;
	}
	field->len = (size_t)(to - text);
}

/* Removes the apostrophe that prevents a spreadsheet from evaluating a text. */
static void unguard_field(struct gk_csv_field *field)
{
	if (field->len < 2 || field->text[0] != '\'' ||
	    !gk_str_is_formula(field->text, field->len))
		return;
	field->text++;
	field->len--;
}

/*
 * Splits a row. Changes the text only once the whole row is known to be valid.
 */
static int split_row(struct gk_csv *csv, char *end, struct gk_csv_row *row)
{
	char *p = csv->at, *stop;

	for (row->count = 0;; p = stop + 1) {
		stop = field_end(p, end);
		if (!stop || row->count == FIELDS_MAX)
			return GK_ERR_CORRUPT;
		csv->fields[row->count++] =
		    (struct gk_csv_field){p, (size_t)(stop - p)};
		if (stop == end)
			break;
	}
	for (size_t i = 0; i < row->count; i++) {
		if (csv->fields[i].len && csv->fields[i].text[0] == '"')
			unquote_field(&csv->fields[i],
				      csv->block +
					  (csv->fields[i].text - csv->block));
		unguard_field(&csv->fields[i]);
	}
	return 0;
}

static uint64_t lines_in(const char *p, const char *end)
{
	uint64_t n = 0;

	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		n++;
		p++;
	}
	return n;
}

/* Skips the first line of a broken row, so that reading continues after it. */
static int skip_broken_line(struct gk_csv *csv)
{
	char *newline = memchr(csv->at, '\n', (size_t)(csv->end - csv->at));

	csv->at = newline ? newline + 1 : csv->end;
	csv->skipping = !newline;
	csv->line++;
	return GK_ERR_CORRUPT;
}

static int skip_rest(struct gk_csv *csv)
{
	bool more = true;
	int r = 0;

	while (csv->skipping && more && !r) {
		char *newline =
		    memchr(csv->at, '\n', (size_t)(csv->end - csv->at));

		csv->at = newline ? newline + 1 : csv->end;
		csv->skipping = !newline;
		if (!newline)
			r = fill_buffer(csv, &more);
	}
	return r;
}

/* Skips the byte order mark that some editors write. */
static void skip_mark(struct gk_csv *csv, const char *end)
{
	static const char mark[] = "\xef\xbb\xbf";

	if (csv->line == 1 && end - csv->at >= 3 && !memcmp(csv->at, mark, 3))
		csv->at += 3;
}

/* Computes the FNV-1a hash of all keys, including where each one ends. */
static uint64_t hash_of_keys(const struct gk_csv *csv, size_t count)
{
	uint64_t hash = 14695981039346656037ULL;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k <= csv->fields[i].len; k++) {
			bool more = k < csv->fields[i].len;
			unsigned char byte =
			    more ? (unsigned char)csv->fields[i].text[k] : 0;

			hash = (hash ^ byte) * 1099511628211ULL;
		}
	return hash;
}

/*
 * Splits a JSON object. If its keys are new, returns them as a row of titles
 * and sets *ret_keys; the next call then returns the values of the same line.
 */
static int split_object(struct gk_csv *csv, const char *end,
			struct gk_csv_row *row, bool *ret_keys)
{
	uint64_t keys;
	int r = gk_object_split(csv->at, end, csv->fields, NULL, FIELDS_MAX,
				&row->count);

	if (r)
		return r;
	keys = hash_of_keys(csv, row->count);
	*ret_keys = keys != csv->keys;
	csv->keys = keys;
	if (*ret_keys)
		return 0;
	row->fields = csv->values;
	return gk_object_split(csv->at, end, csv->fields, csv->values,
			       FIELDS_MAX, &row->count);
}

/* Detects the kind of file from its first byte. */
static int begin_file(struct gk_csv *csv)
{
	bool more = true;
	int r = 0;

	if (!csv->begun && csv->at == csv->end)
		r = fill_buffer(csv, &more);
	csv->json = csv->begun ? csv->json : more && *csv->at == '{';
	csv->begun = true;
	return r;
}

int gk_csv_next(struct gk_csv *csv, struct gk_csv_row *row)
{
	bool more = true, again = false;
	char *end, *text_end;
	int r = begin_file(csv);

	if (!r)
		r = skip_rest(csv);
	if (r)
		return r;

	while (!(end = row_end(csv)) && more) {
		r = fill_buffer(csv, &more);
		if (r)
			return r;
	}
	row->line = csv->line;
	if (!end && csv->at == csv->end)
		return GK_ERR_NOT_FOUND;
	/* Recorders end each row with a newline, so this row was cut off. */
	if (!end)
		return skip_broken_line(csv);
	skip_mark(csv, end);
	text_end = end > csv->at && end[-1] == '\r' ? end - 1 : end;
	row->fields = csv->fields;
	if (csv->json ? split_object(csv, text_end, row, &again)
		      : split_row(csv, text_end, row))
		return skip_broken_line(csv);
	if (again)
		return 0;
	csv->line += lines_in(csv->at, end + 1);
	csv->at = end + 1;
	return 0;
}
