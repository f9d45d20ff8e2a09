/* SPDX-License-Identifier: Apache-2.0 */
/* environ_test.c - checks the environment screen: sorting, reading, looks. */
#include "tui/screen.h"

#include "base/fs.h"
#include "base/pidstat.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct screen s;

/* ---- a /proc with one process ---- */

static char root[] = "/tmp/gpukit-environ-XXXXXX";
static int proc = -1;

static void write_file(const char *name, const char *bytes, size_t len)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "%s/77/%s", root, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

#define STAT                                                                   \
	"77 (python3) S 1 77 77 0 -1 0 0 0 0 0 5 6 0 0 20 0 3 0 4200 1000 "    \
	"25 0\n"

static int begin(void **state)
{
	char path[64];

	(void)state;
	screen_begin(&s, 12, 60);
	strcpy(root + strlen(root) - 6, "XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof path, "%s/77", root);
	mkdir(path, 0700);
	write_file("stat", STAT, sizeof STAT - 1);
	proc = open(root, O_RDONLY | O_DIRECTORY);
	s.t.environ.who = (struct tui_tag){77, 4200};
	return proc < 0;
}

static int end(void **state)
{
	char command[64];

	(void)state;
	close(proc);
	tui_environ_free(&s.t.environ);
	screen_end(&s);
	snprintf(command, sizeof command, "rm -r %s", root);
	return system(command);
}

#define SET(literal) write_file("environ", literal, sizeof(literal))

static void it_is_sorted_and_made_printable(void **state)
{
	struct tui_environ *e = &s.t.environ;

	(void)state;
	SET("ZED=last\0A=one\ntwo\0EMPTY=\0NAKED\0B=\xff=\x01");
	assert_int_equal(tui_environ_read(e, proc), 0);
	assert_int_equal(e->count, 5);
	assert_string_equal(e->list[0].key, "A");
	assert_string_equal(e->list[0].value, "one␤two");
	assert_string_equal(e->list[1].value, "\xef\xbf\xbd=?");
	assert_string_equal(e->list[2].key, "EMPTY");
	assert_string_equal(e->list[3].key, "NAKED");
	assert_string_equal(e->list[3].value, "");
	assert_string_equal(e->list[4].key, "ZED");
}

static void it_may_be_long(void **state)
{
	static char bytes[1 << 20];

	(void)state;
	memset(bytes, 'x', sizeof bytes - 1);
	bytes[0] = 'A';
	bytes[1] = '=';
	write_file("environ", bytes, sizeof bytes);
	assert_int_equal(tui_environ_read(&s.t.environ, proc), 0);
	assert_int_equal(strlen(s.t.environ.list[0].value), sizeof bytes - 3);
}

static void another_process_is_not_read(void **state)
{
	struct tui_environ *e = &s.t.environ;

	(void)state;
	SET("A=1");
	e->who.start_ticks--;
	assert_int_equal(tui_environ_read(e, proc), GK_ERR_NOT_FOUND);
	assert_int_equal(e->count, 0);
	e->who.pid = 78;
	assert_int_equal(tui_environ_read(e, proc), GK_ERR_NOT_FOUND);
}

/* ---- the screen ---- */

static void open_screen(void)
{
	gk_buf_puts(&s.t.environ.title,
		    "77 (ana@GPU 0: Compute): python3 train.py");
	s.t.screen = SCREEN_ENVIRON;
	s.t.below[s.t.below_count++] = (struct tui_below){SCREEN_MAIN, 0, 0};
}

/* A client of MPS computes and does not draw. */
static void the_title_tells_what_it_does(void **state)
{
	static const struct {
		unsigned types;
		const char *said;
	} rows[] = {
	    {GK_PROCESS_COMPUTE, "@GPU 0: Compute): "},
	    {GK_PROCESS_COMPUTE | GK_PROCESS_MPS, "@GPU 0: Compute): "},
	    {GK_PROCESS_GRAPHICS, "@GPU 0: Graphics): "},
	    {GK_PROCESS_COMPUTE | GK_PROCESS_GRAPHICS,
	     "@GPU 0: Compute+Graphics): "},
	};

	(void)state;
	fixture_init(&s.f, 1);
	fixture_add_process(&s.f, 0, 77, "python3 train.py");
	tui_list_update(&s.t);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		s.f.snap.processes[0].types = rows[i].types;
		screen_press(&s, "Home e");
		assert_int_equal(s.t.screen, SCREEN_ENVIRON);
		assert_non_null(strstr(s.t.environ.title.data, rows[i].said));
		screen_press(&s, "Esc");
	}
}

static void secrets_are_covered_until_asked_for(void **state)
{
	(void)state;
	SET("HF_TOKEN=hf_abc\0HOME=/home/ana\0API_KEY=\0PATH=/usr/bin:/bin");
	assert_int_equal(tui_environ_read(&s.t.environ, proc), 0);
	open_screen();
	assert_screen(&s, "tui/environ");
	assert_int_equal(screen_find(&s, "hf_abc", NULL), -1);
	screen_press(&s, "m");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "HF_TOKEN=hf_abc", NULL), 3);
	screen_press(&s, "m");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "hf_abc", NULL), -1);
}

static void it_scrolls(void **state)
{
	char text[2048];
	size_t len = 0;

	(void)state;
	for (int i = 0; i < 30; i++)
		len += (size_t)snprintf(text + len, sizeof text - len,
					"VARIABLE_%02d=%050d", i, i) +
		       1;
	write_file("environ", text, len);
	assert_int_equal(tui_environ_read(&s.t.environ, proc), 0);
	open_screen();
	screen_press(&s, "End Right");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "VARIABLE_29=", NULL), -1);
	assert_int_equal(screen_find(&s, "RIABLE_29=", NULL), 11);
	screen_press(&s, "Ctrl-A");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "VARIABLE_29=", NULL), 11);
	assert_int_equal(screen_find(&s, "VARIABLE_20=", NULL), 2);
	screen_press(&s, "Home");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "VARIABLE_00=", NULL), 2);
	assert_true(grid_at(&s.g, 2, 0)->style.attribute & GRID_REVERSE);
}

static void what_cannot_be_read_is_said(void **state)
{
	(void)state;
	assert_int_equal(tui_environ_read(&s.t.environ, proc),
			 GK_ERR_NOT_FOUND);
	open_screen();
	screen_draw(&s);
	assert_int_equal(
	    screen_find(&s, "Could not read the environment: not found", NULL),
	    2);
}

static void without_a_selection_it_is_our_own(void **state)
{
	char title[64];

	(void)state;
	screen_press(&s, "e");
	assert_int_equal(s.t.screen, SCREEN_ENVIRON);
	assert_int_equal(s.t.environ.who.pid, getpid());
	assert_int_equal(s.t.environ.error, 0);
	snprintf(title, sizeof title, "Environment of process %d (ana@Host)",
		 (int)getpid());
	screen_draw(&s);
	assert_int_equal(screen_find(&s, title, NULL), 0);
	screen_press(&s, "e");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(it_is_sorted_and_made_printable),
	    T(it_may_be_long),
	    T(another_process_is_not_read),
	    T(the_title_tells_what_it_does),
	    T(secrets_are_covered_until_asked_for),
	    T(it_scrolls),
	    T(what_cannot_be_read_is_said),
	    T(without_a_selection_it_is_our_own),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
