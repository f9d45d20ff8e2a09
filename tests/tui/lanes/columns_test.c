/* SPDX-License-Identifier: Apache-2.0 */
/* columns_test.c - checks chosen columns: at every width, absent, in ASCII. */
#include "tui/screen.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static struct screen s;

static void fill(struct gk_process *p)
{
	p->m[GK_PM_RANK] = present(12);
	p->m[GK_PM_THREADS] = present(64);
	p->m[GK_PM_PRIORITY] = present(20);
	p->m[GK_PM_NICE] = present(0);
	p->m[GK_PM_ENC_UTIL] = present(30);
	p->m[GK_PM_IO_READ_RATE] = present(3 << 20);
	p->m[GK_PM_IO_WRITE_RATE] = present(0);
	p->m[GK_PM_IO_READ] = present(5 << 20);
	p->m[GK_PM_IO_WRITTEN] = present(7 << 20);
	p->pod = "8dc9e1a4-5c0b-4d4e-9f0a-0123456789ab";
	p->cwd = "/home/alice/experiments/first";
	p->cwd_why = GK_PRESENT;
}

/* The first process has everything, the others what could not be read. */
static void begin(int rows, int columns, const char *names)
{
	const char *bad = "";

	screen_begin(&s, rows, columns);
	s.t.options.mode = MODE_COMPACT;
	for (size_t i = 0; i < s.f.snap.process_count; i++) {
		struct gk_process *p = &s.f.snap.processes[i];

		for (int m = GK_PM_THREADS; m < GK_PM_COUNT; m++)
			p->m[m].why = GK_ABSENT_PERMISSION;
		p->cwd_why = GK_ABSENT_PERMISSION;
	}
	s.f.snap.processes[1].m[GK_PM_RANK].why = GK_ABSENT_NONE;
	fill(&s.f.snap.processes[0]);
	if (!gk_columns_parse(names, &s.t.options.columns, &bad))
		fail_msg("no column: %s", bad);
}

static const struct {
	int rows, columns;
} sizes[] = {{50, 60}, {50, 80}, {40, 120}, {60, 200}};

static void those_of_a_job(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char name[64];

		begin(sizes[i].rows, sizes[i].columns,
		      "gpu pid user rank gpu-memory encoder state threads nice "
		      "io-read io-write pod cwd command");
		screen_press(&s, "o g o u");
		snprintf(name, sizeof name, "tui/columns-%dx%d",
			 sizes[i].columns, sizes[i].rows);
		assert_screen(&s, name);
		screen_end(&s);
	}
}

/* A column that is scrolled away cannot be marked, but still sorts. */
static void all_of_them(void **state)
{
	char names[GK_COLUMNS_TEXT];
	struct gk_columns all = {0};

	(void)state;
	for (int c = 0; c < GK_COLUMN_COUNT; c++)
		all.id[all.count++] = (unsigned char)c;
	gk_columns_text(names, &all);
	for (int columns = 40; columns <= 240; columns += 8) {
		begin(60, columns, names);
		for (int c = 0; c < GK_COLUMN_COUNT; c++) {
			tui_order_by(&s.t, (enum gk_column)c, c % 2);
			screen_draw(&s);
			assert_true(screen_find(&s, "PID", NULL) >= 0);
			assert_true(screen_find(&s, "15699", NULL) >= 0);
		}
		screen_end(&s);
	}
}

static void in_ascii(void **state)
{
	(void)state;
	begin(60, 120, "pid user gpu-memory threads command");
	screen_press(&s, "o g o u");
	screen_draw(&s);
	grid_to_ascii(&s.g);
	assert_true(screen_find(&s, "USER^", NULL) >= 0);
	assert_true(screen_find(&s, "GPU-MEMv", NULL) >= 0);
	screen_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(those_of_a_job),
	    cmocka_unit_test(all_of_them),
	    cmocka_unit_test(in_ascii),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
