/* Which machine files are believed, and what is made of those that are not. */
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/numbers.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"
#include "machine/store/ledger.h"
#include "machine/store/machine.h"

#include <sys/stat.h>

#define STRANGER 12345

static struct fixture fx;

static int open_it(void **state)
{
	(void)state;
	fixture_open(&fx, 1);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static struct gkf_machine *open_strangers(void)
{
	struct gkf_machine *m = NULL;

	if (chown(fx.path, STRANGER, STRANGER))
		skip();
	assert_int_equal(gkf_machine_open(fx.path, &m), 0);
	return m;
}

static void a_machine_of_another_user_is_a_copy(void **state)
{
	struct gkf_machine *m = open_strangers();
	int64_t value = 0;

	(void)state;
	assert_true(gkf_machine_is_copy(m));
	assert_false(gkf_machine_is_copy(fx.m));
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 77), 0);
	assert_true(gkf_value_get(m, 0, GKF_V_TEMPERATURE, &value));
	assert_int_not_equal(value, 77);
	gkf_machine_close(m);
}

static void a_copy_cannot_be_changed(void **state)
{
	struct gkf_machine *m = open_strangers();
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_attach(m, 0, GKF_COMPUTE, NULL, &slot),
			 GK_ERR_PERMISSION);
	assert_int_equal(gkf_value_set(m, 0, GKF_V_TEMPERATURE, 50),
			 GK_ERR_PERMISSION);
	assert_int_equal(gkf_clock_speed(m, 1000), GK_ERR_PERMISSION);
	assert_int_equal(gkf_machine_settle(m), 0);
	gkf_machine_close(m);
}

static void the_time_of_a_copy_stands(void **state)
{
	struct gkf_machine *m = open_strangers();
	uint64_t then = gkf_machine_ns(m);

	(void)state;
	assert_int_equal(gkf_machine_age(fx.m, GK_NS_PER_S), 0);
	assert_true(gkf_machine_ns(m) == then);
	gkf_machine_close(m);
}

/* Its owner may do with his file what he likes. */
static void a_copy_outlives_its_file(void **state)
{
	struct gkf_machine *m = open_strangers();
	struct gkf_state s;

	(void)state;
	assert_int_equal(truncate(fx.path, 0), 0);
	gkf_state_now(m, 0, &s);
	gkf_reap(m, true);
	gkf_machine_close(m);
}

static void what_is_shared_by_its_owner_is_no_copy(void **state)
{
	struct gkf_machine *m = NULL;

	(void)state;
	assert_int_equal(chmod(fx.path, 0666), 0);
	assert_int_equal(gkf_machine_open(fx.path, &m), 0);
	assert_false(gkf_machine_is_copy(m));
	gkf_machine_close(m);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_it, close_it)
	const struct CMUnitTest tests[] = {
	    T(a_machine_of_another_user_is_a_copy),
	    T(a_copy_cannot_be_changed),
	    T(the_time_of_a_copy_stands),
	    T(a_copy_outlives_its_file),
	    T(what_is_shared_by_its_owner_is_no_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
