/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_test.c - checks CSV rows: quotes, broken rows, rows across the border of
 * a block.
 */
#include "unit.h"

#include "base/err.h"
#include "plot/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int fd;
static struct gk_csv *csv;
static struct gk_csv_row row;

static void open_text(const char *text, size_t len)
{
	fd = memfd_create("csv", 0);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(gk_csv_open(fd, &csv), 0);
}

static void end(void)
{
	assert_int_equal(gk_csv_next(csv, &row), GK_ERR_NOT_FOUND);
	gk_csv_close(csv);
	close(fd);
}

/* The fields of the next row, separated by '|'. */
static const char *next(void)
{
	static char text[256];
	size_t at = 0;

	assert_int_equal(gk_csv_next(csv, &row), 0);
	for (size_t i = 0; i < row.count; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%.*s",
				       i ? "|" : "", (int)row.fields[i].len,
				       row.fields[i].text);
	return text;
}

#define OPEN(text) open_text(text, sizeof(text) - 1)

static void a_byte_order_mark_is_no_text(void **state)
{
	(void)state;
	OPEN("\xef\xbb\xbf\"a\",b\n\xef\xbb\xbf\n");
	assert_string_equal(next(), "a|b");
	assert_string_equal(next(), "\xef\xbb\xbf");
	end();
}

static void quotes_are_taken_off(void **state)
{
	(void)state;
	OPEN("a,b,c\r\n"
	     "1,\"x,y\",\"say \"\"hi\"\"\"\n"
	     ",\"\",\n"
	     "\"two\nlines\",\"cr\r\nlf\",z\n"
	     "last,1,2\n");
	assert_string_equal(next(), "a|b|c");
	assert_string_equal(next(), "1|x,y|say \"hi\"");
	assert_string_equal(next(), "||");
	assert_string_equal(next(), "two\nlines|cr\r\nlf|z");
	assert_int_equal(row.line, 4);
	assert_string_equal(next(), "last|1|2");
	assert_int_equal(row.line, 7);
	end();
}

static void the_guard_of_a_formula_is_taken_off(void **state)
{
	(void)state;
	OPEN("'=1+1,\"'@x,y\",''=z,'quoted',-5\n'-,'\n");
	assert_string_equal(next(), "=1+1|@x,y|'=z|'quoted'|-5");
	assert_string_equal(next(), "-|'");
	end();
}

static void a_broken_row_spoils_no_other(void **state)
{
	static const uint64_t lines[] = {2, 4, 6, 8};

	(void)state;
	OPEN("good,1\n"
	     "5\" disk,2\n"
	     "good,3\n"
	     "\"closed\"x,4\n"
	     "good,\"5\"\n"
	     "\"never closed,6\n"
	     "good,7\n"
	     "cut off,8");
	for (int i = 0; i < 4; i++) {
		char want[16];

		snprintf(want, sizeof want, "good|%d", 2 * i + 1);
		assert_string_equal(next(), want);
		assert_int_equal(gk_csv_next(csv, &row), GK_ERR_CORRUPT);
		assert_int_equal(row.line, lines[i]);
	}
	end();
}

static void rows_cross_the_border_of_blocks(void **state)
{
	enum { ROWS = 300000 };
	char *text = malloc(ROWS * 16), *at = text, want[16];

	(void)state;
	for (int i = 0; i < ROWS; i++)
		at += sprintf(at, "%06d,\"a\nb\"\n", i);
	open_text(text, (size_t)(at - text));
	for (int i = 0; i < ROWS; i++) {
		snprintf(want, sizeof want, "%06d|a\nb", i);
		assert_string_equal(next(), want);
		assert_int_equal(row.line, 2 * i + 1);
	}
	end();
	free(text);
}

static void a_row_without_end_is_left(void **state)
{
	size_t len = 3 << 20;
	char *text = malloc(len + 16);

	(void)state;
	memset(text, 'x', len);
	memcpy(text + len, "\ngood,1\n", 8);
	open_text(text, len + 8);
	assert_int_equal(gk_csv_next(csv, &row), GK_ERR_CORRUPT);
	assert_string_equal(next(), "good|1");
	assert_int_equal(row.line, 2);
	end();
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_byte_order_mark_is_no_text),
	    cmocka_unit_test(quotes_are_taken_off),
	    cmocka_unit_test(the_guard_of_a_formula_is_taken_off),
	    cmocka_unit_test(a_broken_row_spoils_no_other),
	    cmocka_unit_test(rows_cross_the_border_of_blocks),
	    cmocka_unit_test(a_row_without_end_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
