/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecc_test.c - checks the counts of memory errors: sums agree, rows and pages
 * are repaired, a reset clears what it should, garbage in the file does no
 * harm.
 */
#include "base/err.h"
#include "machine/file/ecc_state.h"
#include "machine/file/file.h"
#include "machine/file/profile.h"
#include "machine/file/smoothing_state.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/controls.h"
#include "machine/model/ecc.h"
#include "machine/model/model.h"
#include "machine/model/smoothing.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/trouble/reset.h"

#define ALL_KINDS (GKF_ECC_BIT(GKF_ECC_KINDS) - 1)

static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	fixture_open(fx, 2);
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	fixture_close(*state);
	free(*state);
	return 0;
}

/* Makes device 0 a board from before Turing, which retires pages. */
static void grow_old(struct fixture *fx)
{
	struct gkf_machine_spec spec = {.device_count = 1, .seed = 7};
	struct gkf_profile old = gkf_profile_default;

	old.compute_major = 7;
	old.compute_minor = 0;
	old.remap_banks = -1;
	spec.profiles = &old;
	gkf_machine_close(fx->m);
	unlink(fx->path);
	assert_int_equal(gkf_machine_create(fx->path, &spec), 0);
	assert_int_equal(gkf_machine_open(NULL, &fx->m), 0);
	fx->file = gkf_machine_file(fx->m);
}

static uint64_t sum(struct fixture *fx, enum gkf_ecc_counter counter,
		    unsigned places, unsigned kinds)
{
	return gkf_ecc_sum(fx->m, 0, counter, places, kinds);
}

static uint64_t all(struct fixture *fx, enum gkf_ecc_counter counter)
{
	return sum(fx, counter, GKF_ECC_ALL_LOCATIONS, ALL_KINDS);
}

static void strike(struct fixture *fx, enum gkf_ecc_kind kind,
		   enum gkf_ecc_location place, uint64_t count)
{
	assert_int_equal(gkf_ecc_error(fx->m, 0, kind, place, count), 0);
}

static void each_place_and_kind_has_a_count_of_its_own(void **state)
{
	struct fixture *fx = *state;
	uint64_t n = 1, total = 0;

	for (int p = 0; p < GKF_ECC_LOCATIONS; p++)
		for (int k = 0; k < GKF_ECC_KINDS; k++, n++) {
			/* DRAM has no parity; it counts as SEC-DED. */
			strike(fx, (enum gkf_ecc_kind)k,
			       (enum gkf_ecc_location)p, n);
			total += n;
		}
	assert_int_equal(all(fx, GKF_ECC_VOLATILE), total);
	assert_int_equal(all(fx, GKF_ECC_AGGREGATE), total);
	assert_int_equal(
	    sum(fx, GKF_ECC_VOLATILE, GKF_ECC_SRAM, ALL_KINDS) +
		sum(fx, GKF_ECC_VOLATILE, GKF_ECC_BIT(GKF_ECC_DRAM), ALL_KINDS),
	    total);
	assert_int_equal(sum(fx, GKF_ECC_VOLATILE, GKF_ECC_BIT(GKF_ECC_DRAM),
			     GKF_ECC_BIT(GKF_ECC_PARITY)),
			 0);
	assert_int_equal(sum(fx, GKF_ECC_VOLATILE, GKF_ECC_BIT(GKF_ECC_L2),
			     GKF_ECC_BIT(GKF_ECC_PARITY)),
			 5);
}

static void a_reset_forgets_the_volatile_counts_only(void **state)
{
	struct fixture *fx = *state;

	strike(fx, GKF_ECC_PARITY, GKF_ECC_L2, 3);
	assert_int_equal(gkf_device_reset(fx->m, 0), 0);
	assert_int_equal(all(fx, GKF_ECC_VOLATILE), 0);
	assert_int_equal(all(fx, GKF_ECC_AGGREGATE), 3);
	strike(fx, GKF_ECC_PARITY, GKF_ECC_L2, 2);
	assert_int_equal(all(fx, GKF_ECC_VOLATILE), 2);
	assert_int_equal(all(fx, GKF_ECC_AGGREGATE), 5);
	assert_int_equal(gkf_device_reset(fx->m, 2), GK_ERR_RANGE);
}

