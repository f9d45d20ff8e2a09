/* SPDX-License-Identifier: Apache-2.0 */
/* like_test.c - checks which word a mistyped text is taken for, and messages.
 */
#include "base/err.h"
#include "yaml/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const words[] = {"memory_mib", "power_limit_mw", "name",
				    NULL};

static void the_nearest_word_is_meant(void **state)
{
	(void)state;
	assert_string_equal(gk_yaml_like("nam", words), "name");
	assert_string_equal(gk_yaml_like("names", words), "name");
	assert_string_equal(gk_yaml_like("nmae", words), "name");
	assert_string_equal(gk_yaml_like("memory_mb", words), "memory_mib");
	assert_string_equal(gk_yaml_like("pwer_limit_mw", words),
			    "power_limit_mw");
	assert_null(gk_yaml_like("temperature", words));
	assert_null(gk_yaml_like("", words));
}

static void a_message_names_the_line_if_there_is_one(void **state)
{
	char message[100];
	struct gk_yaml y = {
	    .path = "a.yaml", .message = message, .cap = sizeof message};

	(void)state;
	assert_int_equal(gk_yaml_fail(&y, 7, "no %s", "name"), GK_ERR_INVALID);
	assert_string_equal(message, "a.yaml:7: no name");
	gk_yaml_fail(&y, 0, "no name");
	assert_string_equal(message, "a.yaml: no name");
}

static int never(void *data, const yaml_node_t *top)
{
	(void)data;
	(void)top;
	return 1;
}

static void a_file_that_cannot_be_read_has_no_line(void **state)
{
	char message[600];
	struct gk_yaml y = {.path = "/proc/self/mem/x",
			    .what = "profile",
			    .limit = 1000,
			    .message = message,
			    .cap = sizeof message};

	(void)state;
	assert_int_equal(gk_yaml_read(&y, never, NULL), GK_ERR_NOT_FOUND);
	assert_string_equal(message, "/proc/self/mem/x: Not a directory");
	y.path = "/"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	assert_int_not_equal(gk_yaml_read(&y, never, NULL), 0);
	assert_non_null(
	    strstr(message, ": cannot be read: File name too long"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_nearest_word_is_meant),
	    cmocka_unit_test(a_message_names_the_line_if_there_is_one),
	    cmocka_unit_test(a_file_that_cannot_be_read_has_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
