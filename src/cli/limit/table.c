/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - lays out tables of text. */
#include "cli/limit/table.h"
#include "base/assert.h"
#include "format/width.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS_MAX = 16, GAP = 2 };

void limit_cell(struct limit_table *table, const char *format, ...)
{
	char text[256], clean[256];
	va_list args;
	size_t len;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	len = gk_str_clean(clean, sizeof clean, text, strlen(text));
	gk_buf_add(&table->cells, clean, len + 1);
}

struct layout {
	size_t width[COLUMNS_MAX];
	bool left_out[COLUMNS_MAX];
};

static void measure_table(const struct limit_table *table,
			  struct layout *layout)
{
	const char *at = table->cells.data, *end = at + table->cells.len;

	for (size_t c = 0; c < table->count; c++)
		layout->width[c] = strlen(table->columns[c].title);
	for (size_t i = 0; at < end; i++, at += strlen(at) + 1) {
		size_t width = gk_columns(at, strlen(at));

		if (width > layout->width[i % table->count])
			layout->width[i % table->count] = width;
	}
}

static size_t sum_widths(const struct limit_table *table,
			 const struct layout *layout)
{
	size_t sum = 0;

	for (size_t c = 0; c < table->count; c++)
		if (!layout->left_out[c])
			sum += layout->width[c] + (sum ? GAP : 0);
	return sum;
}

/*
 * Leaves out the column that can best be spared. Returns false if the remaining
 * columns are all needed.
 */
static bool leave_one_out(const struct limit_table *table,
			  struct layout *layout)
{
	size_t next = 0;

	for (size_t c = 1; c < table->count; c++)
		if (!layout->left_out[c] &&
		    (layout->left_out[next] ||
		     table->columns[c].spare > table->columns[next].spare))
			next = c;
	if (!table->columns[next].spare)
		return false;
	layout->left_out[next] = true;
	return true;
}

/*
 * Narrows the first column if space is missing, because a shortened number in
 * another column would be wrong.
 */
static void cut_first(const struct limit_table *table, struct layout *layout,
		      size_t most)
{
	size_t all = sum_widths(table, layout);
	size_t missing = all > most ? all - most : 0;

	if (!table->columns[0].right && missing < layout->width[0])
		layout->width[0] -= missing;
}

static bool is_last(const struct limit_table *table,
		    const struct layout *layout, size_t column)
{
	for (size_t c = column + 1; c < table->count; c++)
		if (!layout->left_out[c])
			return false;
	return true;
}

static void put_cell(const struct limit_table *table,
		     const struct layout *layout, struct gk_buf *out,
		     size_t column, const char *text)
{
	size_t len = gk_fit(text, strlen(text), layout->width[column]);
	size_t width = gk_columns(text, len);
	size_t blanks = layout->width[column] - width;
	bool right = table->columns[column].right;
	bool last = is_last(table, layout, column);

	if (layout->left_out[column])
		return;
	gk_buf_pad(out, ' ', right ? blanks : 0);
	gk_buf_add(out, text, len);
	gk_buf_pad(out, ' ', last ? 0 : GAP + (right ? 0 : blanks));
}

/* Ends a line, cut off at `most` columns. */
static void end_line(struct gk_buf *out, struct gk_buf *line, size_t most)
{
	gk_buf_add(out, line->data, gk_fit(line->data, line->len, most));
	gk_buf_putc(out, '\n');
	line->len = 0;
}

void limit_table_end(struct limit_table *table, struct gk_buf *out, size_t most)
{
	const char *at = table->cells.data, *end = at + table->cells.len;
	struct layout layout = {0};
	struct gk_buf line = {0};

	GK_ASSERT(table->count && table->count <= COLUMNS_MAX);
	measure_table(table, &layout);
	while (sum_widths(table, &layout) > most &&
	       leave_one_out(table, &layout))
		;
	cut_first(table, &layout, most);
	for (size_t c = 0; c < table->count; c++)
		put_cell(table, &layout, &line, c, table->columns[c].title);
	end_line(out, &line, most);
	for (size_t i = 0; at < end; i++, at += strlen(at) + 1) {
		put_cell(table, &layout, &line, i % table->count, at);
		if (i % table->count == table->count - 1)
			end_line(out, &line, most);
	}
	out->failed |= table->cells.failed | line.failed;
	gk_buf_free(&line);
	gk_buf_free(&table->cells);
}
