/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_test.c - checks NVLinks whose state changes: both ends agree, traffic is
 * shared and never lost or counted twice, garbage in the file does no harm.
 */
#include "base/err.h"
#include "base/mix.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/file.h"
#include "machine/file/link_state.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/topology.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/model/link.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"
#include "machine/store/machine.h"
#include "machine/store/process/ledger.h"
#include "machine/trouble/fault.h"
#include "machine/words/profile_yaml.h"

#define PROFILES TEST_DATA "/../../profiles"

/* A machine of n GPUs of a model; its clock is stopped. */
static void open_of(struct fixture *fx, const char *id, unsigned n)
{
	struct gkf_profile profiles[GKF_DEVICES_MAX];
	struct gkf_machine_spec spec = {
	    .device_count = n, .profiles = profiles, .frozen = true};
	char message[GKF_PROFILE_MESSAGE_MAX];

	for (unsigned i = 0; i < n; i++)
		assert_int_equal(gkf_profile_load(PROFILES, id, &profiles[i],
						  message, sizeof message),
				 0);
	fixture_open_spec(fx, &spec);
}

/* Lets as much time pass as sending n MB takes at 6 MB/s, 1 MB a bin. */
static void send_megabytes(struct fixture *fx, unsigned device, unsigned n)
{
	gkf_value_set(fx->m, device, GKF_V_NVLINK_TX, 6000);
	assert_int_equal(gkf_machine_age(fx->m, n * GKF_BIN_NS + 1000), 0);
}

static uint64_t device_sent(struct fixture *fx, unsigned device)
{
	struct gkf_state s;

	gkf_state_now(fx->m, device, &s);
	return s.nvlink_tx_bytes;
}

static uint64_t sum_sent(struct fixture *fx, unsigned device)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < gkf_links(fx->m, device); i++)
		sum += gkf_link_bytes(fx->m, device, i, GKF_SENT);
	return sum;
}

static void one_end_down_both_are(void **state)
{
	struct gkf_link_end end;
	struct fixture fx;

	(void)state;
	open_of(&fx, "v100", 8);
	for (unsigned l = 0; l < 6; l++) {
		end = gkf_link_end(fx.m, 0, l);
		assert_int_equal(gkf_link_state(fx.m, 0, l), GKF_LINK_UP);
		assert_int_equal(gkf_link_set_state(fx.m, 0, l, GKF_LINK_DOWN),
				 0);
		assert_int_equal(gkf_link_state(fx.m, 0, l), GKF_LINK_DOWN);
		assert_int_equal(gkf_link_state(fx.m, end.device, end.link),
				 GKF_LINK_DOWN);
		assert_int_equal(gkf_link_mbps(fx.m, end.device, end.link), 0);
	}
	for (unsigned d = 1; d < 8; d++)
		assert_int_equal(gkf_links_between(fx.m, 0, d), 0);
	assert_int_equal(gkf_links_between(fx.m, 1, 2), 2);
	assert_int_equal(gkf_links_clear(fx.m, 0), 0);
	assert_int_equal(gkf_links_between(fx.m, 0, 3), 2);
	fixture_close(&fx);
}

static void sleep_is_not_down(void **state)
{
	struct fixture fx;

	(void)state;
	open_of(&fx, "rtx-3090", 2);
	gkf_link_set_state(fx.m, 1, 2, GKF_LINK_SLEEP);
	assert_int_equal(gkf_link_state(fx.m, 0, 2), GKF_LINK_SLEEP);
	assert_int_equal(gkf_links_up(fx.m, 0), 0xf);
	gkf_link_set_state(fx.m, 0, 2, GKF_LINK_DOWN);
	assert_int_equal(gkf_link_state(fx.m, 1, 2), GKF_LINK_DOWN);
	fixture_close(&fx);
}

