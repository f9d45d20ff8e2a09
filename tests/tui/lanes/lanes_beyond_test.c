/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_beyond_test.c - checks that unchecked values stay in their place on all
 * screens of both looks (sanitizers watch).
 */
#include "lanes_machines.h"

#include "base/array.h"

#include <math.h>
#include <string.h>

static const int64_t told[] = {2000000000, 65535,     101,         -1,
			       1 << 20,    1LL << 53, -(1LL << 53)};

static void tell_all(int64_t value)
{
	struct gk_host *host = &s.f.snap.host;
	struct gk_value v = {.v = value};

	for (size_t i = 0; i < s.f.snap.device_count; i++)
		for (int m = 0; m < GK_M_COUNT; m++)
			s.f.devices[i].m[m] = v;
	for (size_t i = 0; i < s.f.snap.process_count; i++)
		for (int m = 0; m < GK_PM_COUNT; m++)
			s.f.processes[i].m[m].v = value / 1024;
	host->cpu_centipercent = host->mem_total = host->mem_available = v;
	host->swap_total = host->swap_free = v;
	for (size_t i = 0; i < COUNT(host->load_centi); i++)
		host->load_centi[i] = v;
}

static void draw_all(void)
{
	static const char *const keys[] = {"d", "Right", "Esc", "t",  "Esc",
					   "u", "Esc",   "m",   "Esc"};

	screen_draw(&s);
	for (size_t i = 0; i < COUNT(keys); i++) {
		screen_press(&s, keys[i]);
		screen_draw(&s);
	}
}

static void check_look(enum tui_look look, int64_t value)
{
	eight(40, 120);
	s.t.options.look = look;
	tell_all(value);
	for (int i = 0; i < 3; i++) {
		s.f.snap.mono_ns += SECOND_NS;
		gk_history_add(s.t.history, &s.f.snap);
	}
	draw_all();
	screen_resize(&s, 10, 50);
	draw_all();
	screen_end(&s);
}

static void nothing_is_drawn_beyond_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(told); i++) {
		check_look(LOOK_LANES, told[i]);
		check_look(LOOK_NVITOP, told[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_drawn_beyond_its_place),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
