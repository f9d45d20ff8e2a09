/* SPDX-License-Identifier: Apache-2.0 */
/* pick_test.c - checks picking parts of a snapshot, on a hand-made one. */
#include "core/choose/pick.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* GPUs 0, 2 and 19; GPU 2 is split into two MIG devices. */
static const struct gk_device devices[] = {
    {.index = 0,
     .mig_index = -1,
     .parent = -1,
     .uuid = "GPU-aaaa",
     .bus_id = "00000000:0A:1F.0",
     .compute_major = 8,
     .compute_minor = 6,
     .m[GK_M_SM_CLOCK_MAX] = {1980000000, GK_PRESENT},
     .m[GK_M_MIG_MODE] = {1, GK_ABSENT_NOT_SUPPORTED}},
    {.index = 2,
     .mig_index = -1,
     .parent = -1,
     .uuid = "GPU-bbbb",
     .bus_id = "00000007:02:03.0",
     .compute_major = 9,
     .compute_minor = 0,
     .m[GK_M_SM_CLOCK_MAX] = {1999999999, GK_PRESENT},
     .m[GK_M_MIG_MODE] = {1, GK_PRESENT}},
    {.index = 2, .mig_index = 1, .parent = 1, .uuid = "MIG-cccc"},
    {.index = 2, .mig_index = 3, .parent = 1, .uuid = "MIG-dddd"},
    {.index = 19,
     .mig_index = -1,
     .parent = -1,
     .uuid = "GPU-eeee",
     .compute_major = 9,
     .compute_minor = 0,
     .m[GK_M_SM_CLOCK_MAX] = {5000000000, GK_ABSENT_NOT_SUPPORTED},
     .m[GK_M_MIG_MODE] = {0, GK_PRESENT}},
};

static const struct gk_process processes[] = {
    {.pid = 10, .device = 0, .user = "ann", .types = GK_PROCESS_COMPUTE},
    {.pid = 20, .device = 0, .user = "bob", .types = GK_PROCESS_GRAPHICS},
    {.pid = 30, .device = 2, .user = "ann", .types = GK_PROCESS_MPS},
    {.pid = 40, .device = 3, .user = "eve", .types = 0},
    {.pid = 50,
     .device = 4,
     .user = "bob",
     .types = GK_PROCESS_COMPUTE | GK_PROCESS_GRAPHICS},
};

static struct gk_device given_devices[COUNT(devices)];
static struct gk_process given_processes[COUNT(processes)];
static struct gk_snapshot given, part;

static int setup(void **state)
{
	(void)state;
	memcpy(given_devices, devices, sizeof devices);
	memcpy(given_processes, processes, sizeof processes);
	given = (struct gk_snapshot){
	    .wall_ns = 4711,
	    .devices = given_devices,
	    .device_count = COUNT(devices),
	    .processes = given_processes,
	    .process_count = COUNT(processes),
	};
	part = (struct gk_snapshot){0};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gk_pick_free(&part);
	assert_null(part.devices);
	assert_null(part.processes);
	/* The given snapshot is unchanged. */
	assert_memory_equal(given_devices, devices, sizeof devices);
	assert_memory_equal(given_processes, processes, sizeof processes);
	return 0;
}

static void pick(const struct gk_pick *wanted, long missing)
{
	long ret_missing = -99;

	gk_pick_free(&part);
	assert_int_equal(gk_pick(&given, wanted, &ret_missing, &part), 0);
	assert_int_equal(ret_missing, missing);
	assert_int_equal(part.wall_ns, 4711);
}

/* Checks the devices of the part: "0 2 2:1^1" ends in a MIG device of the
 * part's second device. */
static void check_devices(const char *expected)
{
	char text[128] = "", one[32];

	for (size_t i = 0; i < part.device_count; i++) {
		const struct gk_device *d = &part.devices[i];

		snprintf(one, sizeof one, "%s%u", i ? " " : "", d->index);
		strcat(text, one);
		if (d->mig_index >= 0) {
			snprintf(one, sizeof one, ":%d^%d", d->mig_index,
				 d->parent);
			strcat(text, one);
		} else {
			assert_int_equal(d->parent, -1);
		}
	}
	assert_string_equal(text, expected);
}

/* Checks its processes: "10@0" is pid 10 on the part's first device. */
static void check_processes(const char *expected)
{
	char text[128] = "", one[32];

	for (size_t i = 0; i < part.process_count; i++) {
		snprintf(one, sizeof one, "%s%d@%u", i ? " " : "",
			 (int)part.processes[i].pid, part.processes[i].device);
		strcat(text, one);
	}
	assert_string_equal(text, expected);
}

