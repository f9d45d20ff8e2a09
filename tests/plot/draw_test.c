/* SPDX-License-Identifier: Apache-2.0 */
/* draw_test.c - checks running gnuplot, with a shell script in its place. */
#include "unit.h"

#include "base/err.h"
#include "plot/draw.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/gpukit-draw-XXXXXX";
static struct gk_buf script, picture, complaint;
static char *path_before;

static int set_up(void **state)
{
	(void)state;
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	assert_non_null(mkdtemp(dir));
	path_before = strdup(getenv("PATH"));
	gk_buf_puts(&script, "plot sin(x)\n");
	return 0;
}

static int tear_down(void **state)
{
	char name[64];

	(void)state;
	setenv("PATH", path_before, 1);
	free(path_before);
	gk_buf_free(&script);
	gk_buf_free(&picture);
	gk_buf_free(&complaint);
	snprintf(name, sizeof name, "%s/gnuplot", dir);
	unlink(name);
	return rmdir(dir);
}

/* Draws with this as gnuplot. */
static int draw_with(const char *lines)
{
	char text[256];
	FILE *file;

	snprintf(text, sizeof text, "%s/gnuplot", dir);
	file = fopen(text, "w");
	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", lines);
	fclose(file);
	assert_int_equal(chmod(text, 0700), 0);
	snprintf(text, sizeof text, "%s:/usr/bin:/bin", dir);
	setenv("PATH", text, 1);
	return gk_plot_draw(&script, &picture, &complaint);
}

static void the_picture_comes_from_the_script(void **state)
{
	(void)state;
	assert_int_equal(draw_with("echo \"$*\"; cat; echo warning >&2"), 0);
	assert_string_equal(picture.data, "-persist -\nplot sin(x)\n");
	assert_int_equal(complaint.len, 0);
}

static void a_failure_has_its_message(void **state)
{
	(void)state;
	assert_int_equal(draw_with("echo line 0: unknown >&2; exit 3"),
			 GK_ERR_CORRUPT);
	assert_string_equal(complaint.data, "line 0: unknown\n");
	assert_int_equal(picture.len, 0);
	assert_int_equal(draw_with("kill -9 $$"), GK_ERR_CORRUPT);
}

static void without_gnuplot_nothing_is_found(void **state)
{
	(void)state;
	setenv("PATH", dir, 1);
	assert_int_equal(gk_plot_draw(&script, &picture, &complaint),
			 GK_ERR_NOT_FOUND);
}

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void no_file_stays_open(void **state)
{
	int before = count_descriptors();

	(void)state;
	assert_int_equal(draw_with("exit 0"), 0);
	assert_int_equal(draw_with("exit 1"), GK_ERR_CORRUPT);
	assert_int_equal(count_descriptors(), before);
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(the_picture_comes_from_the_script),
	    TEST(a_failure_has_its_message),
	    TEST(without_gnuplot_nothing_is_found),
	    TEST(no_file_stays_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