static void a_gpu_that_is_gone_takes_its_links(void **state)
{
	struct fixture fx;

	(void)state;
	open_of(&fx, "rtx-2080-ti", 2);
	gkf_value_set(fx.m, 1, GKF_V_REMOVED, 1);
	assert_int_equal(gkf_links_up(fx.m, 0), 0);
	gkf_value_set(fx.m, 1, GKF_V_REMOVED, GKF_UNSET);
	assert_int_equal(gkf_links_up(fx.m, 0), 3);
	gkf_fault_begin(fx.m, 1, GKF_FAULT_LOST, 0);
	assert_int_equal(gkf_links_up(fx.m, 0), 0);
	gkf_fault_end(fx.m, 1, ~0ULL);
	gkf_fault_begin(fx.m, 1, GKF_FAULT_NVLINK, 1);
	assert_int_equal(gkf_links_up(fx.m, 0), 1);
	fixture_close(&fx);
}

static void traffic_is_shared_and_none_is_lost(void **state)
{
	struct fixture fx;
	uint64_t before[GKF_LINKS_MAX];

	(void)state;
	open_of(&fx, "h100", 2);
	send_megabytes(&fx, 0, 5);
	assert_in_range(device_sent(&fx, 0), 4900000, 5100000);
	assert_int_equal(sum_sent(&fx, 0), device_sent(&fx, 0));
	for (unsigned i = 0; i < 18; i++)
		before[i] = gkf_link_bytes(fx.m, 0, i, GKF_SENT);
	gkf_link_set_state(fx.m, 0, 4, GKF_LINK_DOWN);
	send_megabytes(&fx, 0, 7);
	assert_int_equal(sum_sent(&fx, 0), device_sent(&fx, 0));
	for (unsigned i = 0; i < 18; i++)
		if (i == 4)
			assert_int_equal(gkf_link_bytes(fx.m, 0, i, GKF_SENT),
					 before[i]);
		else
			assert_true(gkf_link_bytes(fx.m, 0, i, GKF_SENT) >
				    before[i] + 400000);
	assert_int_equal(gkf_link_bytes(fx.m, 0, 18, GKF_SENT), 0);
	fixture_close(&fx);
}

static void fewer_links_carry_in_a_reduced_mode(void **state)
{
	struct fixture fx;
	unsigned carry = 0;

	(void)state;
	open_of(&fx, "b200", 2);
	gkf_link_set_bw(fx.m, 0, GKF_LINK_BW_HALF);
	send_megabytes(&fx, 0, 3);
	for (unsigned i = 0; i < 18; i++)
		carry += gkf_link_bytes(fx.m, 0, i, GKF_SENT) > 0;
	assert_int_equal(carry, 9);
	assert_int_equal(sum_sent(&fx, 0), device_sent(&fx, 0));
	assert_int_equal(gkf_link_set_bw(fx.m, 0, GKF_LINK_BW_COUNT),
			 GK_ERR_RANGE);
	fixture_close(&fx);
}

static void garbage_leads_nobody_astray(void **state)
{
	struct fixture fx;

	(void)state;
	open_of(&fx, "v100", 8);
	for (unsigned d = 0; d < 8; d++)
		memset(&fx.file->device[d].links, 0xff,
		       sizeof fx.file->device[d].links);
	for (unsigned d = 0; d < 8; d++)
		for (unsigned l = 0; l < 6; l++) {
			assert_int_equal(gkf_link_state(fx.m, d, l),
					 GKF_LINK_UP);
			gkf_link_bytes(fx.m, d, l, GKF_SENT);
			gkf_link_error(fx.m, d, l, GKF_LINK_REPLAY);
		}
	assert_int_equal(gkf_link_threshold(fx.m, 0), 0);
	assert_int_equal(gkf_link_bw(fx.m, 0), GKF_LINK_BW_FULL);
	assert_int_equal(gkf_links_clear(fx.m, 0), 0);
	fixture_close(&fx);
}

static int64_t traffic_after_a_second(struct fixture *fx)
{
	int64_t kbs = -1;

	assert_int_equal(gkf_machine_age(fx->m, 6 * GKF_BIN_NS + 1000), 0);
	assert_true(gkf_value_get(fx->m, 0, GKF_V_NVLINK_TX, &kbs));
	return kbs;
}

