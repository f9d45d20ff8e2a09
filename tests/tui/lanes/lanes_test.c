/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_test.c - checks the look "lanes": golden screens in each theme, and
 * what holds at all sizes.
 */
#include "lanes_machines.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define MANY 500

static struct gk_process crowd[MANY];

/* ---- golden screens: with the sequences that a terminal understands ---- */

static void add_style(struct gk_buf *out, const struct grid_cell *cell)
{
	static const char numbers[] = "123457";

	gk_buf_puts(out, "\033[0");
	for (int i = 0; numbers[i]; i++)
		if (cell->style.attribute >> i & 1)
			gk_buf_printf(out, ";%c", numbers[i]);
	if (cell->style.color != GRID_COLOR_NONE)
		gk_buf_printf(out, ";38;5;%u", cell->style.color);
	if (cell->ground)
		gk_buf_printf(out, ";48;5;%u", cell->ground - 1U);
	gk_buf_puts(out, "m");
}

static void styled_row(int row, struct gk_buf *out)
{
	const struct grid_cell *before = NULL;

	for (int c = 0; c < s.g.columns; c++) {
		const struct grid_cell *cell = grid_at(&s.g, row, c);
		struct grid_cell like = *cell;
		char bytes[MB_LEN_MAX];
		mbstate_t state = {0};

		if (!cell->c)
			continue;
		like.c = before ? before->c : 0;
		if (!before || !grid_same_cell(before, &like))
			add_style(out, cell);
		gk_buf_add(out, bytes, wcrtomb(bytes, cell->c, &state));
		before = cell;
	}
	gk_buf_puts(out, "\033[0m\n");
}

static void golden(void (*machine)(int rows, int columns), const char *name,
		   int rows, int columns)
{
	static const struct {
		const char *name;
		enum tui_theme theme;
		bool ascii;
	} themes[] = {{"dark", TUI_DARK, false},
		      {"light", TUI_LIGHT, false},
		      {"mono", TUI_MONO, false},
		      {"ascii", TUI_MONO, true}};

	for (size_t i = 0; i < sizeof themes / sizeof *themes; i++) {
		struct gk_buf out = {0};
		char file[96];

		machine(rows, columns);
		remember();
		s.t.options.term.theme = themes[i].theme;
		s.t.options.term.ascii = themes[i].ascii;
		screen_press(&s, "Down Down");
		screen_draw(&s);
		if (themes[i].ascii)
			grid_to_ascii(&s.g);
		for (int row = 0; row < rows; row++)
			styled_row(row, &out);
		snprintf(file, sizeof file, "lanes/%s-%dx%d-%s", name, columns,
			 rows, themes[i].name);
		assert_golden(&out, file);
		screen_end(&s);
	}
}

static void eight_lost(int rows, int columns)
{
	eight(rows, columns);
	lose(6);
}

static void mixed_lost(int rows, int columns)
{
	mixed(rows, columns);
	lose(2);
	alert_of(1, ALERT_TEMPERATURE, 90, 89);
	alert_of(2, ALERT_XID, 79, 0);
}

static void screens_of_many_gpus(void **state)
{
	(void)state;
	golden(eight, "eight", 60, 200);
	golden(eight_lost, "eight", 24, 80);
}

static void screens_of_trouble(void **state)
{
	(void)state;
	golden(mixed_lost, "mixed", 40, 120);
	golden(mixed_lost, "mixed", 20, 60);
	golden(mixed_lost, "mixed", 10, 40);
}

static void screens_of_few_gpus(void **state)
{
	(void)state;
	golden(one, "one", 40, 120);
	golden(two, "two", 24, 80);
}

/* ---- what holds at every size ---- */

static void (*const machines[])(int rows, int columns) = {eight_lost,
							  mixed_lost, one, two};

#define MACHINES (sizeof machines / sizeof *machines)

/* Text that ran into the edge would be cut there. */
static void assert_edge_free(void)
{
	for (int row = 0; row < s.g.rows; row++) {
		wchar_t c = grid_at(&s.g, row, s.g.columns - 1)->c;
		struct gk_buf text = {0};

		if (wcschr(L" ─┃│", c))
			continue;
		screen_row(&s, row, &text);
		fail_msg("%dx%d, row %d: %s", s.g.columns, s.g.rows, row,
			 text.data);
	}
}

static bool has_text(const char *text)
{
	return screen_find(&s, text, NULL) >= 0;
}

static bool is_on_page(size_t device)
{
	for (int i = 0; i < s.t.lanes.hit_count; i++)
		if (s.t.lanes.hits[i].kind == HIT_GPU &&
		    s.t.lanes.hits[i].id == (int)device)
			return true;
	return false;
}

