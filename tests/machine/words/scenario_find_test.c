/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_find_test.c - checks finding scenarios by name and by path, in
 * several directories.
 */
#include "unit.h"

#include "base/err.h"
#include "base/str.h"
#include "machine/words/scenario_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two directories of scenarios, with other files among them. */
static const char *const files[] = {
    "one/b.yaml",   "one/a.yaml", "one/.hidden.yaml", "one/.yaml",
    "one/text.txt", "one/a.yml",  "other/a.yaml",     "other/c.yaml"};

static char root[64], one[80], other[80], absent[80];

static int setup(void **state)
{
	char path[128];

	(void)state;
	snprintf(root, sizeof root, "/dev/shm/gpukit-test-%d-XXXXXX", getpid());
	assert_non_null(mkdtemp(root));
	snprintf(one, sizeof one, "%s/one", root);
	snprintf(other, sizeof other, "%s/other", root);
	snprintf(absent, sizeof absent, "%s/absent", root);
	assert_int_equal(mkdir(one, 0700), 0);
	assert_int_equal(mkdir(other, 0700), 0);
	for (size_t i = 0; i < COUNT(files); i++) {
		FILE *f;

		snprintf(path, sizeof path, "%s/%s", root, files[i]);
		f = fopen(path, "w");
		assert_non_null(f);
		fclose(f);
	}
	return 0;
}

static int teardown(void **state)
{
	char path[128];

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		snprintf(path, sizeof path, "%s/%s", root, files[i]);
		unlink(path);
	}
	rmdir(one);
	rmdir(other);
	rmdir(root);
	return 0;
}

static void all_of_all_directories_are_listed(void **state)
{
	const char *const dirs[] = {one, absent, other, NULL};
	char expected[512];
	struct gk_buf paths = {0};
	int n = snprintf(expected, sizeof expected,
			 "%s/a.yaml|%s/b.yaml|%s/a.yaml|%s/c.yaml|", one, one,
			 other, other);

	(void)state;
	gkf_scenario_list(dirs, &paths);
	assert_int_equal(paths.len, n);
	for (size_t i = 0; i < paths.len; i++)
		if (!paths.data[i])
			paths.data[i] = '|';
	assert_memory_equal(paths.data, expected, (size_t)n);
	gk_buf_free(&paths);
}

static void a_name_is_a_file_of_the_first_directory_that_has_it(void **state)
{
	const char *const dirs[] = {absent, one, other, NULL};
	const struct {
		const char *name, *dir;
	} cases[] = {{"a", one}, {"b", one}, {"c", other}};
	char path[256], expected[256], message[256];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(gkf_scenario_find(dirs, cases[i].name, path,
						   sizeof path, message,
						   sizeof message),
				 0);
		snprintf(expected, sizeof expected, "%s/%s.yaml", cases[i].dir,
			 cases[i].name);
		assert_string_equal(path, expected);
	}
}

/* Whether the file exists or not. */
static void a_path_is_taken_as_it_is(void **state)
{
	static const char *const names[] = {"./a", "/", "x.yaml", "sub/b",
					    "a/b.yaml"};
	const char *const dirs[] = {one, NULL};
	char path[256], message[256];

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		assert_int_equal(gkf_scenario_find(dirs, names[i], path,
						   sizeof path, message,
						   sizeof message),
				 0);
		assert_string_equal(path, names[i]);
	}
}

static void expect_none(const char *const *dirs, const char *name,
			size_t path_cap, const char *expected)
{
	char path[256], message[512];

	assert_int_equal(gkf_scenario_find(dirs, name, path, path_cap, message,
					   sizeof message),
			 GK_ERR_NOT_FOUND);
	assert_string_equal(message, expected);
}

static void what_is_not_there_is_told_with_what_is(void **state)
{
	const char *const dirs[] = {one, other, NULL};
	const char *const none[] = {absent, NULL};

	(void)state;
#define THERE "there are a, b, a, c, or give the path of a .yaml file"
	expect_none(dirs, "d", 256, "no scenario 'd'; " THERE);
	expect_none(dirs, "", 256, "no scenario ''; " THERE);
	expect_none(dirs, ".yaml", 256, "no scenario '.yaml'; " THERE);
	expect_none(dirs, "a\033[31m", 256, "no scenario 'a?[31m'; " THERE);
	expect_none(none, "a", 256,
		    "no scenario 'a'; there are none, or give the path of a "
		    ".yaml file");
}

static void a_path_must_fit(void **state)
{
	const char *const dirs[] = {one, NULL};
	const char *const none[] = {NULL};
	const size_t len = strlen(one) + strlen("/a.yaml");
	char path[256], message[256];

	(void)state;
	assert_int_equal(gkf_scenario_find(dirs, "a", path, len + 1, message,
					   sizeof message),
			 0);
	expect_none(dirs, "a", len,
		    "no scenario 'a'; there are a, b, or give the path of a "
		    ".yaml file");
	assert_int_equal(
	    gkf_scenario_find(none, "./x", path, 4, message, sizeof message),
	    0);
	expect_none(none, "./x", 3,
		    "no scenario './x'; there are none, or give the path of a "
		    ".yaml file");
}

static void a_small_message_buffer_is_kept(void **state)
{
	const char *const dirs[] = {one, NULL};
	char path[256], message[8] = "xxxxxxx";

	(void)state;
	assert_int_equal(
	    gkf_scenario_find(dirs, "d", path, sizeof path, message, 0),
	    GK_ERR_NOT_FOUND);
	assert_string_equal(message, "xxxxxxx");
	assert_int_equal(
	    gkf_scenario_find(dirs, "d", path, sizeof path, message, 5),
	    GK_ERR_NOT_FOUND);
	assert_string_equal(message, "no s");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_of_all_directories_are_listed),
	    cmocka_unit_test(
		a_name_is_a_file_of_the_first_directory_that_has_it),
	    cmocka_unit_test(a_path_is_taken_as_it_is),
	    cmocka_unit_test(what_is_not_there_is_told_with_what_is),
	    cmocka_unit_test(a_path_must_fit),
	    cmocka_unit_test(a_small_message_buffer_is_kept),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
