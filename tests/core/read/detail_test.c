/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail_test.c - checks the texts and NVLinks of a GPU as a driver reports
 * them.
 */
#include "core/read/detail.h"
#include "core/read/detail_lists.h"
#include "core/rows.h"

#include <stdio.h>
#include <stdlib.h>

static struct gk_gpu_unit unit;
static struct gk_gpu gpu;

static int setup(void **state)
{
	rows_setup(state);
	unit.handle = DEVICE;
	gpu = (struct gk_gpu){.nvml = &nvml, .units = &unit, .unit_count = 1};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(gpu.detail);
	return 0;
}

static const struct gk_detail *read_detail(void)
{
	assert_int_equal(gk_detail_read(&gpu), NVML_SUCCESS);
	assert_non_null(gpu.detail);
	return gpu.detail;
}

/* ---- words ---- */

/* Checks a fact as text; an absent one has none. */
static void check_fact(enum gk_fact fact, const char *text)
{
	const struct gk_text *t = &read_detail()->facts[fact];

	assert_int_equal(t->why, GK_PRESENT);
	assert_string_equal(t->s, text);
	answer = NVML_ERROR_NO_PERMISSION;
	t = &read_detail()->facts[fact];
	assert_int_equal(t->why, GK_ABSENT_PERMISSION);
	assert_string_equal(t->s, "");
	answer = NVML_SUCCESS;
}

static unsigned number;

static nvmlReturn_t tell_brand(nvmlDevice_t dev, nvmlBrandType_t *brand)
{
	assert_ptr_equal(dev, DEVICE);
	*brand = (nvmlBrandType_t)number;
	return answer;
}

static nvmlReturn_t tell_architecture(nvmlDevice_t dev,
				      nvmlDeviceArchitecture_t *architecture)
{
	assert_ptr_equal(dev, DEVICE);
	*architecture = number;
	return answer;
}

static void numbers_have_names(void **state)
{
	(void)state;
	nvml.nvmlDeviceGetBrand = tell_brand;
	number = NVML_BRAND_UNKNOWN;
	check_fact(GK_T_BRAND, "Unknown");
	number = NVML_BRAND_TITAN_RTX;
	check_fact(GK_T_BRAND, "Titan RTX");
	nvml.nvmlDeviceGetArchitecture = tell_architecture;
	number = NVML_DEVICE_ARCH_KEPLER;
	check_fact(GK_T_ARCHITECTURE, "Kepler");
	number = NVML_DEVICE_ARCH_HOPPER;
	check_fact(GK_T_ARCHITECTURE, "Hopper");
	number = 4711;
	assert_int_equal(read_detail()->facts[GK_T_ARCHITECTURE].why,
			 GK_ABSENT_ERROR);
	assert_int_equal(gpu.detail->facts[GK_T_BRAND].why, GK_ABSENT_ERROR);
}

/* Fills the room to its end without a NUL, as a driver must not. */
static nvmlReturn_t tell_part(nvmlDevice_t dev, char *to, unsigned length)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(length, GK_NAME_MAX);
	memset(to, 'x', length);
	return answer;
}

static nvmlReturn_t tell_image(nvmlDevice_t dev, char *to, unsigned length)
{
	assert_ptr_equal(dev, DEVICE);
	snprintf(to, length, "G520.0200");
	return answer;
}

static nvmlReturn_t tell_gsp(nvmlDevice_t dev, char *to)
{
	assert_ptr_equal(dev, DEVICE);
	strcpy(to, "580.1");
	return answer;
}

static nvmlReturn_t tell_inforom(nvmlDevice_t dev, nvmlInforomObject_t object,
				 char *to, unsigned length)
{
	static const char *const objects[] = {"2.1", "6.16", "3.0"};

	assert_ptr_equal(dev, DEVICE);
	snprintf(to, length, "%s", objects[object]);
	return answer;
}

static void versions_are_as_the_driver_writes_them(void **state)
{
	char part[GK_NAME_MAX];

	(void)state;
	memset(part, 'x', sizeof part - 1);
	part[sizeof part - 1] = '\0';
	nvml.nvmlDeviceGetBoardPartNumber = tell_part;
	check_fact(GK_T_BOARD_PART, part);
	nvml.nvmlDeviceGetInforomImageVersion = tell_image;
	check_fact(GK_T_INFOROM_IMAGE, "G520.0200");
	nvml.nvmlDeviceGetGspFirmwareVersion = tell_gsp;
	check_fact(GK_T_GSP_VERSION, "580.1");
	nvml.nvmlDeviceGetInforomVersion = tell_inforom;
	check_fact(GK_T_INFOROM_OEM, "2.1");
	check_fact(GK_T_INFOROM_ECC, "6.16");
	check_fact(GK_T_INFOROM_POWER, "3.0");
}