static void a_list_is_numbers_with_commas(void **state)
{
	static const char *const good[] = {"0", "0,3", "123456,7", "00,999999"};
	static const char *const bad[] = {
	    "",     ",",  "0,",      ",0",        "0,,1", "a",    "1a",
	    "1 ,2", "-1", "1234567", "1,1234567", "0;1",  "1,2,x"};

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		if (!gk_pick_valid(good[i]))
			fail_msg("refused: %s", good[i]);
	for (size_t i = 0; i < COUNT(bad); i++)
		if (gk_pick_valid(bad[i]))
			fail_msg("taken: %s", bad[i]);
}

static void nothing_asked_is_everything(void **state)
{
	(void)state;
	pick(&(struct gk_pick){0}, -1);
	check_devices("0 2 2:1^1 2:3^1 19");
	check_processes("10@0 20@0 30@2 40@3 50@4");
	assert_string_equal(part.processes[4].user, "bob");
	assert_string_equal(part.devices[4].uuid, "GPU-eeee");
	gk_pick_free(&part);
	assert_int_equal(gk_pick(&given, &(struct gk_pick){0}, NULL, &part), 0);
	check_devices("0 2 2:1^1 2:3^1 19");
}

static void gpus_come_with_their_mig_devices(void **state)
{
	(void)state;
	pick(&(struct gk_pick){.gpus = "2"}, -1);
	check_devices("2 2:1^0 2:3^0");
	check_processes("30@1 40@2");
	pick(&(struct gk_pick){.gpus = "19,0"}, -1);
	check_devices("0 19");
	check_processes("10@0 20@0 50@1");
}

static void the_first_index_without_a_gpu_is_told(void **state)
{
	(void)state;
	pick(&(struct gk_pick){.gpus = "19,3,1"}, 3);
	check_devices("19");
	pick(&(struct gk_pick){.gpus = "6"}, 6);
	check_devices("");
	check_processes("");
	given.device_count = given.process_count = 0;
	pick(&(struct gk_pick){.gpus = "0"}, 0);
	pick(&(struct gk_pick){0}, -1);
	check_devices("");
}

static void what_cuda_sees(void **state)
{
	struct gk_pick seen = {.only_visible = true,
			       .order = GK_ORDER_PCI_BUS_ID};

	(void)state;
	/* In CUDA's order GPU 19 has no bus id and comes first. */
	seen.visible = "0";
	pick(&seen, -1);
	check_devices("19");
	check_processes("50@0");
	seen.visible = "GPU-a,GPU-e";
	pick(&seen, -1);
	check_devices("0 19");
	/*
	 * A MIG device shows the GPU that it is part of, but not its
	 * neighbours.
	 */
	seen.visible = "MIG-d";
	pick(&seen, -1);
	check_devices("2 2:3^0");
	check_processes("40@1");
	seen.visible = "";
	pick(&seen, -1);
	check_devices("");
	/*
	 * The newest one with the highest clock is split, so a MIG device is
	 * picked.
	 */
	seen.visible = "0";
	seen.order = GK_ORDER_FASTEST_FIRST;
	pick(&seen, -1);
	check_devices("2 2:1^0");
}

/* Also of the first GPU of a machine. */
static void a_mig_device_comes_with_its_gpu(void **state)
{
	struct gk_device split[2] = {devices[1], devices[3]};

	(void)state;
	split[1].parent = 0;
	given.devices = split;
	given.device_count = 2;
	given.process_count = 0;
	pick(&(struct gk_pick){.only_visible = true, .visible = "MIG-d"}, -1);
	check_devices("2 2:3^0");
}

static void named_gpus_win_over_what_cuda_sees(void **state)
{
	(void)state;
	pick(&(struct gk_pick){.gpus = "0",
			       .only_visible = true,
			       .visible = "GPU-e"},
	     -1);
	check_devices("0");
	/* Nor does a variable matter that is not to be applied. */
	pick(&(struct gk_pick){.visible = "GPU-e"}, -1);
	check_devices("0 2 2:1^1 2:3^1 19");
}

static void more_devices_than_cuda_can_count_are_an_error(void **state)
{
	size_t many = 1025;
	struct gk_snapshot crowd = {.device_count = many};
	struct gk_snapshot before = {.wall_ns = 5}, after = before;
	long missing = -99;

	(void)state;
	crowd.devices = calloc(many, sizeof *crowd.devices);
	assert_non_null(crowd.devices);
	assert_int_equal(gk_pick(&crowd,
				 &(struct gk_pick){.only_visible = true},
				 &missing, &after),
			 GK_ERR_TOO_MANY);
	assert_int_equal(missing, -99);
	assert_memory_equal(&after, &before, sizeof after);
	free(crowd.devices);
}