static void work_goes_over_the_links_that_are_up(void **state)
{
	const struct gkf_wave train = {.kind = GKF_WAVE_TRAIN,
				       .util_permille = 900,
				       .gpus = 2,
				       .period_ns = 60000000000};
	struct fixture fx;
	int64_t all, half;
	unsigned slot;

	(void)state;
	open_of(&fx, "a100", 2);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &train, &slot), 0);
	gkf_value_set(fx.m, 0, GKF_V_GPU_UTIL, 100);
	all = traffic_after_a_second(&fx);
	assert_true(all > 0);
	for (unsigned i = 0; i < 6; i++)
		gkf_link_set_state(fx.m, 0, i, GKF_LINK_DOWN);
	half = traffic_after_a_second(&fx);
	assert_in_range(half, all / 2 - 1, all / 2 + 1);
	for (unsigned i = 6; i < 12; i++)
		gkf_link_set_state(fx.m, 0, i, GKF_LINK_DOWN);
	assert_int_equal(traffic_after_a_second(&fx), 0);
	fixture_close(&fx);
}

/* Breaks and mends ends at random; both ends must agree after each change. */
static void all_pairs_agree(struct fixture *fx, unsigned n)
{
	uint64_t random = n;

	for (unsigned round = 0; round < 8; round++) {
		random = gkf_mix(random);
		gkf_link_set_state(
		    fx->m, random % n, random >> 8 & 15,
		    (enum gkf_link_state)((random >> 16) % GKF_LINK_STATES));
		for (unsigned d = 0; d < n; d++)
			for (unsigned l = 0; l < gkf_links(fx->m, d); l++) {
				struct gkf_link_end end =
				    gkf_link_end(fx->m, d, l);

				if (end.kind != GKF_END_GPU)
					continue;
				assert_int_equal(gkf_link_state(fx->m, d, l),
						 gkf_link_state(fx->m,
								end.device,
								end.link));
			}
		for (unsigned a = 0; a < n; a++)
			for (unsigned b = 0; b < a; b++)
				assert_int_equal(
				    gkf_links_between(fx->m, a, b),
				    gkf_links_between(fx->m, b, a));
	}
}

static void ends_agree_on_every_machine(void **state)
{
	static const char *const ids[] = {
	    "a100-pcie", "a100", "b200", "gtx-1080-ti", "h100",
	    "h200",      "l4",   "l40s", "rtx-2080-ti", "rtx-3090",
	    "rtx-4090",  "t4",   "v100",
	};
	struct fixture fx;

	(void)state;
	for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++)
		for (unsigned n = 1; n <= 16; n++) {
			open_of(&fx, ids[i], n);
			all_pairs_agree(&fx, n);
			fixture_close(&fx);
		}
}

static void versions_are_those_of_nvml(void **state)
{
	static const struct {
		const char *id;
		unsigned version;
	} of[] = {{"v100", 2}, {"rtx-2080-ti", 3}, {"a100", 4}, {"rtx-3090", 5},
		  {"h100", 6}, {"b200", 7},        {"t4", 0}};
	struct fixture fx;

	(void)state;
	for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
		open_of(&fx, of[i].id, 1);
		assert_int_equal(gkf_link_version(fx.m, 0), of[i].version);
		fixture_close(&fx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_end_down_both_are),
	    cmocka_unit_test(sleep_is_not_down),
	    cmocka_unit_test(a_gpu_that_is_gone_takes_its_links),
	    cmocka_unit_test(traffic_is_shared_and_none_is_lost),
	    cmocka_unit_test(work_goes_over_the_links_that_are_up),
	    cmocka_unit_test(fewer_links_carry_in_a_reduced_mode),
	    cmocka_unit_test(garbage_leads_nobody_astray),
	    cmocka_unit_test(ends_agree_on_every_machine),
	    cmocka_unit_test(versions_are_those_of_nvml),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
