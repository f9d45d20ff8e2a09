/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_alerts_test.c - checks alerts in lanes: their lines above the
 * processes, and their own screen.
 */
#include "lanes_machines.h"

#include "tui/screen/mouse.h"
#include "tui/views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tui_alert_rules rules = {.temperature = 89};
static uint64_t end_ns, end_wall_ns;

/* Adds a frame, this many seconds before the last one. */
static void frame(unsigned ago)
{
	struct gk_snapshot *snap = &s.f.snap;

	snap->mono_ns = end_ns - ago * SECOND_NS;
	snap->wall_ns = end_wall_ns - ago * SECOND_NS;
	for (size_t i = 0; i < snap->device_count; i++)
		for (int tier = 0; tier < GK_TIER_ASKED; tier++)
			if (snap->devices[i].health == GK_HEALTH_OK)
				snap->devices[i].read_ns[tier] = snap->mono_ns;
	tui_alerts_update(&alerts, &rules, snap);
}

/* Adds the frames from one second to another, including the last. */
static void frames(unsigned from, unsigned to)
{
	for (unsigned ago = from + 1; ago-- > to;)
		frame(ago);
}

/* Raises the next Xid of a GPU. */
static void xid(size_t gpu, int number, unsigned ago)
{
	struct gk_value count = s.f.devices[gpu].m[GK_M_XID_COUNT];

	set(gpu, GK_M_XID_COUNT, count.why == GK_PRESENT ? count.v + 1 : 1);
	set(gpu, GK_M_XID_LAST, number);
	set(gpu, GK_M_XID_TIME, (int64_t)(end_wall_ns - ago * SECOND_NS));
	frame(ago);
}

/* A busy GPU without faults. */
static void well(void)
{
	end_ns = s.f.snap.mono_ns + 100000 * SECOND_NS;
	end_wall_ns = s.f.snap.wall_ns;
	set(1, GK_M_TEMP, 58);
	for (size_t i = 0; i < 4; i++) {
		set(i, GK_M_THROTTLE, 0);
		set(i, GK_M_XID_COUNT, 0);
		set(i, GK_M_XID_LAST, 0);
	}
	frame(90001);
}

static void trouble(int rows, int columns)
{
	mixed(rows, columns);
	well();
	set(3, GK_M_ECC_UNCORRECTED, 2);
	frame(90000);
	frame(89400);
	set(0, GK_M_THROTTLE, 4);
	set(0, GK_M_SM_CLOCK, 1410000000);
	frames(900, 830);
	set(0, GK_M_THROTTLE, 0);
	set(0, GK_M_SM_CLOCK, 1980000000);
	frame(829);
	set(1, GK_M_TEMP, 90);
	frames(300, 164);
	xid(2, 79, 163);
	lose_since(2, 0);
	frames(162, 113);
	s.f.devices[0].health = GK_HEALTH_STALE;
	frames(112, 101);
	s.f.devices[0].health = GK_HEALTH_OK;
	frames(100, 0);
}

static void leave(void)
{
	tui_alerts_free(&alerts);
	screen_end(&s);
}

static void draw_themes(int rows, int columns)
{
	static const struct {
		const char *name;
		enum tui_theme theme;
		bool ascii;
	} themes[] = {{"dark", TUI_DARK, false}, {"ascii", TUI_MONO, true}};

	for (size_t i = 0; i < 2; i++) {
		char file[96];

		trouble(rows, columns);
		s.t.options.term.theme = themes[i].theme;
		s.t.options.term.ascii = themes[i].ascii;
		screen_press(&s, "A Down");
		screen_draw(&s);
		if (themes[i].ascii)
			grid_to_ascii(&s.g);
		snprintf(file, sizeof file, "lanes/alerts-%dx%d-%s", columns,
			 rows, themes[i].name);
		assert_grid(&s, file);
		leave();
	}
}

static void it_looks_so(void **state)
{
	(void)state;
	draw_themes(40, 120);
	draw_themes(24, 80);
	draw_themes(10, 40);
}

static void the_newest_is_first_and_opens_its_gpu(void **state)
{
	(void)state;
	trouble(24, 80);
	screen_press(&s, "A Enter");
	assert_int_equal(s.t.screen, SCREEN_ALERTS);
	assert_true(strstr(s.t.message, "Select"));
	screen_press(&s, "Down Down");
	screen_draw(&s);
	/* It stays selected while others come. */
	xid(1, 31, 0);
	screen_draw(&s);
	assert_int_equal(view_alerts_selected(&s.t), 2);
	screen_press(&s, "Enter");
	assert_int_equal(s.t.screen, SCREEN_DEVICE);
	assert_string_equal(s.t.device.gpu.uuid, s.f.devices[2].uuid);
	screen_press(&s, "q A");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
	leave();
}

/* GPU 2 was lost before the viewer began, so its UUID is unknown. */
static void who_has_told_no_uuid_is_opened_all_the_same(void **state)
{
	(void)state;
	mixed(24, 80);
	lose(2);
	*s.f.devices[2].uuid = '\0';
	memset(s.f.devices[2].read_ns, 0, sizeof s.f.devices[2].read_ns);
	tui_alerts_update(&alerts, &s.t.options.alerts, &s.f.snap);
	screen_press(&s, "A Down");
	screen_draw(&s);
	assert_true(screen_find(&s, "  2  lost", NULL) >= 0);
	screen_press(&s, "Enter");
	screen_draw(&s);
	assert_int_equal(view_device_index(&s.t), 2);
	assert_true(screen_find(&s, "nothing is known about it", NULL) >= 0);
	leave();
}

