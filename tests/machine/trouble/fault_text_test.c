/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_text_test.c - checks faults as users write them: what each means, and
 * the messages for wrong ones.
 */
#include "base/array.h"
#include "base/err.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/fixture.h"
#include "machine/model/mig/mig.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/fault_text.h"

static struct fixture fx;

static int setup(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static void names_may_have_arguments(void **state)
{
	static const struct {
		const char *text;
		enum gkf_fault fault;
		uint64_t argument;
	} cases[] = {
	    {"fallen", GKF_FAULT_FALLEN, 0},
	    {"inforom", GKF_FAULT_INFOROM, 0},
	    {"timeout", GKF_FAULT_TIMEOUT, 1000000000},
	    {"timeout=0", GKF_FAULT_TIMEOUT, 0},
	    {"timeout=1h", GKF_FAULT_TIMEOUT, 3600000000000},
	    {"pcie", GKF_FAULT_PCIE, 0x101},
	    {"pcie=1x1", GKF_FAULT_PCIE, 0x101},
	    {"pcie=006x16", GKF_FAULT_PCIE, 0x610},
	    {"nvlink", GKF_FAULT_NVLINK, 0},
	    {"nvlink=0", GKF_FAULT_NVLINK, 0},
	    {"nvlink=63", GKF_FAULT_NVLINK, 63},
	    {"ecc-uncorrectable=1", GKF_FAULT_ECC, 1},
	    {"ecc-uncorrectable=1000000", GKF_FAULT_ECC, 1000000},
	    {"oom", GKF_FAULT_OOM, 0},
	    {"oom=3", GKF_FAULT_OOM, 3},
	    {"slow-copies", GKF_FAULT_SLOW_COPIES, 10},
	    {"sticky", GKF_FAULT_STICKY, 719},
	    {"sticky=assert", GKF_FAULT_STICKY, 710},
	    {"launch", GKF_FAULT_LAUNCH, 700},
	    {"launch=misaligned-address", GKF_FAULT_LAUNCH, 716},
	    {"launch=unknown+65535", GKF_FAULT_LAUNCH, 0xffff03e7},
	    /* FNV-1a of "a": from the tables of its authors */
	    {"launch=assert@a", GKF_FAULT_LAUNCH, 0xe40c292c000002c6},
	    {"launch=assert@foobar+2", GKF_FAULT_LAUNCH, 0xbf9cf968000202c6},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char allowed[GKF_FAULT_TEXT_MAX] = "untouched";
		struct gkf_breakage b;

		memset(&b, 0x5a, sizeof b);
		assert_int_equal(gkf_fault_parse(cases[i].text, &b, allowed),
				 0);
		assert_false(b.is_xid);
		assert_int_equal(b.fault, cases[i].fault);
		assert_int_equal(b.argument, cases[i].argument);
		assert_string_equal(allowed, "untouched");
	}
}

static void xids_may_be_of_an_instance(void **state)
{
	static const struct {
		const char *text;
		unsigned xid;
		uint32_t instance;
	} cases[] = {
	    {"xid=8", 8, GKF_NO_INSTANCE},
	    {"xid=143", 143, GKF_NO_INSTANCE},
	    {"xid=0000031", 31, GKF_NO_INSTANCE},
	    {"xid=31@1/0", 31, 0x10000},
	    {"xid=31@0/2", 31, 2},
	    {"xid=31@255/255", 31, 0xff00ff},
	    {"xid=31@0000007/3", 31, 0x70003},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char allowed[GKF_FAULT_TEXT_MAX];
		struct gkf_breakage b;

		memset(&b, 0x5a, sizeof b);
		assert_int_equal(gkf_fault_parse(cases[i].text, &b, allowed),
				 0);
		assert_true(b.is_xid);
		assert_int_equal(b.xid, cases[i].xid);
		assert_int_equal(b.instance, cases[i].instance);
	}
}

static void what_is_wrong_is_told_with_what_is_right(void **state)
{
#define NOTHING "it takes no argument"
#define TIME    "a time up to 1h, such as 200ms"
#define PCIE    "a PCIe generation 1 to 6 and a width 1 to 16, such as 1x4"
#define XIDS                                                                   \
	"one of 8, 11, 13, 16, 31, 32, 37, 38, 43, 45, 46, 48, 61, 62, 63, "   \
	"64, 68, 69, 74, 79, 92, 94, 95, 109, 110, 119, 120, 121, 140, 143"
#define STICKY "an error such as illegal-address, launch-failed or assert"
#define LAUNCH                                                                 \
	"an error such as illegal-address, launch-failed@KERNEL or assert+3"
#define INSTANCE "of a program in an instance, such as xid=31@1/0"
	static const char *const cases[][2] = {
	    {"lost=", NOTHING},
	    {"lost=0", NOTHING},
	    {"timeout=", TIME},
	    {"timeout=3600001ms", TIME},
	    {"timeout=1x4", TIME},
	    {"pcie=", PCIE},
	    {"pcie=4", PCIE},
	    {"pcie=x4", PCIE},
	    {"pcie=1x", PCIE},
	    {"pcie=0x1", PCIE},
	    {"pcie=7x1", PCIE},
	    {"pcie=1x0", PCIE},
	    {"pcie=6x17", PCIE},
	    {"pcie=1x17", PCIE},
	    {"pcie=1x256", PCIE},
	    {"pcie=1x-1", PCIE},
	    {"pcie=-1x1", PCIE},
	    {"pcie=256x1", PCIE},
	    {"pcie=0001x1", PCIE},
	    {"nvlink=64", "0 to 63"},
	    {"nvlink=-1", "0 to 63"},
	    {"nvlink=x", "0 to 63"},
	    {"ecc-uncorrectable=0", "1 to 1000000"},
	    {"ecc-uncorrectable=1000001", "1 to 1000000"},
	    {"oom=-1", "0 to 1000000"},
	    {"slow-copies=0", "1 to 1000000"},
	    {"sticky=", STICKY},
	    {"sticky=assert+1", STICKY},
	    {"sticky=assert@a", STICKY},
	    {"launch=", LAUNCH},
	    {"launch=assertion", LAUNCH},
	    {"launch=700", LAUNCH},
	    {"launch=assert@", LAUNCH},
	    {"launch=assert@+1", LAUNCH},
	    {"launch=assert+", LAUNCH},
	    {"launch=assert+65536", LAUNCH},
	    {"launch=assert+-1", LAUNCH},
	    {"xid", XIDS},
	    {"xid=", XIDS},
	    {"xid=0", XIDS},
	    {"xid=9", XIDS},
	    {"xid=-31", XIDS},
	    {"xid=65567", XIDS},    /* 31, cut to 16 bits */
	    {"xid=00000031", XIDS}, /* longer than any */
	    {"xid=31x", XIDS},
	    {"xid=31@", INSTANCE},
	    {"xid=31@1", INSTANCE},
	    {"xid=31@1/", INSTANCE},
	    {"xid=31@/1", INSTANCE},
	    {"xid=31@-1/0", INSTANCE},
	    {"xid=31@0/-1", INSTANCE},
	    {"xid=31@256/0", INSTANCE},
	    {"xid=31@0/256", INSTANCE},
	    {"xid=31@00000001/0", INSTANCE},
	    {"xid=48@1/0", INSTANCE},
	    {"xid=79@1/0", INSTANCE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char allowed[GKF_FAULT_TEXT_MAX] = "";
		struct gkf_breakage b, before;

		memset(&b, 0x5a, sizeof b);
		before = b;
		if (gkf_fault_parse(cases[i][0], &b, allowed) != GK_ERR_INVALID)
			fail_msg("%s", cases[i][0]);
		assert_string_equal(allowed, cases[i][1]);
		assert_memory_equal(&b, &before, sizeof b);
	}
}

static void what_is_no_name_is_not_found(void **state)
{
	static const char *const names[] = {
	    "",
	    "=",
	    "los",
	    "lostt",
	    "Lost",
	    "driver-mismatch",
	    "xid31",
	    /* 63 and 64 bytes */
	    "012345678901234567890123456789012345678901234567890123456789012",
	    "0123456789012345678901234567890123456789012345678901234567890123",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		char allowed[GKF_FAULT_TEXT_MAX] = "untouched";
		struct gkf_breakage b;

		assert_int_equal(gkf_fault_parse(names[i], &b, allowed),
				 GK_ERR_NOT_FOUND);
		assert_string_equal(allowed, "untouched");
	}
}

static void numbers_of_names_are_theirs(void **state)
{
	(void)state;
	assert_int_equal(gkf_fault_by_name("fallen"), 0);
	assert_int_equal(gkf_fault_by_name("slow-copies"), GKF_FAULT_COUNT - 1);
	assert_int_equal(gkf_fault_by_name("none"), -1);
	assert_int_equal(gkf_machine_fault_by_name("driver-mismatch"), 0);
	assert_int_equal(gkf_machine_fault_by_name("insufficient-power"),
			 GKF_MACHINE_FAULT_COUNT - 1);
	assert_int_equal(gkf_machine_fault_by_name("lost"), -1);
	assert_int_equal(gkf_xid_find(79)->number, 79);
	assert_int_equal(gkf_xid_find(8)->becomes, -1);
	assert_int_equal(gkf_xid_find(143)->becomes, GKF_FAULT_ENGINE);
	assert_null(gkf_xid_find(9));
}

/* Printed as a user would type it. */
static void what_is_broken_is_printed(void **state)
{
	static const struct {
		enum gkf_fault fault;
		uint64_t argument;
		const char *text;
	} cases[] = {
	    {GKF_FAULT_LOST, 0, "lost"},
	    {GKF_FAULT_TIMEOUT, 20500000, "timeout=20.5ms"},
	    {GKF_FAULT_PCIE, 0x308, "pcie=3x8"},
	    {GKF_FAULT_PCIE, 0x410, "pcie=4x16"},
	    {GKF_FAULT_ECC, 7, "ecc-uncorrectable=7"},
	    {GKF_FAULT_NVLINK, 2, "nvlink=2"},
	    {GKF_FAULT_NVLINK, 0, "nvlink=0,2"},
	    {GKF_FAULT_NVLINK, 11, "nvlink=0,2,11"},
	};
	char text[GKF_FAULT_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(
		    gkf_fault_begin(fx.m, 1, cases[i].fault, cases[i].argument),
		    0);
		gkf_fault_print(fx.m, 1, cases[i].fault, text, sizeof text);
		assert_string_equal(text, cases[i].text);
	}
	gkf_fault_print(fx.m, 0, GKF_FAULT_NVLINK, text, sizeof text);
	assert_string_equal(text, "nvlink");
	gkf_fault_print(fx.m, 1, GKF_FAULT_NVLINK, text, 4);
	assert_string_equal(text, "nvl");
	/* Bits that another process may have written. */
	atomic_store(&fx.file->device[1].fault.argument[GKF_FAULT_NVLINK],
		     3ULL << 62);
	gkf_fault_print(fx.m, 1, GKF_FAULT_NVLINK, text, sizeof text);
	assert_string_equal(text, "nvlink=62,63");
}

static void breakages_happen(void **state)
{
	const struct gkf_breakage lost = {.fault = GKF_FAULT_PCIE,
					  .argument = 0x104},
				  fatal = {.is_xid = true,
					   .xid = 62,
					   .instance = GKF_NO_INSTANCE},
				  of_program = {.is_xid = true,
						.xid = 31,
						.instance = GKF_INSTANCE(0, 0)};
	const char *part;

	(void)state;
	assert_int_equal(gkf_break(fx.m, 1, &lost), 0);
	assert_int_equal(gkf_fault_argument(fx.m, 1, GKF_FAULT_PCIE), 0x104);
	assert_int_equal(gkf_break(fx.m, 1, &fatal), 0);
	assert_true(gkf_fault_active(fx.m, 1, GKF_FAULT_ENGINE));
	assert_int_equal(gkf_break(fx.m, 0, &of_program), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_layout(fx.m, 0, "7g.80gb", &part), 0);
	assert_int_equal(gkf_break(fx.m, 0, &of_program), 0);
	assert_int_equal(atomic_load(&fx.file->device[0].fault.last_xid), 31);
	assert_int_equal(gkf_break(fx.m, 2, &lost), GK_ERR_RANGE);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_may_have_arguments),
	    cmocka_unit_test(xids_may_be_of_an_instance),
	    cmocka_unit_test(what_is_wrong_is_told_with_what_is_right),
	    cmocka_unit_test(what_is_no_name_is_not_found),
	    cmocka_unit_test(numbers_of_names_are_theirs),
	    T(what_is_broken_is_printed),
	    T(breakages_happen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
