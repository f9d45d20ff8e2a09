/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str_test.c - checks text: the growing buffer, UTF-8, cleaning of foreign
 * bytes.
 */
#include "unit.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* A sanitizer would end the program where malloc() should return NULL. */
#define SEEN __attribute__((visibility("default")))
SEEN const char *__asan_default_options(void);
SEEN const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}

#define REPLACED "\xef\xbf\xbd" /* U+FFFD */

static void a_buffer_grows_and_stays_terminated(void **state)
{
	struct gk_buf buf = {0};

	(void)state;
	for (int i = 0; i < 1000; i++) {
		gk_buf_printf(&buf, "%d,", i % 10);
		assert_int_equal(buf.data[buf.len], '\0');
	}
	assert_int_equal(buf.len, 2000);
	assert_int_equal(strlen(buf.data), 2000);
	assert_memory_equal(buf.data + 1990, "5,6,7,8,9,", 10);
	assert_true(buf.cap > buf.len);
	gk_buf_free(&buf);
	assert_null(buf.data);
	assert_int_equal(buf.len, 0);
}

static void a_buffer_takes_any_bytes(void **state)
{
	struct gk_buf buf = {0};

	(void)state;
	gk_buf_add(&buf, NULL, 0);
	assert_string_equal(buf.data, "");
	gk_buf_add(&buf, "a\0b", 3);
	gk_buf_putc(&buf, '!');
	gk_buf_pad(&buf, '-', 3);
	gk_buf_pad(&buf, '+', 0);
	gk_buf_puts(&buf, "end");
	assert_int_equal(buf.len, 10);
	assert_memory_equal(buf.data, "a\0b!---end", 11);
	gk_buf_free(&buf);
}

static void a_long_print_fits_exactly(void **state)
{
	char text[5000];

	(void)state;
	memset(text, 'x', sizeof text);
	/* Around the sizes at which the buffer grows. */
	for (size_t len = 250; len < 260; len++) {
		struct gk_buf buf = {0};

		gk_buf_printf(&buf, "%.*s", (int)len, text);
		assert_int_equal(strlen(buf.data), len);
		gk_buf_free(&buf);
	}
	for (size_t len = 4090; len < 4100; len++) {
		struct gk_buf buf = {0};

		gk_buf_printf(&buf, "%.*s", (int)len, text);
		gk_buf_printf(&buf, "%s", "");
		assert_int_equal(strlen(buf.data), len);
		gk_buf_free(&buf);
	}
}

static void a_buffer_that_cannot_grow_says_so_once(void **state)
{
	struct gk_buf buf = {0};

	(void)state;
	gk_buf_puts(&buf, "kept");
	gk_buf_pad(&buf, 'x', SIZE_MAX / 4);
	assert_true(buf.failed);
	assert_string_equal(buf.data, "kept");
	gk_buf_puts(&buf, "lost");
	gk_buf_printf(&buf, "%d", 1);
	gk_buf_putc(&buf, 'c');
	assert_string_equal(buf.data, "kept");
	assert_int_equal(buf.len, 4);
	gk_buf_free(&buf);
	assert_false(buf.failed);
}

/* A length that overflows must not become a small one. */
static void a_size_that_overflows_is_a_failure(void **state)
{
	struct gk_buf buf = {0};

	(void)state;
	gk_buf_puts(&buf, "kept");
	gk_buf_pad(&buf, 'x', SIZE_MAX - 4);
	assert_true(buf.failed);
	gk_buf_free(&buf);
	gk_buf_pad(&buf, 'x', SIZE_MAX - 1);
	assert_true(buf.failed);
	assert_null(buf.data);
	gk_buf_free(&buf);
}

static const struct {
	const char *bytes;
	size_t left, len;
} sequences[] = {
    {"", 0, 0},
    {"a", 1, 1},
    {"\0", 1, 1},
    {"\x7f", 1, 1},
    {"\x80", 1, 0}, /* a continuation byte first */
    {"\xbf\x80", 2, 0},
    {"\xc0\x80", 2, 0}, /* NUL, overlong */
    {"\xc1\xbf", 2, 0},
    {"\xc2\x80", 2, 2}, /* U+0080 */
    {"\xc2", 1, 0},     /* cut */
    {"\xc2\x41", 2, 0},
    {"\xdf\xbf", 2, 2},     /* U+07FF */
    {"\xe0\x9f\xbf", 3, 0}, /* overlong */
    {"\xe0\xa0\x80", 3, 3}, /* U+0800 */
    {"\xe2\x82\xac", 3, 3}, /* euro sign */
    {"\xe2\x82\xac", 2, 0}, /* cut */
    {"\xe2\x82\x41", 3, 0},
    {"\xed\x9f\xbf", 3, 3}, /* U+D7FF */
    {"\xed\xa0\x80", 3, 0}, /* surrogate */
    {"\xed\xbf\xbf", 3, 0},
    {"\xee\x80\x80", 3, 3}, /* U+E000 */
    {"\xef\xbf\xbf", 3, 3},
    {"\xf0\x8f\xbf\xbf", 4, 0}, /* overlong */
    {"\xf0\x90\x80\x80", 4, 4}, /* U+10000 */
    {"\xf0\x9f\x98\x80", 4, 4},
    {"\xf0\x9f\x98\x80", 3, 0}, /* cut */
    {"\xf0\x9f\x98\x20", 4, 0},
    {"\xf4\x8f\xbf\xbf", 4, 4}, /* U+10FFFF */
    {"\xf4\x90\x80\x80", 4, 0}, /* beyond Unicode */
    {"\xf5\x80\x80\x80", 4, 0},
    {"\xff", 1, 0},
};