static void it_scrolls_and_tells_where_it_is(void **state)
{
	(void)state;
	trouble(24, 80);
	end_ns += 60 * SECOND_NS;
	end_wall_ns += 60 * SECOND_NS;
	for (unsigned i = 0; i < 60; i++)
		xid(i % 4, 13, 60 - i);
	screen_press(&s, "A");
	screen_draw(&s);
	assert_true(screen_find(&s, "1–20 of 66 ▼", NULL) >= 0);
	screen_press(&s, "End");
	screen_draw(&s);
	assert_true(screen_find(&s, "47–66 of 66 ▲", NULL) >= 0);
	assert_true(screen_find(&s, "2 uncorrected", NULL) >= 0);
	leave();
}

static void look_at(unsigned ago)
{
	s.t.time.end_ns = end_ns - ago * SECOND_NS;
	screen_draw(&s);
}

/* Alerts that had not begun are absent; those that had not ended are active. */
static void of_before_it_shows_what_was_then(void **state)
{
	(void)state;
	trouble(24, 80);
	screen_press(&s, "A");
	look_at(200);
	assert_true(screen_find(&s, "2 ended · 3:20 ago", NULL) == 0);
	assert_true(screen_find(&s, "01:39:18", NULL) == 0);
	assert_true(screen_find(&s, "Xid 79", NULL) < 0);
	assert_true(screen_find(&s, "  2  lost", NULL) < 0);
	assert_int_equal(screen_find(&s, "on           1m    1", NULL), 3);
	look_at(850);
	assert_int_equal(screen_find(&s,
				     "01:27:38 on          50s    0  "
				     "power cap: slowed down for 50 s",
				     NULL),
			 3);
	assert_int_equal(view_alerts_count(&s.t), 2);
	assert_int_equal(screen_find(&s, "( earlier", NULL), 23);
	screen_press(&s, ")");
	screen_draw(&s);
	assert_true(screen_find(&s, "01:28:58", NULL) == 0);
	assert_true(screen_find(&s, "0 on · 2 ended", NULL) == 0);
	screen_press(&s, "0");
	screen_draw(&s);
	assert_true(screen_find(&s, "Xid 79", NULL) > 0);
	leave();
}

static void without_any_it_says_so(void **state)
{
	(void)state;
	eight(24, 80);
	screen_press(&s, "A");
	screen_draw(&s);
	assert_true(screen_find(&s, "Nothing has happened yet", NULL) >= 0);
	assert_true(screen_find(&s, "0 on · 0 ended", NULL) >= 0);
	screen_press(&s, "Down Enter End q");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
	screen_end(&s);
}

/* Past events are not alerts. */
static void a_recording_has_none(void **state)
{
	static const struct tui_replay replay;

	(void)state;
	trouble(24, 80);
	s.t.options.replay = &replay;
	screen_press(&s, "A");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
	assert_true(strstr(s.t.message, "recording has no alerts"));
	leave();
}

/* ---- the lines above the processes ---- */

static void lines(size_t count)
{
	static const enum tui_alert_kind kinds[] = {
	    ALERT_TEMPERATURE, ALERT_XID, ALERT_HELD, ALERT_XID, ALERT_POWER};

	for (unsigned i = 0; i < count; i++) {
		alert_of(i, kinds[i], kinds[i] == ALERT_XID ? 79 : 95, 90);
		alerts.rows[i].fresh_ns = i + 1;
	}
	screen_draw(&s);
}

static void failures_first_then_the_newest(void **state)
{
	int first;

	(void)state;
	eight(24, 80);
	lines(5);
	first = screen_find(&s, "◆ GPU 3: Xid 79", NULL);
	assert_true(first > 0);
	assert_int_equal(screen_find(&s, "◆ GPU 1: Xid 79", NULL), first + 1);
	assert_int_equal(screen_find(&s, "▼ GPU 4: 95%", NULL), first + 2);
	assert_int_equal(screen_find(&s, "+2 more · A shows all", NULL),
			 first + 2);
	tui_mouse(&s.t, (struct term_mouse){.what = MOUSE_PRESS,
					    .row = first + 1,
					    .column = 30});
	assert_int_equal(s.t.screen, SCREEN_ALERTS);
	screen_end(&s);
}

static void a_long_one_takes_two_lines(void **state)
{
	int row, column;

	(void)state;
	eight(24, 60);
	lines(1);
	alerts.rows[0].kind = ALERT_HELD;
	strcpy(alerts.rows[0].words, "power brake");
	screen_draw(&s);
	row = screen_find(&s, "▼ GPU 0: power brake: slowed down for", NULL);
	assert_true(row > 0);
	assert_int_equal(screen_find(&s, "   s)", &column), row + 1);
	assert_int_equal(column, 0);
	screen_end(&s);
	/* Where there is only one line it is cut, and it names the model. */
	eight(14, 50);
	lines(2);
	alerts.rows[1].kind = ALERT_ECC;
	screen_draw(&s);
	row = screen_find(&s, "◆ GPU 1 H100: 79 uncorrected memory", NULL);
	assert_true(row > 0);
	assert_int_equal(screen_find(&s, "› +1 more", NULL), row);
	screen_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_looks_so),
	    cmocka_unit_test(the_newest_is_first_and_opens_its_gpu),
	    cmocka_unit_test(who_has_told_no_uuid_is_opened_all_the_same),
	    cmocka_unit_test(it_scrolls_and_tells_where_it_is),
	    cmocka_unit_test(of_before_it_shows_what_was_then),
	    cmocka_unit_test(without_any_it_says_so),
	    cmocka_unit_test(a_recording_has_none),
	    cmocka_unit_test(failures_first_then_the_newest),
	    cmocka_unit_test(a_long_one_takes_two_lines),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
