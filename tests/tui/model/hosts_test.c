/* SPDX-License-Identifier: Apache-2.0 */
/* hosts_test.c - checks the rows of several machines and their order. */
#include "tui/settings/bindings.h"
#include "tui/model/model.h"
#include "tui/views/view.h"

#include "unit.h"

#include "base/array.h"
#include "base/clock.h"

#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS 4
#define S     GK_NS_PER_S

static struct tui *t;
static struct gk_device gpus[HOSTS];

static int begin(void **state)
{
	(void)state;
	t = calloc(1, sizeof *t);
	t->hosts.list = calloc(HOSTS, sizeof *t->hosts.list);
	t->hosts.order = calloc(HOSTS, sizeof *t->hosts.order);
	t->hosts.count = HOSTS;
	for (size_t i = 0; i < HOSTS; i++) {
		struct tui_host *host = &t->hosts.list[i];

		gpus[i] = (struct gk_device){.mig_index = -1, .parent = -1};
		gpus[i].m[GK_M_INFOROM_VALID].v = 1;
		snprintf(gpus[i].uuid, sizeof gpus[i].uuid, "GPU-%zu", i);
		host->part.devices = &gpus[i];
		host->part.device_count = 1;
		host->rank = INT_MAX;
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(t->hosts.list);
	free(t->hosts.order);
	free(t);
	return 0;
}

static const char *order_at(uint64_t now)
{
	static char text[HOSTS + 1];

	tui_hosts_sort(t, now);
	for (size_t i = 0; i < HOSTS; i++)
		text[i] = (char)('0' + t->hosts.order[i]);
	return text;
}

static void set_away(size_t host, bool away)
{
	t->hosts.list[host].state.away_ns = away;
}

static void the_worst_are_first(void **state)
{
	(void)state;
	assert_string_equal(order_at(S), "0123");
	gpus[2].health = GK_HEALTH_STALE;
	gpus[3].health = GK_HEALTH_LOST;
	assert_string_equal(order_at(2 * S), "3201");
	set_away(1, true);
	assert_string_equal(order_at(3 * S), "1320");
	assert_int_equal(tui_hosts_place(t, 2), 2);
	assert_int_equal(tui_hosts_place(t, HOSTS), -1);
}

static void what_comes_and_goes_moves_nothing(void **state)
{
	(void)state;
	set_away(2, true);
	assert_string_equal(order_at(S), "2013");
	for (unsigned i = 2; i < 60; i++) {
		set_away(2, i % 2);
		assert_string_equal(order_at(i * S), "2013");
	}
	set_away(2, false);
	assert_string_equal(order_at(60 * S), "2013");
	assert_string_equal(order_at(69 * S), "2013");
	assert_string_equal(order_at(70 * S), "0123");
}

/* Whatever the snapshot contains, each mark stays on its scale. */
static void no_sign_is_beyond_its_scale(void **state)
{
	static const int64_t told[] = {2000000000, INT64_MAX, INT64_MIN,
				       65535,      101,       -1};
	struct grid g = {0};

	(void)state;
	assert_true(grid_resize(&g, HOSTS + 4, 100));
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	t->keymap = tui_bindings_map(&t->options);
	assert_non_null(t->keymap);
	for (size_t i = 0; i < HOSTS; i++) {
		t->hosts.list[i].snap = &t->hosts.list[i].part;
		t->hosts.list[i].state.name = "host";
		t->hosts.order[i] = i;
	}
	for (size_t i = 0; i < COUNT(told); i++) {
		gpus[0].read_ns[GK_TIER_MEDIUM] = S;
		t->hosts.list[0].part.mono_ns = S;
		gpus[0].m[GK_M_GPU_UTIL] = (struct gk_value){.v = told[i]};
		gpus[0].m[GK_M_MEM_USED] = (struct gk_value){.v = told[i]};
		gpus[0].m[GK_M_MEM_TOTAL] = (struct gk_value){.v = 1};
		view_hosts(t, &g);
		assert_true(grid_at(&g, 2, 8)->c ==
			    (told[i] > 0 ? L'█' : L'▁'));
	}
	tui_keymap_free(t->keymap);
	grid_free(&g);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(the_worst_are_first),
	    T(what_comes_and_goes_moves_nothing),
	    T(no_sign_is_beyond_its_scale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