static void utf8_is_told_from_other_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(sequences); i++) {
		/* On the heap at its exact size, for the sanitizer. */
		char *exact = malloc(sequences[i].left + 1);

		memcpy(exact, sequences[i].bytes, sequences[i].left);
		exact =
		    realloc(exact, sequences[i].left ? sequences[i].left : 1);
		if (gk_utf8_len(exact, sequences[i].left) != sequences[i].len)
			fail_msg("row %zu", i);
		free(exact);
	}
}

static const struct {
	const char *src;
	size_t len;
	const char *clean;
} texts[] = {
    {"", 0, ""},
    {"plain text", 10, "plain text"},
    {"\x1b[31mred", 8, "?[31mred"},
    {"a\tb\nc\rd", 7, "a?b?c?d"},
    {"a\0b", 3, "a?b"},
    {"\x7f", 1, "?"},
    {"\xc2\x9b"
     "31m",
     5, "?31m"}, /* CSI as C1 in UTF-8 */
    {"\xc2\x80\xc2\x9f\xc2\xa0", 6, "??\xc2\xa0"},
    {"\x9b", 1, REPLACED}, /* C1 as a bare byte */
    {"\xff\xfe", 2, REPLACED REPLACED},
    {"gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f"},
    {"\xe2\x82", 2, REPLACED REPLACED}, /* cut at the end */
    {"\xe2\x82"
     "A",
     3, REPLACED REPLACED "A"},
    {"\xed\xa0\x80", 3, REPLACED REPLACED REPLACED},
    {"\xf0\x9f\x98\x80!", 5, "\xf0\x9f\x98\x80!"},
};

static void foreign_text_comes_out_printable(void **state)
{
	char out[64];

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		size_t n =
		    gk_str_clean(out, sizeof out, texts[i].src, texts[i].len);

		assert_string_equal(out, texts[i].clean);
		assert_int_equal(n, strlen(texts[i].clean));
	}
}

/* Encodes c as UTF-8, including surrogates, which are invalid. */
static size_t encode(char *dst, uint32_t c)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = n; i-- > 1; c >>= 6)
		dst[i] = (char)(0x80 | (c & 0x3f));
	dst[0] = (char)(first[n] | c);
	return n;
}