static void candidates_have_what_cuda_orders_by(void **state)
{
	struct gk_candidate c[COUNT(devices)] = {0};
	unsigned at[COUNT(devices)];

	(void)state;
	assert_int_equal(gk_pick_candidates(&given, true, c, at),
			 COUNT(devices));
	assert_int_equal(at[COUNT(devices) - 1], COUNT(devices) - 1);
	assert_int_equal(c[0].index, 0);
	assert_int_equal(c[0].mig_index, -1);
	assert_ptr_equal(c[0].uuid, given.devices[0].uuid);
	assert_int_equal(c[0].pci_domain, 0);
	assert_int_equal(c[0].pci_bus, 0x0a);
	assert_int_equal(c[0].pci_device, 0x1f);
	assert_int_equal(c[1].pci_domain, 7);
	assert_int_equal(c[1].pci_bus, 2);
	assert_int_equal(c[1].pci_device, 3);
	assert_int_equal(c[3].index, 2);
	assert_int_equal(c[3].mig_index, 3);
	assert_int_equal(c[4].pci_bus, 0);
	/* Newer GPUs first, then whole MHz; an unknown clock counts as 0. */
	assert_int_equal(c[0].speed, (806ULL << 40) + 1980);
	assert_int_equal(c[1].speed, (900ULL << 40) + 1999);
	assert_int_equal(c[4].speed, 900ULL << 40);
	assert_false(c[0].mig_enabled);
	assert_true(c[1].mig_enabled);
	assert_false(c[4].mig_enabled);
}

static void a_lost_gpu_is_none_of_those_that_cuda_counts(void **state)
{
	struct gk_candidate c[COUNT(devices)] = {0};
	unsigned at[COUNT(devices)];

	(void)state;
	given.devices[1].health = GK_HEALTH_LOST;
	assert_int_equal(gk_pick_candidates(&given, false, c, at),
			 COUNT(devices) - 1);
	assert_int_equal(at[0], 0);
	assert_int_equal(at[1], 2);
	assert_ptr_equal(c[1].uuid, given.devices[2].uuid);
	assert_int_equal(gk_pick_candidates(&given, true, c, at),
			 COUNT(devices));
	given.devices[1].health = GK_HEALTH_OK;
}

/* The processes shown, of one that computes (10), draws (20), computes by MPS
 * (30), does neither (40), and does both (50). */
static const struct {
	struct gk_pick pick;
	const char *shown;
} kinds[] = {
    {{.compute = true}, "10@0 30@2 50@4"},
    {{.graphics = true}, "20@0 50@4"},
    {{.compute = true, .graphics = true}, "50@4"},
    {{.only_compute = true}, "10@0 30@2"},
    {{.only_graphics = true}, "20@0"},
    {{.only_compute = true, .only_graphics = true}, ""},
    {{.compute = true, .only_graphics = true}, ""},
};

static void processes_by_what_they_do(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		pick(&kinds[i].pick, -1);
		check_processes(kinds[i].shown);
		check_devices("0 2 2:1^1 2:3^1 19");
	}
}

static void processes_by_user_and_pid(void **state)
{
	static const char *const users[] = {"eve", "bob"};
	static const pid_t pids[] = {50, 10};
	struct gk_pick wanted = {.users = users, .user_count = 2};

	(void)state;
	pick(&wanted, -1);
	check_processes("20@0 40@3 50@4");
	wanted.user_count = 1;
	pick(&wanted, -1);
	check_processes("40@3");
	/* All conditions must hold. */
	wanted = (struct gk_pick){.pids = pids, .pid_count = 2};
	pick(&wanted, -1);
	check_processes("10@0 50@4");
	wanted.users = users;
	wanted.user_count = 2;
	pick(&wanted, -1);
	check_processes("50@4");
	wanted.pid_count = 1;
	wanted.gpus = "0";
	pick(&wanted, -1);
	check_processes("");
	check_devices("0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_list_is_numbers_with_commas),
	    TEST(nothing_asked_is_everything),
	    TEST(gpus_come_with_their_mig_devices),
	    TEST(the_first_index_without_a_gpu_is_told),
	    TEST(what_cuda_sees),
	    TEST(a_mig_device_comes_with_its_gpu),
	    TEST(named_gpus_win_over_what_cuda_sees),
	    TEST(more_devices_than_cuda_can_count_are_an_error),
	    TEST(candidates_have_what_cuda_orders_by),
	    TEST(a_lost_gpu_is_none_of_those_that_cuda_counts),
	    TEST(processes_by_what_they_do),
	    TEST(processes_by_user_and_pid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