static void assert_models_named(void)
{
	char model[GK_NAME_MAX];

	for (size_t i = 0; i < s.f.snap.device_count; i++) {
		const struct gk_device *d = &s.f.devices[i];

		if (d->mig_index >= 0 || !is_on_page(i))
			continue;
		lanes_model(&s.t, d, 4, model);
		if (s.g.columns < 72)
			model[4] = '\0'; /* in five columns the last character
					    may be a mark */
		if (!has_text(model))
			fail_msg("%dx%d: no %s", s.g.columns, s.g.rows, model);
	}
}

static void every_width(void **state)
{
	static const int heights[] = {10, 13, 24, 40, 60};

	(void)state;
	for (size_t m = 0; m < MACHINES; m++) {
		machines[m](24, 80);
		remember();
		for (int columns = 40; columns <= 240; columns++)
			for (size_t h = 0; h < 5; h++) {
				screen_resize(&s, heights[h], columns);
				screen_draw(&s);
				assert_edge_free();
				if (columns >= 56)
					assert_models_named();
			}
		screen_end(&s);
	}
}

/* The rows of the lanes, and their GPUs. */
static void places(char dst[512])
{
	size_t len = 0;

	*dst = '\0';
	for (int i = 0; i < s.t.lanes.hit_count; i++) {
		const struct lanes_hit *hit = &s.t.lanes.hits[i];

		if (hit->kind == HIT_GPU && len < 500)
			len += (size_t)snprintf(dst + len, 512 - len, "%d:%d ",
						hit->row, hit->id);
	}
}

static void fill_with(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		crowd[i] = s.f.processes[0];
		crowd[i].pid = (pid_t)(1000 + i);
		crowd[i].device = (unsigned)(i % 2);
		crowd[i].types =
		    i % 3 ? GK_PROCESS_COMPUTE : GK_PROCESS_GRAPHICS;
	}
	s.f.snap.processes = crowd;
	s.f.snap.process_count = count;
	tui_list_update(&s.t);
}

static void nothing_moves_the_lanes(void **state)
{
	static const int sizes[][2] = {{10, 40},  {20, 60},  {24, 80},
				       {40, 120}, {60, 200}, {30, 160}};
	static const size_t counts[] = {0, 1, 7, 64, MANY};
	char first[512], now[512];

	(void)state;
	for (size_t m = 0; m < MACHINES; m++)
		for (size_t i = 0; i < 6; i++) {
			machines[m](sizes[i][0], sizes[i][1]);
			screen_draw(&s);
			places(first);
			assert_true(*first);
			for (size_t k = 0; k < 5; k++) {
				fill_with(counts[k]);
				alerts.count = alerts.on = 0;
				for (size_t a = 0; a < k; a++)
					alert_of((unsigned)a, ALERT_XID, 31, 0);
				screen_draw(&s);
				places(now);
				assert_string_equal(first, now);
			}
			tui_filter_by(&s.t, "user:nobody");
			screen_draw(&s);
			places(now);
			assert_string_equal(first, now);
			screen_end(&s);
		}
}

/* One GPU in each state. */
static void every_state(int kind)
{
	begin(1, 24, 80);
	work(0, 92, 60, 354, 58);
	switch (kind) {
	case GK_STATE_LOST:
		lose(0);
		break;
	case GK_STATE_ERROR:
		lose(0);
		s.f.devices[0].health = GK_HEALTH_ERROR;
		break;
	case GK_STATE_FAULT:
		set(0, GK_M_RECOVERY_ACTION, 1);
		break;
	case GK_STATE_DEGRADED:
		set(0, GK_M_PCIE_WIDTH, 4);
		set(0, GK_M_PCIE_WIDTH_MAX, 16);
		break;
	case GK_STATE_HUNG:
	case GK_STATE_STALE:
		s.f.devices[0].health = GK_HEALTH_STALE;
		s.f.devices[0].read_ns[GK_TIER_FAST] =
		    s.f.snap.mono_ns -
		    (kind == GK_STATE_HUNG ? 42 : 6) * SECOND_NS;
		break;
	case GK_STATE_UNREAD:
		for (int i = 0; i < GK_M_COUNT; i++)
			s.f.devices[0].m[i].why = GK_ABSENT_NOT_READ;
		memset(s.f.devices[0].read_ns, 0,
		       sizeof s.f.devices[0].read_ns);
		break;
	case GK_STATE_ALERT:
		set(0, GK_M_ECC_UNCORRECTED, 2);
		break;
	case GK_STATE_HOT:
		set(0, GK_M_THROTTLE, 0x40);
		break;
	case GK_STATE_HELD:
		set(0, GK_M_THROTTLE, 4);
		break;
	case GK_STATE_MIG:
		set(0, GK_M_MIG_MODE, 1);
		break;
	case GK_STATE_UNKNOWN:
		s.f.devices[0].m[GK_M_GPU_UTIL].why = GK_ABSENT_NOT_SUPPORTED;
		break;
	case GK_STATE_IDLE:
		set(0, GK_M_GPU_UTIL, 0);
		break;
	}
	lanes_frame(&s.t);
}

