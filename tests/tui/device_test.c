/* The screen of a GPU: its facts in words, its graphs, choosing another. */
#include "base/clock.h"
#include "tui/facts.h"
#include "tui/screen.h"
#include "tui/view.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <string.h>

static struct screen s;

static void live(int seconds)
{
	for (int i = 0; i < seconds; i++) {
		struct gk_device *d = &s.f.devices[1];

		s.f.snap.mono_ns += GK_NS_PER_S;
		d->read_ns[GK_TIER_FAST] = s.f.snap.mono_ns;
		d->m[GK_M_GPU_UTIL] = present(i % 50 * 2);
		d->m[GK_M_POWER] = present(100000 + i * 2000);
		d->m[GK_M_TEMP] = present(40 + i / 4);
		gk_history_add(s.t.history, &s.f.snap);
	}
}

static int begin(void **state)
{
	static const struct {
		enum gk_metric metric;
		int64_t value;
	} more[] = {
	    {GK_M_SM_CLOCK_MAX, 1410000000}, {GK_M_MEM_CLOCK_MAX, 1593000000},
	    {GK_M_THROTTLE, 0x24},           {GK_M_POWER_MIN, 100000},
	    {GK_M_POWER_MAX, 400000},        {GK_M_TEMP_SLOWDOWN, 92},
	    {GK_M_TEMP_SHUTDOWN, 95},        {GK_M_PCIE_GEN, 4},
	    {GK_M_PCIE_GEN_MAX, 4},          {GK_M_PCIE_WIDTH, 8},
	    {GK_M_PCIE_WIDTH_MAX, 16},       {GK_M_ECC_MODE, 1},
	    {GK_M_BAR1_USED, 1 << 20},       {GK_M_BAR1_TOTAL, 1LL << 37},
	};

	(void)state;
	screen_begin(&s, 24, 80);
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		s.f.devices[1].m[more[i].metric] = present(more[i].value);
	live(120);
	return 0;
}

static int end(void **state)
{
	(void)state;
	screen_end(&s);
	return 0;
}

static const char *fact(const char *title)
{
	static struct gk_buf text;

	gk_buf_free(&text);
	for (int i = 0; i < tui_fact_count(); i++)
		if (!strcmp(tui_fact_title(i), title))
			tui_fact_add(&text, i, &s.f.snap, &s.f.devices[1]);
	assert_non_null(text.data);
	return text.data;
}

static void all_of_a_gpu_is_drawn(void **state)
{
	(void)state;
	screen_press(&s, "d Right");
	assert_int_equal(s.t.screen, SCREEN_DEVICE);
	assert_screen(&s, "tui/device-80x24");
	screen_press(&s, "PageDown");
	assert_screen(&s, "tui/device-80x24-below");
	screen_resize(&s, 40, 120);
	assert_screen(&s, "tui/device-120x40");
	screen_resize(&s, 10, 40);
	assert_screen(&s, "tui/device-40x10");
}

static void facts_are_in_words(void **state)
{
	(void)state;
	assert_string_equal(fact("Health"), "ok");
	assert_string_equal(fact("Clocks held by"), "power limit, too warm");
	assert_string_equal(fact("Power range"), "100W to 400W");
	assert_string_equal(fact("SM clock"), "1410MHz of 1410MHz");
	assert_string_equal(fact("PCIe width"), "x8 of x16");
	assert_string_equal(fact("ECC"), "on");
	assert_string_equal(fact("Performance state"), "P0");
	assert_string_equal(fact("BAR1"), "1.00MiB / 128.0GiB (0.0%)");
	assert_string_equal(fact("Compute mode"), "default");
	assert_string_equal(fact("Fan"), "100%");
	assert_string_equal(fact("Row remapping"), "not supported");
	s.f.devices[1].m[GK_M_ROWS_CORRECTED] = present(2);
	s.f.devices[1].m[GK_M_ROWS_UNCORRECTED] = present(1);
	s.f.devices[1].m[GK_M_ROWS_PENDING] = present(1);
	assert_string_equal(fact("Rows, corrected"), "2");
	assert_string_equal(fact("Rows, uncorrected"), "1");
	assert_string_equal(fact("Row remapping"), "pending a reset");
	s.f.devices[1].m[GK_M_ROWS_FAILED] = present(1);
	assert_string_equal(fact("Row remapping"), "failed");
	s.f.devices[1].m[GK_M_COMPUTE_MODE] = present(3);
	assert_string_equal(fact("Compute mode"), "exclusive process");
	s.f.devices[1].m[GK_M_THROTTLE] = present(0);
	assert_string_equal(fact("Clocks held by"), "none");
	s.f.devices[1].m[GK_M_THROTTLE] = present(0x8000);
	assert_string_equal(fact("Clocks held by"), "0x8000");
}

