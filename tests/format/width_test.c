/* SPDX-License-Identifier: Apache-2.0 */
/* width_test.c - checks columns of UTF-8 text. */
#include "format/fixture.h"
#include "format/width.h"

#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define WIDE     "\xe6\xbc\xa2" /* one character of two columns */
#define ACCENT   "e\xcc\x81"    /* a letter and a combining accent */
#define BAD      "\xff"
#define REPLACED "\xef\xbf\xbd"

static void check(struct gk_buf *out, const char *wanted)
{
	assert_string_equal(out->data, wanted);
	gk_buf_free(out);
}

static void columns_are_not_bytes(void **state)
{
	(void)state;
	assert_int_equal(gk_columns("", 0), 0);
	assert_int_equal(gk_columns("abc", 3), 3);
	assert_int_equal(gk_columns(WIDE, 3), 2);
	assert_int_equal(gk_columns(ACCENT, 3), 1);
	assert_int_equal(gk_columns(BAD BAD, 2), 2);
	assert_int_equal(gk_fit(WIDE WIDE, 6, 3), 3);
	assert_int_equal(gk_fit("abc", 3, 2), 2);
	assert_int_equal(gk_fit_words("ab cd ef", 8, 7), 5);
	assert_int_equal(gk_fit_words("abcdef", 6, 4), 4);
	assert_int_equal(gk_fit_words("ab", 2, 9), 2);
	assert_int_equal(gk_fit_words(WIDE WIDE, 6, 1), 3);
}

static void cells_are_as_wide_as_asked(void **state)
{
	struct gk_buf out = {0};

	(void)state;
	gk_cell(&out, "ab", 4, GK_LEFT, "..");
	check(&out, "ab  ");
	gk_cell(&out, "ab", 4, GK_RIGHT, "..");
	check(&out, "  ab");
	gk_cell(&out, "ab", 5, GK_CENTER, "..");
	check(&out, " ab  ");
	gk_cell(&out, "abcdef", 4, GK_RIGHT, "..");
	check(&out, "ab..");
	gk_cell(&out, WIDE WIDE WIDE, 5, GK_LEFT, "..");
	check(&out, WIDE ".. ");
	gk_cell(&out, "a\x1b[31m", 8, GK_LEFT, "");
	check(&out, "a?[31m  ");
	gk_cell(&out, "a" BAD "b", 4, GK_LEFT, "");
	check(&out, "a" REPLACED "b ");
	gk_cell(&out, "abcdef", 1, GK_LEFT, "..");
	check(&out, ".");
	gk_cell_tail(&out, "NVIDIA A100", 7, "..");
	check(&out, ".. A100");
	gk_cell_tail(&out, "A100", 7, "..");
	check(&out, "A100   ");
}

static void ascii_keeps_the_shape(void **state)
{
	static const char text[] = "╒═╕│█▏ 35°C " WIDE BAD;
	struct gk_buf out = {0};

	(void)state;
	gk_add_ascii(&out, text, strlen(text));
	check(&out, "+=+||| 35 C ??");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(columns_are_not_bytes),
	    cmocka_unit_test(cells_are_as_wide_as_asked),
	    cmocka_unit_test(ascii_keeps_the_shape),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