static void hidden_characters_are_seen(void **state)
{
	static const struct {
		uint32_t first, last;
		bool hidden;
	} rows[] = {
	    {0x00, 0x1f, true},        {0x20, 0x7e, false},
	    {0x7f, 0x9f, true},        {0xa0, 0xac, false},
	    {0xad, 0xad, true},        {0x61c, 0x61c, true},
	    {0x5d0, 0x5ea, false},     {0x620, 0x64a, false},
	    {0x200a, 0x200a, false},   {0x200b, 0x200f, true},
	    {0x2010, 0x2027, false},   {0x2028, 0x2029, true},
	    {0x202a, 0x202e, true},    {0x202f, 0x205f, false},
	    {0x2060, 0x2064, true},    {0x2066, 0x2069, true},
	    {0x2070, 0x2071, false},   {0x2500, 0x25ff, false},
	    {0x3131, 0x3163, false},   {0x3164, 0x3164, true},
	    {0xfeff, 0xfeff, true},    {0xfffd, 0xfffd, false},
	    {0x1f600, 0x1f64f, false}, {0xe0000, 0xe007f, true},
	    {0xe0100, 0xe01ef, true},  {0x10ffff, 0x10ffff, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (uint32_t c = rows[i].first; c <= rows[i].last; c++) {
			char src[4], out[8];
			size_t n = encode(src, c);

			assert_int_equal(gk_utf8_len(src, n), n);
			assert_int_equal(gk_utf8_decode(src, n), c);
			if (gk_utf8_hidden(src, n) != rows[i].hidden)
				fail_msg("U+%04X", (unsigned)c);
			gk_str_clean(out, sizeof out, src, n);
			assert_int_equal(!strcmp(out, "?"),
					 rows[i].hidden || c == '?');
		}
}

/* Whatever the room is: a prefix of the whole, cut between characters. */
static void cutting_never_splits_a_character(void **state)
{
	static const char src[] = "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\xff z";
	char whole[64];
	size_t all = gk_str_clean(whole, sizeof whole, src, sizeof src - 1);

	(void)state;
	for (size_t cap = 1; cap <= all + 2; cap++) {
		char *out = malloc(cap);
		size_t n = gk_str_clean(out, cap, src, sizeof src - 1);

		assert_true(n < cap);
		assert_int_equal(out[n], '\0');
		assert_memory_equal(out, whole, n);
		for (size_t i = 0; i < n;) {
			size_t len = gk_utf8_len(out + i, n - i);

			assert_int_not_equal(len, 0);
			i += len;
		}
		/*
		 * Nothing is cut that had room: a character has at most 4
		 * bytes.
		 */
		assert_true(n == all || n + 4 >= cap);
		free(out);
	}
}

/*
 * Every pair of bytes gives valid text without control characters, never too
 * long.
 */
static void any_two_bytes_come_out_harmless(void **state)
{
	(void)state;
	for (unsigned pair = 0; pair < 65536; pair++) {
		const char src[2] = {(char)(pair >> 8), (char)pair};
		char out[16];
		size_t n = gk_str_clean(out, sizeof out, src, 2);

		assert_true(n >= 1 && n <= 6);
		for (size_t i = 0; i < n;) {
			const unsigned char *u = (unsigned char *)out + i;
			size_t len = gk_utf8_len(out + i, n - i);

			assert_true(len > 0 && *u >= 0x20 && *u != 0x7f);
			assert_false(*u == 0xc2 && u[1] < 0xa0);
			i += len;
		}
	}
}

static void a_copy_is_cut_and_tells_the_whole_length(void **state)
{
	char out[4] = "xyz";

	(void)state;
	assert_int_equal(gk_str_copy(out, sizeof out, "ab"), 2);
	assert_string_equal(out, "ab");
	assert_int_equal(gk_str_copy(out, sizeof out, "abcdef"), 6);
	assert_string_equal(out, "abc");
	assert_int_equal(gk_str_copy(out, 1, "abc"), 3);
	assert_string_equal(out, "");
	out[0] = 'q';
	assert_int_equal(gk_str_copy(out, 0, "abc"), 3);
	assert_int_equal(out[0], 'q');
}

/* Whatever the memory contained: the text ends after what was added. */
static void a_text_ends_with_a_nul_after_each_addition(void **state)
{
	struct gk_buf buf = {0};

	(void)state;
	gk_buf_puts(&buf, "");
	memset(buf.data, '#', buf.cap);
	gk_buf_pad(&buf, '-', 3);
	assert_string_equal(buf.data, "---");
	memset(buf.data + 3, '#', buf.cap - 3);
	gk_buf_putc(&buf, 'a');
	assert_string_equal(buf.data, "---a");
	memset(buf.data + 4, '#', buf.cap - 4);
	gk_buf_printf(&buf, "%d", 12);
	assert_string_equal(buf.data, "---a12");
	assert_int_equal(buf.len, 6);
	gk_buf_free(&buf);
}

/* By its first character after apostrophes, in both widths. */
static void a_formula_is_one_by_its_first_sign(void **state)
{
	static const char *const formulas[] = {
	    "=1",   "+1",      "-1",     "@a",      "'=1",
	    "''+1", "\uff1d1", "\uff0b", "\uff0d1", "'\uff20a"};
	static const char *const plain[] = {"",    "'",  "1=2",     "a",
					    "a+b", " =", "\uff0c1", "\uff1e"};

	(void)state;
	for (size_t i = 0; i < COUNT(formulas); i++) {
		size_t len = strlen(formulas[i]);

		assert_true(gk_str_is_formula(formulas[i], len));
	}
	for (size_t i = 0; i < COUNT(plain); i++)
		assert_false(gk_str_is_formula(plain[i], strlen(plain[i])));
	assert_false(gk_str_is_formula("=", 0));
	assert_false(gk_str_is_formula("'=", 1));
	assert_false(gk_str_is_formula("\uff1d", 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_text_ends_with_a_nul_after_each_addition),
	    cmocka_unit_test(a_formula_is_one_by_its_first_sign),
	    cmocka_unit_test(a_buffer_grows_and_stays_terminated),
	    cmocka_unit_test(a_buffer_takes_any_bytes),
	    cmocka_unit_test(a_long_print_fits_exactly),
	    cmocka_unit_test(a_buffer_that_cannot_grow_says_so_once),
	    cmocka_unit_test(a_size_that_overflows_is_a_failure),
	    cmocka_unit_test(utf8_is_told_from_other_bytes),
	    cmocka_unit_test(foreign_text_comes_out_printable),
	    cmocka_unit_test(hidden_characters_are_seen),
	    cmocka_unit_test(cutting_never_splits_a_character),
	    cmocka_unit_test(any_two_bytes_come_out_harmless),
	    cmocka_unit_test(a_copy_is_cut_and_tells_the_whole_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
