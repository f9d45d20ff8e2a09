/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecc_repair_test.c - checks that single memory errors lead to remapped rows,
 * retired pages, addresses and refusals.
 */
#include "abi/nvml/nvml_abi.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mix.h"
#include "machine/file/ecc_state.h"
#include "machine/file/event_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/ecc.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/store/machine.h"
#include "machine/store/writers_lock.h"

enum { ROW = 4096, PAGE = 65536, BANKS = 640 };

static struct fixture fx;

static int open_of(const struct gkf_profile *profile)
{
	const struct gkf_machine_spec spec = {
	    .device_count = 1, .profiles = profile, .frozen = true};

	fixture_open_spec(&fx, &spec);
	gkf_event_interest(fx.m, UINT64_MAX);
	return 0;
}

static int open_a100(void **state)
{
	(void)state;
	return open_of(&gkf_profile_default);
}

/* All rows in one bank. */
static int open_one_bank(void **state)
{
	struct gkf_profile p = gkf_profile_default;

	(void)state;
	p.remap_banks = 1;
	return open_of(&p);
}

static int open_old(void **state)
{
	struct gkf_profile p = gkf_profile_default;

	(void)state;
	p.compute_major = 7;
	p.remap_banks = -1;
	return open_of(&p);
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static void strike_at(enum gkf_ecc_kind kind, uint64_t address, uint64_t count)
{
	assert_int_equal(gkf_ecc_error_at(fx.m, 0, kind, address, count), 0);
}

static void reset(void)
{
	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_ecc_reset(fx.m, 0);
	gkf_unlock(fx.m);
}

static void assert_rows(unsigned corrected, unsigned uncorrected, bool pending)
{
	struct gkf_ecc_rows rows;
	const unsigned *now = pending ? rows.pending : rows.active;
	const unsigned *other = pending ? rows.active : rows.pending;

	assert_true(gkf_ecc_rows(fx.m, 0, &rows));
	assert_int_equal(now[GKF_ECC_BY_CORRECTED], corrected);
	assert_int_equal(now[GKF_ECC_BY_UNCORRECTED], uncorrected);
	assert_int_equal(other[0] + other[1], 0);
	assert_false(rows.failed);
}

static void a_row_is_remapped_for_what_befell_it(void **state)
{
	(void)state;
	strike_at(GKF_ECC_CORRECTED, 5 * ROW, 1);
	assert_rows(0, 0, true);
	strike_at(GKF_ECC_CORRECTED, 6 * ROW - 1, 1); /* the same row */
	assert_rows(1, 0, true);
	strike_at(GKF_ECC_CORRECTED, 6 * ROW, 1);
	assert_rows(1, 0, true);
	strike_at(GKF_ECC_CORRECTED, 7 * ROW, 2); /* twice at once */
	assert_rows(2, 0, true);
	strike_at(GKF_ECC_SECDED, 8 * ROW, 1);
	assert_rows(2, 1, true);
	strike_at(GKF_ECC_SECDED, 8 * ROW + 7, 1); /* it is remapped */
	strike_at(GKF_ECC_PARITY, 5 * ROW, 1);
	assert_rows(2, 1, true);
	reset();
	assert_rows(2, 1, false);
}

/* All, most, some, one, none of eight. */
static const unsigned kinds[] = {0, 1, 1, 2, 2, 2, 2, 3, 4};

static void spare_rows_of_a_bank_go_from_all_to_none(void **state)
{
	struct gkf_ecc_rows rows;

	(void)state;
	for (unsigned used = 0; used <= 8; used++) {
		assert_true(gkf_ecc_rows(fx.m, 0, &rows));
		for (unsigned k = 0; k < 5; k++)
			assert_int_equal(rows.banks[k], k == kinds[used]);
		assert_false(rows.failed);
		assert_false(gkf_ecc_repairs(fx.m, 0).channel);
		strike_at(GKF_ECC_SECDED, used * ROW, 1);
	}
	assert_true(gkf_ecc_rows(fx.m, 0, &rows));
	assert_true(rows.failed);
	assert_int_equal(rows.pending[GKF_ECC_BY_UNCORRECTED], 8);
	assert_int_equal(rows.banks[4], 1);
	assert_true(gkf_ecc_repairs(fx.m, 0).channel);
	reset();
	assert_true(gkf_ecc_rows(fx.m, 0, &rows));
	assert_true(rows.failed);
	assert_false(gkf_ecc_repairs(fx.m, 0).channel);
}

static void every_bank_is_counted_once(void **state)
{
	unsigned used[BANKS] = {0}, banks[5] = {0};
	struct gkf_ecc_rows rows;

	(void)state;
	for (uint64_t row = 0; row < 400; row++) {
		strike_at(GKF_ECC_SECDED, row * ROW, 1);
		used[gkf_mix(row) % BANKS]++;
	}
	for (unsigned b = 0; b < BANKS; b++)
		banks[kinds[used[b]]]++;
	assert_true(banks[1] > 0 && banks[2] > 0);
	assert_true(gkf_ecc_rows(fx.m, 0, &rows));
	assert_memory_equal(rows.banks, banks, sizeof banks);
	assert_int_equal(rows.pending[GKF_ECC_BY_UNCORRECTED], 400);
}

static void a_page_is_retired_with_its_time(void **state)
{
	struct gkf_ecc_page page[3] = {{.address = 77}, {.address = 78}};
	struct gkf_ecc_rows rows;

	(void)state;
	assert_true(gkf_ecc_retires(fx.m, 0));
	assert_false(gkf_ecc_rows(fx.m, 0, &rows));
	gkf_machine_age(fx.m, 3600 * GK_NS_PER_S);
	strike_at(GKF_ECC_SECDED, 3 * PAGE + 5, 1);
	strike_at(GKF_ECC_SECDED, 4 * PAGE - 1, 1); /* the same page */
	strike_at(GKF_ECC_CORRECTED, 9 * PAGE, 2);
	strike_at(GKF_ECC_SECDED, 4 * PAGE, 1);
	assert_int_equal(
	    gkf_ecc_pages(fx.m, 0, GKF_ECC_BY_UNCORRECTED, page, 1), 2);
	assert_int_equal(page[0].address, 3 * PAGE);
	assert_true(page[0].pending);
	assert_int_equal(page[0].seconds,
			 gkf_wall_us(fx.m, gkf_machine_ns(fx.m)) / 1000000);
	assert_int_equal(page[1].address, 78); /* there was room for one */
	assert_int_equal(
	    gkf_ecc_pages(fx.m, 0, GKF_ECC_BY_UNCORRECTED, page, 2), 2);
	assert_int_equal(page[1].address, 4 * PAGE);
	assert_int_equal(gkf_ecc_pages(fx.m, 0, GKF_ECC_BY_CORRECTED, page, 3),
			 1);
	assert_int_equal(page[0].address, 9 * PAGE);
	reset();
	assert_int_equal(gkf_ecc_pages(fx.m, 0, GKF_ECC_BY_CORRECTED, page, 3),
			 1);
	assert_false(page[0].pending);
}

static void pages_without_room_are_failures(void **state)
{
	(void)state;
	for (unsigned i = 0; i < GKF_ECC_PAGES_MAX; i++)
		strike_at(GKF_ECC_SECDED, i * PAGE, 1);
	assert_int_equal(atomic_load(&fx.file->device[0].ecc.failures), 0);
	strike_at(GKF_ECC_SECDED, GKF_ECC_PAGES_MAX * PAGE, 1);
	assert_int_equal(atomic_load(&fx.file->device[0].ecc.failures), 1);
	strike_at(GKF_ECC_SECDED, (GKF_ECC_PAGES_MAX - 1) * PAGE, 1);
	assert_int_equal(atomic_load(&fx.file->device[0].ecc.failures), 1);
	assert_int_equal(
	    gkf_ecc_pages(fx.m, 0, GKF_ECC_BY_UNCORRECTED, NULL, 0), 64);
}

static int strike(enum gkf_ecc_kind kind, enum gkf_ecc_location location,
		  uint64_t count)
{
	return gkf_ecc_error(fx.m, 0, kind, location, count);
}

static void addresses_of_sram_are_kept_one_by_one(void **state)
{
	struct gkf_ecc_unique u[GKF_ECC_UNIQUE_MAX + 1];

	(void)state;
	u[1].count = 4711;
	assert_int_equal(strike(GKF_ECC_CORRECTED, GKF_ECC_L2, 5), 0);
	assert_int_equal(gkf_ecc_uniques(fx.m, 0, u, 1), 0);
	assert_int_equal(strike(GKF_ECC_PARITY, GKF_ECC_L2, 5), 0);
	assert_int_equal(strike(GKF_ECC_SECDED, GKF_ECC_OTHER, 6), 0);
	assert_int_equal(gkf_ecc_uniques(fx.m, 0, u, 1), 2);
	assert_int_equal(u[1].count, 4711);
	assert_int_equal(gkf_ecc_uniques(fx.m, 0, u, 2), 2);
	assert_int_equal(u[0].location, GKF_ECC_L2);
	assert_true(u[0].parity);
	assert_int_equal(u[0].count, 5);
	assert_int_equal(u[1].location, GKF_ECC_OTHER);
	assert_false(u[1].parity);
	assert_int_equal(u[1].count, 6);
	assert_int_not_equal(u[0].address, u[1].address);
	for (unsigned i = 2; i < GKF_ECC_UNIQUE_MAX + 3; i++)
		assert_int_equal(strike(GKF_ECC_SECDED, GKF_ECC_L1, i), 0);
	assert_int_equal(gkf_ecc_uniques(fx.m, 0, u, 65), 64);
	assert_int_equal(u[63].count, 63);
	reset();
	assert_int_equal(gkf_ecc_clear(fx.m, 0, GKF_ECC_VOLATILE), 0);
	assert_int_equal(gkf_ecc_uniques(fx.m, 0, NULL, 0), 64);
	assert_int_equal(gkf_ecc_clear(fx.m, 0, GKF_ECC_AGGREGATE), 0);
	assert_int_equal(gkf_ecc_uniques(fx.m, 0, NULL, 0), 0);
}

static void errors_that_cannot_be_are_refused(void **state)
{
	const uint64_t size = 81920ULL << 20;

	(void)state;
	assert_int_equal(strike(GKF_ECC_KINDS, GKF_ECC_L1, 1), GK_ERR_RANGE);
	assert_int_equal(strike(GKF_ECC_SECDED, GKF_ECC_LOCATIONS, 1),
			 GK_ERR_RANGE);
	assert_int_equal(strike(GKF_ECC_SECDED, GKF_ECC_L1, 0), GK_ERR_RANGE);
	assert_int_equal(
	    strike(GKF_ECC_SECDED, GKF_ECC_L1, GKF_ECC_COUNT_MAX + 1),
	    GK_ERR_RANGE);
	assert_int_equal(gkf_ecc_error_at(fx.m, 0, GKF_ECC_SECDED, size, 1),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_event_last(fx.m), 0);
	assert_int_equal(
	    gkf_ecc_sum(fx.m, 0, GKF_ECC_AGGREGATE, GKF_ECC_ALL_LOCATIONS, 7),
	    0);
	assert_int_equal(strike(GKF_ECC_SECDED, GKF_ECC_L1, GKF_ECC_COUNT_MAX),
			 0);
	assert_int_equal(strike(GKF_ECC_PARITY, GKF_ECC_OTHER, 1), 0);
	strike_at(GKF_ECC_SECDED, size - 1, 1);
	assert_int_equal(gkf_ecc_sum(fx.m, 0, GKF_ECC_AGGREGATE,
				     GKF_ECC_BIT(GKF_ECC_DRAM), 7),
			 1);
	assert_int_equal(
	    gkf_ecc_sum(fx.m, 0, GKF_ECC_AGGREGATE, GKF_ECC_ALL_LOCATIONS, 7),
	    GKF_ECC_COUNT_MAX + 2);
	gkf_value_set(fx.m, 0, GKF_V_ECC_MODE, 0);
	assert_int_equal(strike(GKF_ECC_SECDED, GKF_ECC_L1, 1),
			 GK_ERR_NOT_SUPPORTED);
	assert_int_equal(gkf_ecc_clear(fx.m, 0, GKF_ECC_VOLATILE),
			 GK_ERR_NOT_SUPPORTED);
}

static void an_error_is_an_event_of_its_kind(void **state)
{
	uint64_t number = 0;
	struct gkf_event e;

	(void)state;
	assert_int_equal(strike(GKF_ECC_CORRECTED, GKF_ECC_L2, 1), 0);
	assert_true(gkf_event_next(fx.m, &number, &e));
	assert_int_equal(e.type, nvmlEventTypeSingleBitEccError);
	assert_int_equal(e.data, 0);
	assert_int_equal(e.instance, GKF_NO_INSTANCE);
	assert_int_equal(strike(GKF_ECC_SECDED, GKF_ECC_L2, 1), 0);
	assert_true(gkf_event_next(fx.m, &number, &e));
	assert_int_equal(e.type, nvmlEventTypeDoubleBitEccError);
}

static uint64_t dram(enum gkf_ecc_counter counter, enum gkf_ecc_kind kind)
{
	return gkf_ecc_sum(fx.m, 0, counter, GKF_ECC_BIT(GKF_ECC_DRAM),
			   GKF_ECC_BIT(kind));
}

static void counts_that_were_set_are_taken_over(void **state)
{
	(void)state;
	assert_int_equal(strike(GKF_ECC_CORRECTED, GKF_ECC_DRAM, 3), 0);
	assert_int_equal(dram(GKF_ECC_VOLATILE, GKF_ECC_CORRECTED), 3);
	gkf_value_set(fx.m, 0, GKF_V_ECC_CORRECTED, 0);
	assert_int_equal(dram(GKF_ECC_VOLATILE, GKF_ECC_CORRECTED), 0);
	assert_int_equal(dram(GKF_ECC_AGGREGATE, GKF_ECC_CORRECTED), 3);
	gkf_value_set(fx.m, 0, GKF_V_ECC_CORRECTED, 10);
	gkf_value_set(fx.m, 0, GKF_V_ECC_UNCORRECTED, 4);
	assert_int_equal(dram(GKF_ECC_VOLATILE, GKF_ECC_CORRECTED), 10);
	assert_int_equal(dram(GKF_ECC_AGGREGATE, GKF_ECC_CORRECTED), 10);
	assert_int_equal(dram(GKF_ECC_VOLATILE, GKF_ECC_SECDED), 4);
	/*
	 * The next error is added to the set value, which then is set no
	 * longer.
	 */
	assert_int_equal(strike(GKF_ECC_CORRECTED, GKF_ECC_DRAM, 1), 0);
	assert_false(gkf_value_is_asked(fx.m, 0, GKF_V_ECC_CORRECTED));
	assert_int_equal(dram(GKF_ECC_VOLATILE, GKF_ECC_CORRECTED), 11);
	assert_int_equal(dram(GKF_ECC_AGGREGATE, GKF_ECC_CORRECTED), 11);
	gkf_value_set(fx.m, 0, GKF_V_ECC_CORRECTED, 20);
	assert_int_equal(gkf_ecc_clear(fx.m, 0, GKF_ECC_VOLATILE), 0);
	assert_int_equal(dram(GKF_ECC_VOLATILE, GKF_ECC_CORRECTED), 0);
	assert_int_equal(dram(GKF_ECC_AGGREGATE, GKF_ECC_CORRECTED), 20);
	assert_int_equal(dram(GKF_ECC_AGGREGATE, GKF_ECC_SECDED), 4);
}

static void ten_errors_of_the_sms_pass_eleven_do_not(void **state)
{
	(void)state;
	assert_int_equal(strike(GKF_ECC_CORRECTED, GKF_ECC_L1, 50), 0);
	assert_int_equal(strike(GKF_ECC_SECDED, GKF_ECC_L1, 6), 0);
	assert_int_equal(strike(GKF_ECC_PARITY, GKF_ECC_CBU, 4), 0);
	assert_int_equal(strike(GKF_ECC_SECDED, GKF_ECC_L2, 10), 0);
	assert_false(gkf_ecc_sram_exceeded(fx.m, 0));
	assert_false(gkf_ecc_repairs(fx.m, 0).tpc);
	assert_int_equal(strike(GKF_ECC_SECDED, GKF_ECC_SHARED, 1), 0);
	assert_true(gkf_ecc_sram_exceeded(fx.m, 0));
	assert_true(gkf_ecc_repairs(fx.m, 0).tpc);
	reset(); /* mends the SMs; the board remembers */
	assert_true(gkf_ecc_sram_exceeded(fx.m, 0));
	assert_false(gkf_ecc_repairs(fx.m, 0).tpc);
}

static void an_instance_has_the_errors_of_its_slices(void **state)
{
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "7g.80gb()", &part), 0);
	assert_int_equal(strike(GKF_ECC_CORRECTED, GKF_ECC_L2, 50), 0);
	assert_int_equal(strike(GKF_ECC_SECDED, GKF_ECC_OTHER, 50), 0);
	assert_int_equal(gkf_ecc_of_instance(fx.m, 0, 0), 0);
	assert_int_equal(strike(GKF_ECC_SECDED, GKF_ECC_L2, 3), 0);
	assert_int_equal(strike(GKF_ECC_PARITY, GKF_ECC_REGISTERS, 4), 0);
	assert_int_equal(gkf_ecc_of_instance(fx.m, 0, 0), 7);
	assert_int_equal(gkf_ecc_of_instance(fx.m, 0, 1), 0);
	/* The next instance with this id has none of them. */
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, 0, 0), 0);
	assert_int_equal(gkf_ecc_of_instance(fx.m, 0, 0), 0);
	assert_int_equal(
	    gkf_mig_layout(fx.m, 0, "3g.40gb@0()+3g.40gb@4()", &part), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(strike(GKF_ECC_SECDED, GKF_ECC_L2, 1), 0);
	assert_int_equal(gkf_ecc_of_instance(fx.m, 0, 1) +
			     gkf_ecc_of_instance(fx.m, 0, 2),
			 20);
	assert_true(gkf_ecc_of_instance(fx.m, 0, 1) > 0);
	assert_true(gkf_ecc_of_instance(fx.m, 0, 2) > 0);
	assert_int_equal(gkf_ecc_clear(fx.m, 0, GKF_ECC_VOLATILE), 0);
	assert_int_equal(gkf_ecc_of_instance(fx.m, 0, 1), 0);
}

int main(void)
{
#define OF(name, open) cmocka_unit_test_setup_teardown(name, open, close_it)
	const struct CMUnitTest tests[] = {
	    OF(a_row_is_remapped_for_what_befell_it, open_a100),
	    OF(spare_rows_of_a_bank_go_from_all_to_none, open_one_bank),
	    OF(every_bank_is_counted_once, open_a100),
	    OF(a_page_is_retired_with_its_time, open_old),
	    OF(pages_without_room_are_failures, open_old),
	    OF(addresses_of_sram_are_kept_one_by_one, open_a100),
	    OF(errors_that_cannot_be_are_refused, open_a100),
	    OF(an_error_is_an_event_of_its_kind, open_a100),
	    OF(counts_that_were_set_are_taken_over, open_a100),
	    OF(ten_errors_of_the_sms_pass_eleven_do_not, open_a100),
	    OF(an_instance_has_the_errors_of_its_slices, open_a100),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