static void old_traffic_is_no_traffic(void **state)
{
	struct gk_device *d = &s.f.devices[1];

	(void)state;
	assert_string_equal(fact("PCIe to GPU"), "not supported");
	d->m[GK_M_PCIE_RX] = present(3 << 20);
	d->read_ns[GK_TIER_ASKED] = s.f.snap.mono_ns - GK_NS_PER_S;
	assert_string_equal(fact("PCIe to GPU"), "3.00MiB/s");
	d->read_ns[GK_TIER_ASKED] = s.f.snap.mono_ns - 9 * GK_NS_PER_S;
	assert_string_equal(fact("PCIe to GPU"), "not read yet");
}

/* MIG devices are lines of their GPU and no stations. */
static void left_and_right_go_round_the_gpus(void **state)
{
	static const int order[] = {1, 2, 3, 4, 0};

	(void)state;
	assert_int_equal(view_device_index(&s.t), -1);
	screen_press(&s, "d");
	assert_int_equal(view_device_index(&s.t), 0);
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		screen_press(&s, "Right");
		assert_int_equal(view_device_index(&s.t), order[i]);
	}
	screen_press(&s, "Left Left Left");
	assert_int_equal(view_device_index(&s.t), 2);
	screen_resize(&s, 60, 120);
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "1g.10gb  GI/CI 7/0", NULL), -1);
	assert_int_not_equal(screen_find(&s, "MIG 5", NULL), -1);
	screen_press(&s, "d");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
}

static void it_opens_at_the_gpu_of_the_selected_process(void **state)
{
	(void)state;
	while (!tui_process(&s.t) || tui_process(&s.t)->pid != 4242)
		screen_press(&s, "Down"); /* on a MIG device of GPU 2 */
	screen_press(&s, "d");
	assert_int_equal(view_device_index(&s.t), 2);
}

static void what_is_lost_says_so(void **state)
{
	(void)state;
	screen_press(&s, "d Left Left");
	assert_int_equal(view_device_index(&s.t), 3);
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "GPU is lost", NULL), -1);
}

static void graphs_are_chosen(void **state)
{
	/* Ten have values, six fit: the second page is as full as the first. */
	static const char *const titles[][2] = {
	    {"GPU utilisation: 38% (max 98%)", "SM clock: 1410MHz"},
	    {"memory bandwidth: 16% (max 16%)", "fan: 100% (max 100%)"},
	};

	(void)state;
	screen_resize(&s, 40, 120);
	screen_press(&s, "d Right");
	for (size_t i = 0; i < 4; i++) {
		for (size_t k = 0; k < 2; k++) {
			screen_draw(&s);
			assert_int_not_equal(
			    screen_find(&s, titles[i % 2][k], NULL), -1);
		}
		screen_press(&s, "g");
	}
}

/* Traffic that is not read any more is a gap, not its last value. */
static void graphs_have_no_old_traffic(void **state)
{
	struct gk_device *d = &s.f.devices[1];

	(void)state;
	d->m[GK_M_PCIE_RX] = present(300 << 20);
	d->m[GK_M_PCIE_TX] = present(20LL << 30);
	d->read_ns[GK_TIER_ASKED] = s.f.snap.mono_ns + GK_NS_PER_S;
	live(1);
	screen_resize(&s, 80, 120);
	screen_press(&s, "d Right g");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "PCIe to GPU: 300.0MiB/s", NULL),
			     -1);
	assert_int_not_equal(screen_find(&s, "╴20GiB/s", NULL), -1);
	live(5);
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "PCIe to GPU: not read", NULL),
			     -1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(all_of_a_gpu_is_drawn),
	    T(facts_are_in_words),
	    T(old_traffic_is_no_traffic),
	    T(left_and_right_go_round_the_gpus),
	    T(it_opens_at_the_gpu_of_the_selected_process),
	    T(what_is_lost_says_so),
	    T(graphs_are_chosen),
	    T(graphs_have_no_old_traffic),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