static void a_set_count_is_in_every_sum(void **state)
{
	struct fixture *fx = *state;
	int64_t v;

	strike(fx, GKF_ECC_CORRECTED, GKF_ECC_DRAM, 2);
	assert_int_equal(gkf_value_set(fx->m, 0, GKF_V_ECC_CORRECTED, 10), 0);
	assert_int_equal(all(fx, GKF_ECC_VOLATILE), 10);
	assert_int_equal(all(fx, GKF_ECC_AGGREGATE), 10);
	/* The next error is added to it. */
	strike(fx, GKF_ECC_CORRECTED, GKF_ECC_DRAM, 1);
	assert_true(gkf_value_get(fx->m, 0, GKF_V_ECC_CORRECTED, &v));
	assert_int_equal(v, 11);
	assert_int_equal(all(fx, GKF_ECC_VOLATILE), 11);
	assert_int_equal(all(fx, GKF_ECC_AGGREGATE), 11);
	/*
	 * Fewer than there were: the aggregate count keeps the higher number.
	 */
	assert_int_equal(gkf_value_set(fx->m, 0, GKF_V_ECC_CORRECTED, 1), 0);
	assert_int_equal(all(fx, GKF_ECC_VOLATILE), 1);
	assert_int_equal(all(fx, GKF_ECC_AGGREGATE), 11);
	assert_int_equal(gkf_ecc_clear(fx->m, 0, GKF_ECC_AGGREGATE), 0);
	assert_int_equal(all(fx, GKF_ECC_AGGREGATE), 0);
	assert_int_equal(all(fx, GKF_ECC_VOLATILE), 1);
}

static void errors_need_ecc(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(gkf_value_set(fx->m, 0, GKF_V_ECC_MODE, 0), 0);
	assert_int_equal(
	    gkf_ecc_error(fx->m, 0, GKF_ECC_SECDED, GKF_ECC_DRAM, 1),
	    GK_ERR_NOT_SUPPORTED);
	assert_int_equal(gkf_ecc_clear(fx->m, 0, GKF_ECC_VOLATILE),
			 GK_ERR_NOT_SUPPORTED);
	assert_int_equal(gkf_ecc_error(fx->m, 1, GKF_ECC_SECDED, GKF_ECC_DRAM,
				       GKF_ECC_COUNT_MAX + 1ULL),
			 GK_ERR_RANGE);
	assert_int_equal(
	    gkf_ecc_error(fx->m, 1, GKF_ECC_SECDED, GKF_ECC_DRAM, 0),
	    GK_ERR_RANGE);
	assert_int_equal(all(fx, GKF_ECC_AGGREGATE), 0);
}

static struct gkf_ecc_rows rows_of(struct fixture *fx)
{
	struct gkf_ecc_rows rows;

	assert_true(gkf_ecc_rows(fx->m, 0, &rows));
	return rows;
}

static void rows_wait_for_a_reset(void **state)
{
	struct fixture *fx = *state;

	strike(fx, GKF_ECC_SECDED, GKF_ECC_DRAM, 3);
	assert_int_equal(rows_of(fx).pending[GKF_ECC_BY_UNCORRECTED], 3);
	assert_int_equal(rows_of(fx).active[GKF_ECC_BY_UNCORRECTED], 0);
	assert_int_equal(gkf_device_reset(fx->m, 0), 0);
	assert_int_equal(rows_of(fx).pending[GKF_ECC_BY_UNCORRECTED], 0);
	assert_int_equal(rows_of(fx).active[GKF_ECC_BY_UNCORRECTED], 3);
	assert_int_equal(rows_of(fx).banks[0] + rows_of(fx).banks[1], 640);
}

static void one_corrected_error_does_no_harm_two_at_an_address_do(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(
	    gkf_ecc_error_at(fx->m, 0, GKF_ECC_CORRECTED, 0x5000, 1), 0);
	assert_int_equal(rows_of(fx).pending[GKF_ECC_BY_CORRECTED], 0);
	assert_int_equal(
	    gkf_ecc_error_at(fx->m, 0, GKF_ECC_CORRECTED, 0x5100, 1), 0);
	assert_int_equal(rows_of(fx).pending[GKF_ECC_BY_CORRECTED], 1);
	/* Already known. */
	assert_int_equal(
	    gkf_ecc_error_at(fx->m, 0, GKF_ECC_CORRECTED, 0x5000, 9), 0);
	assert_int_equal(rows_of(fx).pending[GKF_ECC_BY_CORRECTED], 1);
	assert_int_equal(
	    gkf_ecc_error_at(fx->m, 0, GKF_ECC_SECDED, 1ULL << 50, 1),
	    GK_ERR_RANGE);
}

