/* The thread of a GPU: what it reads by the clock. */
#include "core/context.h"
#include "core/scripted.h"
#include "core/worker.h"

static int setup(void **state)
{
	scripted_setup(state);
	scripted_reset(1);
	return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, scripted_teardown)

static unsigned fast_reads(void)
{
	return scripted_calls("nvmlDeviceGetUtilizationRates");
}

/* Until all that was asked, or was due, is read. */
static void read_tiers(struct gk_worker *w, unsigned tiers)
{
	assert_int_equal(gk_worker_ask(w, tiers), 0);
	assert_true(gk_worker_wait(w, gk_mono_ns() + 30 * GK_NS_PER_S));
}

/* A hundred are due at once: they are read once, not after one another. */
static void missed_periods_are_left_out(void **state)
{
	uint64_t now = gk_mono_ns(), start[GK_TIER_COUNT] = {0};
	uint64_t period[GK_TIER_COUNT] = {[GK_TIER_FAST] = now / 128};
	struct gk_worker *w;
	unsigned before, one;

	(void)state;
	start[GK_TIER_FAST] = now - 100 * period[GK_TIER_FAST];
	scripted_open();
	scripted_take();
	w = t.gk->workers[0];
	before = fast_reads();
	read_tiers(w, 1U << GK_TIER_FAST);
	one = fast_reads() - before;
	assert_true(one > 0);
	before = fast_reads();
	gk_worker_schedule(w, start, period);
	read_tiers(w, 1U << GK_TIER_SLOW);
	/* A loaded machine may take some periods to get there. */
	assert_in_range(fast_reads() - before, one, 20 * one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(missed_periods_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