static nvmlReturn_t tell_fabric(nvmlDevice_t dev, nvmlGpuFabricInfoV_t *to)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(to->version, nvmlGpuFabricInfo_v2);
	for (unsigned char i = 0; i < NVML_GPU_FABRIC_UUID_LEN; i++)
		to->clusterUuid[i] = (unsigned char)(0x11 * i);
	return answer;
}

static nvmlReturn_t tell_platform(nvmlDevice_t dev, nvmlPlatformInfo_t *to)
{
	static const unsigned char guid[16] = {0xef, 0xcd, 0xab, 0x89, 0x67,
					       0x45, 0x23, 0x01, 0xff};

	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(to->version, nvmlPlatformInfo_v2);
	memcpy(to->ibGuid, guid, sizeof guid);
	memcpy(to->chassisSerialNumber, "0123456789abcdef", 16);
	to->slotNumber = 'x';
	return answer;
}

static nvmlReturn_t tell_hostname(nvmlDevice_t dev, nvmlHostname_v1_t *to)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(to->value[0], 0);
	memset(to->value, 'h', sizeof to->value);
	return answer;
}

static void bytes_become_words(void **state)
{
	char name[sizeof((nvmlHostname_v1_t *)0)->value + 1] = "";

	(void)state;
	nvml.nvmlDeviceGetGpuFabricInfoV = tell_fabric;
	check_fact(GK_T_FABRIC_CLUSTER, "00112233-4455-6677-8899-aabbccddeeff");
	nvml.nvmlDeviceGetPlatformInfo = tell_platform;
	check_fact(GK_T_CHASSIS_SERIAL, "0123456789abcdef");
	check_fact(GK_T_FABRIC_GUID, "0x0123456789abcdef");
	nvml.nvmlDeviceGetHostname_v1 = tell_hostname;
	memset(name, 'h', sizeof name - 1);
	check_fact(GK_T_GPU_HOSTNAME, name);
}

static void what_a_driver_lacks_is_absent(void **state)
{
	(void)state;
	read_detail();
	for (int i = 0; i < GK_T_COUNT; i++) {
		assert_int_equal(gpu.detail->facts[i].why,
				 GK_ABSENT_NO_FUNCTION);
		assert_string_equal(gpu.detail->facts[i].s, "");
	}
	assert_int_equal(gpu.detail->link_count, 0);
	assert_null(gpu.detail->accounts);
}

/* ---- links ---- */

/* NVML's results for the state of links from 0 on; then there are no more. */
static nvmlReturn_t states[GK_LINKS_MAX + 4];
static unsigned state_count;

static nvmlReturn_t tell_state(nvmlDevice_t dev, unsigned link,
			       nvmlEnableState_t *active)
{
	assert_ptr_equal(dev, DEVICE);
	if (link >= state_count)
		return NVML_ERROR_INVALID_ARGUMENT;
	*active = link % 2 ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
	return states[link];
}

static nvmlReturn_t tell_version(nvmlDevice_t dev, unsigned link,
				 unsigned *version)
{
	assert_ptr_equal(dev, DEVICE);
	*version = link + 3;
	return answer;
}

static nvmlReturn_t tell_errors(nvmlDevice_t dev, unsigned link,
				nvmlNvLinkErrorCounter_t counter,
				unsigned long long *count)
{
	assert_ptr_equal(dev, DEVICE);
	*count = 100 * link + 10 + (unsigned)counter;
	return counter == NVML_NVLINK_ERROR_DL_CRC_DATA
		   ? NVML_ERROR_NOT_SUPPORTED
		   : answer;
}

static nvmlReturn_t tell_fields(nvmlDevice_t dev, int count,
				nvmlFieldValue_t *to)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(count, 3 * gpu.detail->link_count);
	for (int i = 0; i < count; i++) {
		to[i].valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
		to[i].value.uiVal = 1000 * to[i].scopeId + to[i].fieldId;
	}
	return answer;
}

