/* The rows of several machines: where they stand. */
#include "tui/model.h"

#include "unit.h"

#include "base/clock.h"

#include <limits.h>
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

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(the_worst_are_first),
	    T(what_comes_and_goes_moves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