static void states_differ_without_colours(void **state)
{
	struct lanes_state states[GK_STATE_KINDS];

	(void)state;
	for (int i = 0; i < GK_STATE_KINDS; i++) {
		every_state(i);
		s.t.options.term.theme = TUI_MONO;
		states[i] = lanes_state(&s.t, &s.f.devices[0], 12);
		assert_int_equal(states[i].kind, i);
		lanes_fill(&s.g, 0, 0, 1, states[i].glyph,
			   lanes_ink(&s.t, states[i].ink));
		grid_to_ascii(&s.g);
		states[i].glyph = grid_at(&s.g, 0, 0)->c;
		assert_true(states[i].glyph < 0x80 && states[i].glyph != L'?');
		for (int k = 0; k < i; k++) {
			assert_string_not_equal(states[i].words,
						states[k].words);
			assert_int_not_equal(states[i].glyph, states[k].glyph);
		}
		screen_end(&s);
	}
}

static void every_gpu_is_on_a_page(void **state)
{
	bool seen[32] = {0};
	int pages = 0;

	(void)state;
	begin(32, 24, 80);
	tui_list_update(&s.t);
	for (int turn = 0; turn < 6; turn++) {
		screen_draw(&s);
		pages += s.t.main.page == turn;
		for (int i = 0; i < s.t.lanes.hit_count; i++)
			if (s.t.lanes.hits[i].kind == HIT_GPU)
				seen[s.t.lanes.hits[i].id] = true;
		screen_press(&s, "}");
	}
	for (int i = 0; i < 32; i++)
		assert_true(seen[i]);
	assert_int_equal(pages, 3);
	screen_end(&s);
}

/* Checks that the shown lanes follow each other and are on the screen. */
static void assert_lanes_apart(void)
{
	int below = 0;

	for (int i = 0; i < s.t.lanes.hit_count; i++) {
		const struct lanes_hit *hit = &s.t.lanes.hits[i];

		if (hit->kind != HIT_GPU)
			continue;
		if (hit->row < below || hit->row + hit->rows >= s.g.rows)
			fail_msg("%dx%d: GPU %d in row %d", s.g.columns,
				 s.g.rows, hit->id, hit->row);
		below = hit->row + hit->rows;
	}
	assert_true(below > 0);
}

static void pages_show_all(size_t gpus)
{
	bool seen[32] = {0};

	for (size_t turn = 0; turn < gpus; turn++) {
		screen_draw(&s);
		assert_edge_free();
		assert_lanes_apart();
		for (int i = 0; i < s.t.lanes.hit_count; i++)
			if (s.t.lanes.hits[i].kind == HIT_GPU)
				seen[s.t.lanes.hits[i].id] = true;
		screen_press(&s, "}");
	}
	for (size_t i = 0; i < gpus; i++)
		if (!seen[i])
			fail_msg("%dx%d: no GPU %zu of %zu", s.g.columns,
				 s.g.rows, i, gpus);
}

static void any_number_of_gpus(void **state)
{
	static const int sizes[][2] = {{10, 40},  {20, 60},  {24, 80},
				       {40, 120}, {60, 200}, {30, 240}};

	(void)state;
	for (size_t gpus = 1; gpus <= 32; gpus++) {
		begin(gpus, 24, 80);
		for (size_t i = 0; i < gpus; i++)
			work(i, (int)(i * 3), (int)i + 1, 300, 50);
		tui_list_update(&s.t);
		for (size_t i = 0; i < 6; i++) {
			s.t.main.page = 0;
			screen_resize(&s, sizes[i][0], sizes[i][1]);
			pages_show_all(gpus);
		}
		screen_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(screens_of_many_gpus),
	    cmocka_unit_test(screens_of_trouble),
	    cmocka_unit_test(screens_of_few_gpus),
	    cmocka_unit_test(every_width),
	    cmocka_unit_test(nothing_moves_the_lanes),
	    cmocka_unit_test(states_differ_without_colours),
	    cmocka_unit_test(every_gpu_is_on_a_page),
	    cmocka_unit_test(any_number_of_gpus),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