static void check_value(struct gk_value v, int64_t want)
{
	assert_int_equal(v.why, GK_PRESENT);
	assert_int_equal(v.v, want);
}

static void has_links(unsigned count)
{
	nvml.nvmlDeviceGetNvLinkState = tell_state;
	memset(states, 0, sizeof states);
	state_count = count;
}

/* Link 1 is missing between 0 and 2. */
static void links_keep_their_numbers(void **state)
{
	const struct gk_link *l;

	(void)state;
	has_links(3);
	states[1] = NVML_ERROR_NOT_SUPPORTED;
	nvml.nvmlDeviceGetNvLinkVersion = tell_version;
	nvml.nvmlDeviceGetNvLinkErrorCounter = tell_errors;
	assert_int_equal(read_detail()->link_count, 2);
	nvml.nvmlDeviceGetFieldValues = tell_fields;
	l = read_detail()->links;
	assert_int_equal(gpu.detail->link_count, 2);
	assert_int_equal(l[0].index, 0);
	assert_int_equal(l[1].index, 2);
	check_value(l[1].m[GK_L_ACTIVE], 0);
	check_value(l[1].m[GK_L_VERSION], 5);
	check_value(l[1].m[GK_L_REPLAY], 210 + NVML_NVLINK_ERROR_DL_REPLAY);
	check_value(l[1].m[GK_L_RECOVERY], 210 + NVML_NVLINK_ERROR_DL_RECOVERY);
	check_value(l[1].m[GK_L_CRC_FLIT], 210 + NVML_NVLINK_ERROR_DL_CRC_FLIT);
	check_value(l[1].m[GK_L_ECC_DATA], 210 + NVML_NVLINK_ERROR_DL_ECC_DATA);
	assert_int_equal(l[1].m[GK_L_CRC_DATA].why, GK_ABSENT_NOT_SUPPORTED);
	assert_int_equal(l[1].m[GK_L_CRC_DATA].v, 0);
	check_value(l[1].m[GK_L_SPEED],
		    (2000 + NVML_FI_DEV_NVLINK_GET_SPEED) * 1000000LL);
	check_value(l[1].m[GK_L_TX],
		    (2000 + NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX) * 1024);
	check_value(l[0].m[GK_L_RX],
		    NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX * 1024);
}

static void links_end_where_the_driver_says(void **state)
{
	(void)state;
	has_links(GK_LINKS_MAX + 4);
	assert_int_equal(read_detail()->link_count, GK_LINKS_MAX);
	check_value(gpu.detail->links[GK_LINKS_MAX - 1].m[GK_L_ACTIVE], 1);
	has_links(0);
	assert_int_equal(read_detail()->link_count, 0);
	/* If the first link is not supported, there are none. */
	has_links(4);
	states[0] = NVML_ERROR_NOT_SUPPORTED;
	assert_int_equal(read_detail()->link_count, 0);
	/* A link without any value is still a link. */
	states[0] = NVML_ERROR_UNKNOWN;
	assert_int_equal(read_detail()->link_count, 4);
	assert_int_equal(gpu.detail->links[0].m[GK_L_ACTIVE].why,
			 GK_ABSENT_ERROR);
	assert_false(gk_link_is_last(NVML_ERROR_NOT_SUPPORTED, 1));
	assert_true(gk_link_is_last(NVML_ERROR_NOT_SUPPORTED, 0));
	assert_true(gk_link_is_last(NVML_ERROR_INVALID_ARGUMENT, 5));
	assert_true(gk_link_is_last(NVML_ERROR_FUNCTION_NOT_FOUND, 5));
	assert_false(gk_link_is_last(NVML_SUCCESS, 0));
}

static nvmlReturn_t tell_remote(nvmlDevice_t dev, unsigned link,
				nvmlPciInfo_t *pci)
{
	static const nvmlPciInfo_t clean;

	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(link, 7);
	assert_memory_equal(pci, &clean, sizeof clean);
	memset(pci->busId, 'b', sizeof pci->busId);
	return answer;
}

static nvmlReturn_t tell_type(nvmlDevice_t dev, unsigned link,
			      nvmlIntNvLinkDeviceType_t *type)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(link, 7);
	*type = (nvmlIntNvLinkDeviceType_t)number;
	return answer;
}