static void spare_rows_run_out(void **state)
{
	struct fixture *fx = *state;
	struct gkf_ecc_rows rows;

	for (int i = 0; i < 20; i++)
		strike(fx, GKF_ECC_SECDED, GKF_ECC_DRAM, GKF_ECC_ROWS_MAX);
	rows = rows_of(fx);
	assert_true(rows.failed);
	assert_true(rows.pending[GKF_ECC_BY_UNCORRECTED] <= GKF_ECC_ROWS_MAX);
	assert_true(gkf_ecc_repairs(fx->m, 0).channel);
	assert_int_equal(gkf_device_reset(fx->m, 0), 0);
	assert_false(gkf_ecc_repairs(fx->m, 0).channel);
	assert_true(rows_of(fx).failed);
}

static void old_boards_retire_pages(void **state)
{
	struct fixture *fx = *state;
	struct gkf_ecc_page pages[4];
	struct gkf_ecc_rows rows;

	grow_old(fx);
	assert_false(gkf_ecc_rows(fx->m, 0, &rows));
	strike(fx, GKF_ECC_CORRECTED, GKF_ECC_DRAM, 1);
	assert_int_equal(
	    gkf_ecc_pages(fx->m, 0, GKF_ECC_BY_CORRECTED, pages, 4), 0);
	strike(fx, GKF_ECC_CORRECTED, GKF_ECC_DRAM, 2);
	strike(fx, GKF_ECC_SECDED, GKF_ECC_DRAM, 2);
	assert_int_equal(
	    gkf_ecc_pages(fx->m, 0, GKF_ECC_BY_CORRECTED, pages, 4), 1);
	assert_int_equal(
	    gkf_ecc_pages(fx->m, 0, GKF_ECC_BY_UNCORRECTED, pages, 4), 2);
	assert_true(pages[0].pending && pages[1].pending);
	assert_true(pages[0].address != pages[1].address);
	assert_int_equal(gkf_device_reset(fx->m, 0), 0);
	assert_int_equal(
	    gkf_ecc_pages(fx->m, 0, GKF_ECC_BY_UNCORRECTED, pages, 4), 2);
	assert_false(pages[0].pending || pages[1].pending);
	/* Such a board does not distinguish it. */
	assert_int_equal(
	    gkf_ecc_error(fx->m, 0, GKF_ECC_PARITY, GKF_ECC_PCIE, 1),
	    GK_ERR_NOT_SUPPORTED);
}

static void a_part_that_fails_often_is_over_the_threshold(void **state)
{
	struct fixture *fx = *state;

	strike(fx, GKF_ECC_PARITY, GKF_ECC_L1, 6);
	strike(fx, GKF_ECC_SECDED, GKF_ECC_L2, 6);
	assert_false(gkf_ecc_sram_exceeded(fx->m, 0));
	strike(fx, GKF_ECC_SECDED, GKF_ECC_REGISTERS, 5);
	assert_true(gkf_ecc_sram_exceeded(fx->m, 0));
	assert_true(gkf_ecc_repairs(fx->m, 0).tpc);
	assert_int_equal(gkf_device_reset(fx->m, 0), 0);
	assert_true(gkf_ecc_sram_exceeded(fx->m, 0));
	assert_false(gkf_ecc_repairs(fx->m, 0).tpc);
}

static void unique_addresses_are_kept_until_they_are_cleared(void **state)
{
	struct fixture *fx = *state;
	struct gkf_ecc_unique found[GKF_ECC_UNIQUE_MAX];

	strike(fx, GKF_ECC_PARITY, GKF_ECC_L2, 4);
	strike(fx, GKF_ECC_CORRECTED, GKF_ECC_L2, 4);
	assert_int_equal(gkf_ecc_uniques(fx->m, 0, found, GKF_ECC_UNIQUE_MAX),
			 1);
	assert_int_equal(found[0].count, 4);
	assert_true(found[0].parity && found[0].location == GKF_ECC_L2);
	for (int i = 0; i < 2 * GKF_ECC_UNIQUE_MAX; i++)
		strike(fx, GKF_ECC_SECDED, GKF_ECC_MCU, 1);
	assert_int_equal(gkf_ecc_uniques(fx->m, 0, found, GKF_ECC_UNIQUE_MAX),
			 GKF_ECC_UNIQUE_MAX);
	assert_int_equal(gkf_ecc_clear(fx->m, 0, GKF_ECC_AGGREGATE), 0);
	assert_int_equal(gkf_ecc_uniques(fx->m, 0, found, GKF_ECC_UNIQUE_MAX),
			 0);
}

