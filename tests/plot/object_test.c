/* SPDX-License-Identifier: Apache-2.0 */
/* object_test.c - checks parsing JSON objects of one level. */
#include "unit.h"

#include "base/err.h"
#include "plot/object.h"

#include <stdio.h>
#include <string.h>

static struct gk_csv_field keys[8], values[8];
static char text[256];
static size_t count;

static int split(const char *line)
{
	strcpy(text, line);
	return gk_object_split(text, text + strlen(text), keys, values, 8,
			       &count);
}

/* "key=value|key=value" */
static const char *pairs(void)
{
	static char all[512];
	size_t at = 0;

	for (size_t i = 0; i < count; i++)
		at += (size_t)snprintf(all + at, sizeof all - at, "%s%.*s=%.*s",
				       i ? "|" : "", (int)keys[i].len,
				       keys[i].text, (int)values[i].len,
				       values[i].text);
	return all;
}

static void keys_and_values_are_found(void **state)
{
	(void)state;
	assert_int_equal(
	    split("{\"a\":1,\"b\" : \"x,}y\" , \"c\":null,\"d\":-2.5}"), 0);
	assert_string_equal(pairs(), "a=1|b=x,}y|c=|d=-2.5");
}

static void escapes_become_what_they_mean(void **state)
{
	(void)state;
	assert_int_equal(split("{\"a\":\"\\\"\\\\\\/\\n\\u0041\\u00e9\\u20AC"
			       "\\ud83d\\ude00\"}"),
			 0);
	assert_string_equal(pairs(), "a=\"\\/\nA\xc3\xa9\xe2\x82\xac"
				     "\xf0\x9f\x98\x80");
}

static void keys_alone_change_nothing(void **state)
{
	char before[256];

	(void)state;
	strcpy(text, "{\"a\":\"x\\ny\",\"b\":2}");
	strcpy(before, text);
	assert_int_equal(
	    gk_object_split(text, text + strlen(text), keys, NULL, 8, &count),
	    0);
	assert_int_equal(count, 2);
	assert_string_equal(text, before);
}

static void what_is_no_such_object_is_refused(void **state)
{
	static const char *const lines[] = {
	    "",
	    "{",
	    "{}",
	    "{\"a\"}",
	    "{\"a\":}",
	    "{\"a\":1",
	    "{\"a\":1}x",
	    "{\"a\":[1]}",
	    "{\"a\":{\"b\":1}}",
	    "{\"a\":\"x}",
	    "{\"a\":\"\\x\"}",
	    "{\"a\":\"\\u12\"}",
	    "{\"a\":1 \"b\":2}",
	    "{\"a\":\"\\",
	    "[1]",
	    "{a:1}",
	    ("{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"8\":1,"
	     "\"9\":1}")};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (split(lines[i]) != GK_ERR_CORRUPT)
			fail_msg("taken: %s", lines[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keys_and_values_are_found),
	    cmocka_unit_test(escapes_become_what_they_mean),
	    cmocka_unit_test(keys_alone_change_nothing),
	    cmocka_unit_test(what_is_no_such_object_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
