/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visible_test.c - checks CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER by a table
 * of values.
 */
#include "unit.h"

#include <gpukit/gpukit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Four equal GPUs whose NVML order is the bus order. */
static const struct gk_candidate four[] = {
    {0, -1, "GPU-aaaa0000-1111-2222-3333-444444444444", 0, 0x07, 0, 10, false},
    {1, -1, "GPU-aabb0000-1111-2222-3333-444444444444", 0, 0x0f, 0, 10, false},
    {2, -1, "GPU-cccc0000-1111-2222-3333-444444444444", 0, 0x47, 0, 10, false},
    {3, -1, "GPU-dddd0000-1111-2222-3333-444444444444", 0, 0x4e, 0, 10, false},
};

/* NVML's order is not the bus order; the third on the bus is the fastest. */
static const struct gk_candidate mixed[] = {
    {0, -1, "GPU-a", 0, 0x80, 0, 70, false},
    {1, -1, "GPU-b", 0, 0x10, 0, 50, false},
    {2, -1, "GPU-c", 1, 0x01, 0, 70, false},
    {3, -1, "GPU-d", 0, 0x10, 1, 60, false},
};

/* GPU 1 is split in two, GPU 2 has MIG enabled but no MIG device yet. */
static const struct gk_candidate split[] = {
    {0, -1, "GPU-0000", 0, 1, 0, 10, false},
    {1, -1, "GPU-1111", 0, 2, 0, 10, true},
    {1, 0, "MIG-aaaa-1", 0, 2, 0, 10, false},
    {1, 3, "MIG-aabb-2", 0, 2, 0, 10, false},
    {2, -1, "GPU-2222", 0, 3, 0, 10, true},
};

/* chosen: positions, one digit each; bad: as *ret_bad. */
struct row {
	const char *value; /* NULL: unset */
	const char *chosen;
	long bad;
};

static void check(const struct row *row, enum gk_cuda_order order,
		  const struct gk_candidate *all, size_t count)
{
	unsigned chosen[16];
	size_t got = 99;
	long bad = 99;
	char text[32] = "";

	assert_int_equal(
	    gk_cuda_visible(row->value, order, all, count, chosen, &got, &bad),
	    0);
	assert_true(got <= count);
	for (size_t i = 0; i < got; i++)
		snprintf(text + i, sizeof text - i, "%u", chosen[i]);
	if (strcmp(text, row->chosen) || bad != row->bad)
		fail_msg("\"%s\": \"%s\" (want \"%s\"), bad %ld (want %ld)",
			 row->value ? row->value : "unset", text, row->chosen,
			 bad, row->bad);
}

static const struct row plain[] = {
    {NULL, "0123", -1},
    {"", "", -1},
    {"0", "0", -1},
    {"3", "3", -1},
    {"1,0", "10", -1},
    {"3,2,1,0", "3210", -1},
    {" 1 , 0", "10", -1},
    {"\t2\t,1 ", "21", -1},
    {"0,", "0", -1},
    {"+1", "1", -1},
    {"1gpu2", "1", -1},
    {"1gpu2,0x", "10", -1},
    {"01", "1", -1},
    /* The list ends before the first invalid entry. */
    {"-1", "", 0},
    {"0,-1,1", "0", 2},
    {"4", "", 0},
    {"99", "", 0},
    {"0,99,1", "0", 2},
    {"0, 99,1", "0", 3},
    {"0,,1", "0", 2},
    {",0", "", 0},
    {" ", "", 1},
    {"0, ", "0", 3},
    {"none", "", 0},
    {"NoDevFiles", "", 0},
    {"void", "", 0},
    {"all", "", 0},
    {"0;1", "0", -1},
    {"0 1", "0", -1},
    {"+", "", 0},
    {"++1", "", 0},
    {"18446744073709551616", "", 0},
    {"4294967296", "", 0},
    {"99999999999999999999999999", "", 0},
    /* An entry given twice leaves nothing. */
    {"0,0", "", 2},
    {"0,1,2,1,3", "", 6},
    {"1,1gpu", "", 2},
    {"1, +1", "", 3},
    {"GPU-cccc,GPU-cccc0000", "", 9},
    /* UUIDs. */
    {"GPU-aaaa0000-1111-2222-3333-444444444444", "0", -1},
    {"GPU-aaaa", "0", -1},
    {"GPU-aab", "1", -1},
    {"GPU-AAB", "1", -1},
    {"GPU-c,GPU-aaaa", "20", -1},
    {" GPU-c , GPU-d ", "23", -1},
    {"GPU-aa", "", 0},
    {"GPU-", "", 0},
    {"GPU-d,GPU-a", "3", 6},
    {"GPU-eeee", "", 0},
    {"GPU-dddd0000-1111-2222-3333-4444444444445", "", 0},
    {"gpu-dddd", "", 0},
    {"dddd0000", "", 0},
    /* Numbers and UUIDs do not mix: the first entry decides the form. */
    {"0,GPU-d", "0", 2},
    {"GPU-d,0", "3", 6},
    {"MIG-aaaa", "", 0},
    {"MIG-GPU-aaaa0000-1111-2222-3333-444444444444/1/0", "", 0},
};

static void lists_of_four_equal_gpus(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(plain); i++) {
		check(&plain[i], GK_ORDER_FASTEST_FIRST, four, COUNT(four));
		check(&plain[i], GK_ORDER_PCI_BUS_ID, four, COUNT(four));
	}
}

