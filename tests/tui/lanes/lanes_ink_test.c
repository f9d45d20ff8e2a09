/* SPDX-License-Identifier: Apache-2.0 */
/* lanes_ink_test.c - checks that all colours of lanes are readable. */
#include "lanes_machines.h"

#include "tui/screen/color.h"
#include "tui/screen/ground.h"

#include <string.h>

#define LEAST 4.5 /* WCAG 2's contrast for text */
#define BLACK 0x000000
#define WHITE 0xffffff

/* The palettes: themes on a background with this many colours. */
static const struct palette {
	enum tui_theme theme;
	bool light;
	int colors;
} palettes[] = {
    {TUI_DARK, false, 256},        {TUI_DARK, false, 16},
    {TUI_LIGHT, true, 256},        {TUI_LIGHT, true, 16},
    {TUI_AUTO, false, 256},        {TUI_AUTO, true, 256},
    {TUI_COLOR_BLIND, false, 256}, {TUI_COLOR_BLIND, true, 256},
};

static void use(const struct palette *p)
{
	s.t.options.term.theme = p->theme;
	s.t.options.term.light = p->light;
	s.t.colors = p->colors;
}

static uint32_t ground_of(const struct palette *p, uint16_t ground)
{
	if (ground)
		return tui_color_rgb(ground - 1U);
	return p->light ? WHITE : BLACK;
}

/* Text has the user's own colour; so have the first eight, of which the light
 * ones are not used on a light background. */
static double contrast_of(const struct palette *p, struct grid_style style,
			  uint16_t ground)
{
	unsigned color = style.color;

	if (color == GRID_COLOR_NONE)
		return p->light ? tui_contrast(BLACK, ground_of(p, ground))
				: tui_contrast(WHITE, ground_of(p, ground));
	if (p->light)
		color = tui_color_on_light(color, p->colors);
	if (color < 8)
		return p->light && (color == 2 || color == 3 || color > 5)
			   ? 1
			   : LEAST;
	return tui_contrast(tui_color_rgb(color), ground_of(p, ground));
}

static void every_ink_is_read_on_its_background(void **state)
{
	(void)state;
	begin(1, 24, 80);
	for (size_t i = 0; i < sizeof palettes / sizeof *palettes; i++)
		for (int ink = 0; ink < INK_COUNT; ink++) {
			double contrast;

			use(&palettes[i]);
			contrast =
			    contrast_of(&palettes[i], lanes_ink(&s.t, ink), 0);
			if (contrast < LEAST)
				fail_msg("palette %zu, ink %d: %.2f", i, ink,
					 contrast);
		}
	screen_end(&s);
}

/* And on the background of a selected row. */
static void every_ink_is_read_where_it_is_selected(void **state)
{
	(void)state;
	begin(1, 24, 80);
	grid_resize(&s.g, 24, 80);
	for (size_t i = 0; i < sizeof palettes / sizeof *palettes; i++) {
		use(&palettes[i]);
		for (int ink = 0; ink < INK_COUNT; ink++)
			lanes_put(&s.g, 0, ink, lanes_ink(&s.t, ink), "x");
		lanes_mark_selected(&s.t, &s.g, 0, 0, INK_COUNT);
		for (int ink = 0; ink < INK_COUNT; ink++) {
			const struct grid_cell *cell = grid_at(&s.g, 0, ink);
			double contrast = contrast_of(&palettes[i], cell->style,
						      cell->ground);

			if (contrast < LEAST)
				fail_msg("palette %zu, ink %d: %.2f", i, ink,
					 contrast);
		}
	}
	screen_end(&s);
}

/* A reversed cell has the same two colours. */
static void assert_readable(const struct palette *p, const char *what)
{
	for (int i = 0; i < s.g.rows * s.g.columns; i++) {
		const struct grid_cell *cell = &s.g.cells[i];
		double contrast = contrast_of(p, cell->style, cell->ground);

		if (cell->c && cell->c != L' ' && contrast < LEAST)
			fail_msg("%s, theme %d, light %d: %lc at %d, %d: "
				 "colour %u on %u: %.2f",
				 what, p->theme, p->light, (wint_t)cell->c,
				 i / s.g.columns, i % s.g.columns,
				 cell->style.color, cell->ground, contrast);
	}
}