static void check_end(unsigned type, enum gk_link_end end, const char *bus_id)
{
	char got[32];

	number = type;
	memset(got, 0xee, sizeof got);
	assert_int_equal(gk_link_end_read(&nvml, DEVICE, 7, got), end);
	assert_string_equal(got, bus_id);
}

static void the_other_end_is_a_gpu_a_switch_or_a_cpu(void **state)
{
	static const char bus_id[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

	(void)state;
	check_end(NVML_NVLINK_DEVICE_TYPE_GPU, GK_LINK_END_UNKNOWN, "");
	nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2 = tell_remote;
	check_end(NVML_NVLINK_DEVICE_TYPE_GPU, GK_LINK_END_UNKNOWN, bus_id);
	nvml.nvmlDeviceGetNvLinkRemoteDeviceType = tell_type;
	check_end(NVML_NVLINK_DEVICE_TYPE_GPU, GK_LINK_END_GPU, bus_id);
	check_end(NVML_NVLINK_DEVICE_TYPE_SWITCH, GK_LINK_END_SWITCH, bus_id);
	check_end(NVML_NVLINK_DEVICE_TYPE_IBMNPU, GK_LINK_END_CPU, bus_id);
	check_end(99, GK_LINK_END_UNKNOWN, bus_id);
	answer = NVML_ERROR_UNKNOWN;
	check_end(NVML_NVLINK_DEVICE_TYPE_GPU, GK_LINK_END_UNKNOWN, "");
}

/* ---- all of it ---- */

static nvmlReturn_t list_accounts(nvmlDevice_t dev, unsigned *count,
				  unsigned *pids)
{
	assert_ptr_equal(dev, DEVICE);
	pids[0] = 42;
	*count = 1;
	return NVML_SUCCESS;
}

FILLS(tell_account, nvmlAccountingStats_t, to->time = 5)

static nvmlReturn_t tell_stats(nvmlDevice_t dev, unsigned pid,
			       nvmlAccountingStats_t *to)
{
	assert_int_equal(pid, 42);
	return tell_account(dev, to);
}

static void lists_are_read_when_asked_for(void **state)
{
	(void)state;
	nvml.nvmlDeviceGetAccountingPids = list_accounts;
	nvml.nvmlDeviceGetAccountingStats = tell_stats;
	assert_int_equal(read_detail()->account_count, 0);
	gpu.with = GK_WITH_LISTS;
	assert_int_equal(read_detail()->account_count, 1);
	assert_int_equal(gpu.detail->accounts[0].pid, 42);
}

/* Whichever call finds that the GPU is lost. */
static void a_lost_gpu_keeps_what_was_read(void **state)
{
	const struct gk_detail *before;

	(void)state;
	has_links(1);
	before = read_detail();
	states[0] = NVML_ERROR_GPU_IS_LOST;
	assert_int_equal(gk_detail_read(&gpu), NVML_ERROR_GPU_IS_LOST);
	states[0] = NVML_SUCCESS;
	answer = NVML_ERROR_RESET_REQUIRED;
	nvml.nvmlDeviceGetFieldValues = tell_fields;
	assert_int_equal(gk_detail_read(&gpu), NVML_ERROR_RESET_REQUIRED);
	nvml.nvmlDeviceGetFieldValues = NULL;
	nvml.nvmlDeviceGetBrand = tell_brand;
	assert_int_equal(gk_detail_read(&gpu), NVML_ERROR_RESET_REQUIRED);
	nvml.nvmlDeviceGetBrand = NULL;
	gpu.with = GK_WITH_LISTS;
	nvml.nvmlDeviceGetAccountingPids = list_accounts;
	nvml.nvmlDeviceGetAccountingStats = tell_stats;
	assert_int_equal(gk_detail_read(&gpu), NVML_ERROR_RESET_REQUIRED);
	assert_ptr_equal(gpu.detail, before);
	assert_int_equal(gpu.detail->link_count, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(numbers_have_names),
	    TEST(versions_are_as_the_driver_writes_them),
	    TEST(bytes_become_words),
	    TEST(what_a_driver_lacks_is_absent),
	    TEST(links_keep_their_numbers),
	    TEST(links_end_where_the_driver_says),
	    TEST(the_other_end_is_a_gpu_a_switch_or_a_cpu),
	    TEST(lists_are_read_when_asked_for),
	    TEST(a_lost_gpu_keeps_what_was_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
