/* Alerts in lanes: their lines above the processes, and their own screen. */
#include "lanes_machines.h"

#include "tui/mouse.h"
#include "tui/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tui_alert_event events[TUI_ALERT_EVENTS];

/* Of a GPU, so many seconds ago, over after so many; 0: it is on. */
static void event_of(unsigned gpu, enum tui_alert_kind kind, int64_t value,
		     int64_t limit, unsigned ago, unsigned lasted)
{
	struct tui_alert_event *e = &events[alerts.event_count++];

	*e = (struct tui_alert_event){
	    .alert = {.gpu = gk_identity_of(&s.f.devices[gpu]),
		      .kind = kind,
		      .value = value,
		      .limit = limit},
	    .row = 1000 + alerts.event_count,
	    .number = alerts.event_count,
	    .began_ns = s.f.snap.wall_ns - ago * SECOND_NS,
	    .ended_ns =
		lasted ? s.f.snap.wall_ns - (ago - lasted) * SECOND_NS : 0};
	if (kind == ALERT_HELD)
		strcpy(e->alert.words, "power cap");
	alerts.events = events;
}

static void trouble(int rows, int columns)
{
	mixed(rows, columns);
	event_of(3, ALERT_ECC, 2, 1, 90000, 80000);
	event_of(0, ALERT_HELD, 41, 30, 900, 71);
	event_of(1, ALERT_TEMPERATURE, 90, 89, 300, 0);
	event_of(2, ALERT_XID, 79, 1, 163, 0);
	event_of(2, ALERT_LOST, 1, 1, 162, 0);
	event_of(0, ALERT_HUNG, 1, 1, 100, 12);
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
		screen_end(&s);
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
	/* It stays the same one while others come. */
	event_of(1, ALERT_XID, 31, 1, 0, 0);
	screen_draw(&s);
	assert_int_equal(view_alerts_selected(&s.t), 2);
	screen_press(&s, "Enter");
	assert_int_equal(s.t.screen, SCREEN_DEVICE);
	assert_string_equal(s.t.device.gpu.uuid, s.f.devices[2].uuid);
	screen_press(&s, "q A");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
	screen_end(&s);
}

/* GPU 2 was lost before the viewer began: it has told no UUID, ever. */
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
	assert_true(screen_find(&s, "nothing is known of it", NULL) >= 0);
	tui_alerts_free(&alerts);
	screen_end(&s);
}

static void it_scrolls_and_tells_where_it_is(void **state)
{
	(void)state;
	trouble(24, 80);
	for (unsigned i = 0; i < 60; i++)
		event_of(i % 4, ALERT_XID, 13, 1, 60 - i, 1);
	screen_press(&s, "A");
	screen_draw(&s);
	assert_true(screen_find(&s, "1–20 of 66 ▼", NULL) >= 0);
	screen_press(&s, "End");
	screen_draw(&s);
	assert_true(screen_find(&s, "47–66 of 66 ▲", NULL) >= 0);
	assert_true(screen_find(&s, "2 uncorrected", NULL) >= 0);
	screen_end(&s);
}

static void without_any_it_says_so(void **state)
{
	(void)state;
	eight(24, 80);
	screen_press(&s, "A");
	screen_draw(&s);
	assert_true(screen_find(&s, "Nothing happened yet", NULL) >= 0);
	assert_true(screen_find(&s, "0 on · 0 ended", NULL) >= 0);
	screen_press(&s, "Down Enter End q");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
	screen_end(&s);
}

/* What was is nobody's alert. */
static void a_recording_has_none(void **state)
{
	static const struct tui_replay replay;

	(void)state;
	trouble(24, 80);
	s.t.options.replay = &replay;
	screen_press(&s, "A");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
	assert_true(strstr(s.t.message, "a recording"));
	screen_end(&s);
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
	/* Where there is one line only it is cut, and names the model. */
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
	    cmocka_unit_test(without_any_it_says_so),
	    cmocka_unit_test(a_recording_has_none),
	    cmocka_unit_test(failures_first_then_the_newest),
	    cmocka_unit_test(a_long_one_takes_two_lines),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