/* Whatever is on the screens: hot, lost, split, selected, other screens. */
static void all_that_is_drawn_is_read(void **state)
{
	static void (*const machines[])(int rows, int columns) = {eight, mixed,
								  one, two};
	static const char *const screens[] = {"",  "Down Down", "t", "u",
					      "h", "A",         "d", "F2"};
	static const int sizes[][2] = {
	    {24, 80}, {40, 120}, {60, 200}, {10, 40}};

	(void)state;
	for (size_t m = 0; m < 4; m++)
		for (size_t z = 0; z < 4; z++)
			for (size_t k = 0; k < 8; k++) {
				machines[m](sizes[z][0], sizes[z][1]);
				remember();
				alert_of(0, ALERT_LOST, 1, 1);
				alert_of(1, ALERT_TEMPERATURE, 95, 90);
				screen_press(&s, screens[k]);
				s.t.options.boxed.colorful = m % 2;
				for (size_t i = 0; i < 8; i++) {
					if (palettes[i].colors < 256)
						continue;
					use(&palettes[i]);
					screen_draw(&s);
					if (palettes[i].light || k < 2)
						assert_readable(&palettes[i],
								screens[k]);
				}
				screen_end(&s);
			}
}

/* ---- thresholds ---- */

/* The style of the first cell of a text on the screen. */
static struct grid_style style_at(const char *text)
{
	int column, row;

	screen_draw(&s);
	row = screen_find(&s, text, &column);
	assert_true(row >= 0);
	return grid_at(&s.g, row, column)->style;
}

static void assert_ink(const char *text, enum ink ink)
{
	struct grid_style style = style_at(text);

	if (style.color != lanes_ink(&s.t, ink).color)
		fail_msg("%s: colour %u, not that of ink %d", text, style.color,
			 ink);
}

/* In each form: panels, pairs, lines, one GPU. */
static void thresholds_colour_numbers_where_they_are_set(void **state)
{
	static const struct {
		void (*machine)(int rows, int columns);
		int rows, columns;
		const char *busy, *used; /* 97 %, 20.5 of 24 GiB */
	} forms[] = {
	    {two, 40, 120, "97% busy", "20.5 GiB"},
	    {two, 24, 170, "97 %", "20.5 of 24 GiB"},
	    {two, 12, 80, "97%", "20.5/24"},
	    {one, 40, 120, "97 % busy", "20.5 of 24 GiB  "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		forms[i].machine(forms[i].rows, forms[i].columns);
		remember();
		assert_ink(forms[i].busy, INK_WORK_MOST);
		assert_ink(forms[i].used, INK_STRONG);
		s.t.options.boxed.gpu = (struct gk_limits){500, 980};
		s.t.options.boxed.memory = (struct gk_limits){100, 800};
		assert_ink(forms[i].busy, INK_WARN);
		assert_ink(forms[i].used, INK_FAIL);
		s.t.options.boxed.gpu = (struct gk_limits){500, 970};
		s.t.options.boxed.memory = (struct gk_limits){860, 990};
		assert_ink(forms[i].busy, INK_FAIL);
		assert_ink(forms[i].used, INK_STRONG);
		screen_end(&s);
	}
}

/* ---- other users ---- */

static void processes_of_others_are_dim_for_who_is_not_root(void **state)
{
	(void)state;
	two(40, 120);
	s.t.uid = 0;
	s.f.processes[0].uid = 1000;
	s.f.processes[1].uid = 1001;
	assert_ink("python sdxl", INK_TEXT);
	assert_ink("ollama runner", INK_TEXT);
	s.t.uid = 1000;
	assert_ink("python sdxl", INK_TEXT);
	assert_ink("ollama runner", INK_DIM);
	assert_ink("39004", INK_DIM);
	assert_ink("leo",
		   lanes_owner_ink(lanes_owner(&s.t, &s.f.processes[1])));
	screen_end(&s);
}

/* ---- a gradient ---- */

/* The number of colours of the cells that have such a character. */
static int colors_of(wchar_t from, wchar_t to)
{
	bool seen[256] = {false};
	int count = 0;

	screen_draw(&s);
	for (int i = 0; i < s.g.rows * s.g.columns; i++) {
		const struct grid_cell *c = &s.g.cells[i];

		if (c->c >= from && c->c <= to && c->style.color < 256)
			seen[c->style.color] = true;
	}
	for (int i = 0; i < 256; i++)
		count += seen[i];
	return count;
}

static void colourful_bars_and_traces_are_a_gradient(void **state)
{
	int bars, traces;

	(void)state;
	two(40, 120);
	remember();
	bars = colors_of(L'━', L'━');
	traces = colors_of(L'\u2801', L'\u28ff');
	s.t.options.boxed.colorful = true;
	assert_true(colors_of(L'━', L'━') > bars + 2);
	assert_true(colors_of(L'\u2801', L'\u28ff') >= traces);
	s.t.options.term.theme = TUI_MONO;
	assert_int_equal(colors_of(L'━', L'━'), 0);
	screen_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_ink_is_read_on_its_background),
	    cmocka_unit_test(every_ink_is_read_where_it_is_selected),
	    cmocka_unit_test(all_that_is_drawn_is_read),
	    cmocka_unit_test(thresholds_colour_numbers_where_they_are_set),
	    cmocka_unit_test(processes_of_others_are_dim_for_who_is_not_root),
	    cmocka_unit_test(colourful_bars_and_traces_are_a_gradient),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