/* Bus order of mixed: b (10.0), d (10.1), a (80), c (domain 1). The fastest is
 * the first of the two with 70 on the bus: a. */
static const struct row by_bus[] = {
    {NULL, "1302", -1}, {"0", "1", -1},    {"1", "3", -1},     {"2", "0", -1},
    {"3", "2", -1},     {"3,0", "21", -1}, {"GPU-a", "0", -1},
};
static const struct row by_speed[] = {
    {NULL, "0132", -1}, {"0", "0", -1},    {"1", "1", -1},     {"2", "3", -1},
    {"3", "2", -1},     {"3,0", "20", -1}, {"GPU-a", "0", -1},
};

static void numbers_follow_the_order_asked_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(by_bus); i++)
		check(&by_bus[i], GK_ORDER_PCI_BUS_ID, mixed, COUNT(mixed));
	for (size_t i = 0; i < COUNT(by_speed); i++)
		check(&by_speed[i], GK_ORDER_FASTEST_FIRST, mixed,
		      COUNT(mixed));
}

/* A process sees one MIG device, and no whole GPU beside it. */
static const struct row in_pieces[] = {
    {NULL, "2", -1},
    {"0", "0", -1},
    {"1", "2", -1},
    {"0,1", "2", -1},
    {"2", "", 0},
    {"0,2", "0", 2},
    {"3", "", 0},
    {"GPU-0", "0", -1},
    {"GPU-1111", "2", -1},
    {"GPU-2222", "", 0},
    {"MIG-aaaa-1", "2", -1},
    {"MIG-aabb", "3", -1},
    {"MIG-aabb-2,MIG-aaaa-1", "3", -1},
    {"MIG-aa", "", 0},
    {"MIG-cccc", "", 0},
    {"MIG-aaaa,MIG-aaaa", "", 9},
    {"MIG-aabb,GPU-0", "3", 9},
    {"GPU-0,MIG-aabb", "0", 6},
    {"0,MIG-aabb", "0", 2},
    {"MIG-GPU-1111/1/0", "", 0},
};

static void a_split_gpu_gives_its_mig_devices(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(in_pieces); i++)
		check(&in_pieces[i], GK_ORDER_PCI_BUS_ID, split, COUNT(split));
}

static void without_gpus_nothing_is_chosen(void **state)
{
	static const struct row rows[] = {
	    {NULL, "", -1}, {"", "", -1}, {"0", "", 0}, {"GPU-", "", 0}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		check(&rows[i], GK_ORDER_FASTEST_FIRST, NULL, 0);
		check(&rows[i], GK_ORDER_PCI_BUS_ID, four, 0);
	}
}

static void a_single_gpu_is_found_by_any_prefix(void **state)
{
	static const struct row row = {"GPU-", "0", -1};

	(void)state;
	check(&row, GK_ORDER_PCI_BUS_ID, four, 1);
}

static void as_many_gpus_as_there_can_be(void **state)
{
	enum { MANY = 1024 };
	struct gk_candidate *all = calloc(MANY + 1, sizeof *all);
	unsigned *chosen = calloc(MANY, sizeof *chosen);
	size_t count = 7;
	long bad = 7;

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		all[i] = (struct gk_candidate){
		    i, -1, "GPU-x", i / 256, 255 - i % 256, 0, 1, false};
	assert_int_equal(gk_cuda_visible(NULL, GK_ORDER_PCI_BUS_ID, all, MANY,
					 chosen, &count, NULL),
			 0);
	assert_int_equal(count, MANY);
	assert_int_equal(chosen[0], 255);
	assert_int_equal(chosen[1023], 768);
	assert_int_equal(gk_cuda_visible("1023,1024", GK_ORDER_PCI_BUS_ID, all,
					 MANY, chosen, &count, &bad),
			 0);
	assert_int_equal(count, 1);
	assert_int_equal(bad, 5);
	assert_int_equal(gk_cuda_visible(NULL, GK_ORDER_PCI_BUS_ID, all,
					 MANY + 1, chosen, &count, &bad),
			 GK_ERR_TOO_MANY);
	assert_int_equal(count, 1);
	free(all);
	free(chosen);
}

static void the_order_is_the_bus_only_by_its_name(void **state)
{
	(void)state;
	assert_int_equal(gk_cuda_order("PCI_BUS_ID"), GK_ORDER_PCI_BUS_ID);
	assert_int_equal(gk_cuda_order(NULL), GK_ORDER_FASTEST_FIRST);
	assert_int_equal(gk_cuda_order(""), GK_ORDER_FASTEST_FIRST);
	assert_int_equal(gk_cuda_order("FASTEST_FIRST"),
			 GK_ORDER_FASTEST_FIRST);
	assert_int_equal(gk_cuda_order("pci_bus_id"), GK_ORDER_FASTEST_FIRST);
	assert_int_equal(gk_cuda_order("PCI_BUS_ID "), GK_ORDER_FASTEST_FIRST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lists_of_four_equal_gpus),
	    cmocka_unit_test(numbers_follow_the_order_asked_for),
	    cmocka_unit_test(a_split_gpu_gives_its_mig_devices),
	    cmocka_unit_test(without_gpus_nothing_is_chosen),
	    cmocka_unit_test(a_single_gpu_is_found_by_any_prefix),
	    cmocka_unit_test(as_many_gpus_as_there_can_be),
	    cmocka_unit_test(the_order_is_the_bus_only_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