static void modes_that_wait_take_effect_at_a_reset(void **state)
{
	struct fixture *fx = *state;
	int64_t v;

	assert_int_equal(gkf_value_set(fx->m, 0, GKF_V_ECC_PENDING, 0), 0);
	assert_int_equal(gkf_value_set(fx->m, 0, GKF_V_LOCK_SM_MAX, 900), 0);
	assert_true(gkf_value_get(fx->m, 0, GKF_V_ECC_MODE, &v) && v == 1);
	assert_int_equal(gkf_device_reset(fx->m, 0), 0);
	assert_true(gkf_value_get(fx->m, 0, GKF_V_ECC_MODE, &v) && v == 0);
	assert_true(gkf_value_get(fx->m, 0, GKF_V_ECC_PENDING, &v) && v == 0);
	assert_true(gkf_value_get(fx->m, 0, GKF_V_LOCK_SM_MAX, &v) &&
		    v == 1410);
}

/* Any process may have written anything into the file. */
static void garbage_leads_nobody_astray(void **state)
{
	struct fixture *fx = *state;
	struct gkf_ecc_unique found[GKF_ECC_UNIQUE_MAX];
	struct gkf_ecc_page pages[GKF_ECC_PAGES_MAX];
	struct gkf_ecc_rows rows;

	memset(&fx->file->device[0].ecc, 0xff, sizeof(struct gkf_ecc));
	memset(&fx->file->device[0].smoothing, 0xff,
	       sizeof(struct gkf_smoothing));
	assert_true(gkf_ecc_rows(fx->m, 0, &rows));
	assert_int_equal(rows.banks[0] + rows.banks[1] + rows.banks[2] +
			     rows.banks[3] + rows.banks[4],
			 640);
	assert_true(gkf_ecc_pages(fx->m, 0, GKF_ECC_BY_UNCORRECTED, pages,
				  GKF_ECC_PAGES_MAX) <= GKF_ECC_PAGES_MAX);
	assert_int_equal(gkf_ecc_uniques(fx->m, 0, found, GKF_ECC_UNIQUE_MAX),
			 0);
	assert_int_equal(gkf_smoothing_get(fx->m, 0, 2, 0), 50000);
	assert_int_equal(
	    gkf_ecc_error(fx->m, 0, GKF_ECC_SECDED, GKF_ECC_DRAM, 1), 0);
	assert_int_equal(gkf_device_reset(fx->m, 0), 0);
}

static void profiles_in_conflict_are_not_at_work_together(void **state)
{
	(void)state;
	assert_int_equal(gkf_power_profiles_enforced(0x3), 0x1);
	assert_int_equal(gkf_power_profiles_enforced(0x18), 0x8);
	assert_int_equal(gkf_power_profiles_enforced(0x102), 0x102);
	assert_int_equal(
	    gkf_power_profiles_enforced(UINT32_MAX) >> GKF_POWER_PROFILES, 0);
	for (unsigned i = 0; i < GKF_POWER_PROFILES; i++)
		for (unsigned j = 0; j < GKF_POWER_PROFILES; j++)
			assert_int_equal(
			    gkf_power_profiles[i].conflicts >> j & 1,
			    gkf_power_profiles[j].conflicts >> i & 1);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
	    ROW(each_place_and_kind_has_a_count_of_its_own),
	    ROW(a_reset_forgets_the_volatile_counts_only),
	    ROW(a_set_count_is_in_every_sum),
	    ROW(errors_need_ecc),
	    ROW(rows_wait_for_a_reset),
	    ROW(one_corrected_error_does_no_harm_two_at_an_address_do),
	    ROW(spare_rows_run_out),
	    ROW(old_boards_retire_pages),
	    ROW(a_part_that_fails_often_is_over_the_threshold),
	    ROW(unique_addresses_are_kept_until_they_are_cleared),
	    ROW(modes_that_wait_take_effect_at_a_reset),
	    ROW(garbage_leads_nobody_astray),
	    cmocka_unit_test(profiles_in_conflict_are_not_at_work_together),
	};
#undef ROW

	return cmocka_run_group_tests(tests, NULL, NULL);
}
