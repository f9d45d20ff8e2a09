/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_test.c - checks places and links through NVML: both ends agree, on
 * machines of every layout and size; and what is refused.
 */
#include "fronts/nvml/nvml_test.h"
#include "machine/file/board.h"
#include "machine/file/link_state.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/model/link.h"
#include "machine/model/model.h"
#include "machine/store/board.h"
#include "machine/store/machine.h"

#define GPUS_MAX 16

/* Makes a machine of n A100; NVML is loaded on it. */
static void open_with(struct fixture *fx, unsigned n, enum gkf_layout layout)
{
	struct gkf_profile profiles[GPUS_MAX];
	struct gkf_machine_spec spec = {
	    .device_count = n, .profiles = profiles, .layout = layout};

	for (unsigned i = 0; i < n; i++)
		profiles[i] = gkf_profile_default;
	fixture_open_spec(fx, &spec);
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
}

static void close_it(struct fixture *fx)
{
	while (NV(nvmlShutdown)() == NVML_SUCCESS)
		;
	fixture_close(fx);
}

static int load(void **state)
{
	(void)state;
	front_load();
	return 0;
}

static void pair_agrees(unsigned a, unsigned b)
{
	nvmlGpuTopologyLevel_t there, back;
	nvmlGpuP2PStatus_t to, from;
	int same, mutual;

	assert_nvml(NV(nvmlDeviceGetTopologyCommonAncestor)(
			device_at(a), device_at(b), &there),
		    SUCCESS);
	assert_nvml(NV(nvmlDeviceGetTopologyCommonAncestor)(
			device_at(b), device_at(a), &back),
		    SUCCESS);
	assert_int_equal(there, back);
	for (int i = 0; i < NVML_P2P_CAPS_INDEX_UNKNOWN; i++) {
		assert_nvml(
		    NV(nvmlDeviceGetP2PStatus)(device_at(a), device_at(b),
					       (nvmlGpuP2PCapsIndex_t)i, &to),
		    SUCCESS);
		assert_nvml(
		    NV(nvmlDeviceGetP2PStatus)(device_at(b), device_at(a),
					       (nvmlGpuP2PCapsIndex_t)i, &from),
		    SUCCESS);
		assert_int_equal(to, from);
	}
	assert_nvml(
	    NV(nvmlDeviceOnSameBoard)(device_at(a), device_at(b), &same),
	    SUCCESS);
	assert_nvml(
	    NV(nvmlDeviceOnSameBoard)(device_at(b), device_at(a), &mutual),
	    SUCCESS);
	assert_int_equal(same, mutual);
	assert_int_equal(same, a == b);
}

/* The number of links of a that lead to GPU b. */
static unsigned links_to(unsigned a, unsigned b)
{
	nvmlPciInfo_t end, of_b;
	nvmlIntNvLinkDeviceType_t type;
	unsigned n = 0;

	assert_nvml(NV(nvmlDeviceGetPciInfo_v3)(device_at(b), &of_b), SUCCESS);
	for (unsigned l = 0; l < 12; l++) {
		if (NV(nvmlDeviceGetNvLinkRemotePciInfo_v2)(device_at(a), l,
							    &end))
			continue;
		assert_nvml(NV(nvmlDeviceGetNvLinkRemoteDeviceType)(
				device_at(a), l, &type),
			    SUCCESS);
		if (type == NVML_NVLINK_DEVICE_TYPE_GPU)
			n += strcmp(end.busId, of_b.busId) == 0;
		else
			assert_string_not_equal(end.busId, of_b.busId);
	}
	return n;
}

/* Checks that every other GPU is near at exactly one level. */
static void levels_part_the_machine(unsigned a, unsigned count)
{
	nvmlDevice_t near[GPUS_MAX];
	unsigned n, all = 0;

	for (int level = 0; level <= NVML_TOPOLOGY_SYSTEM; level += 10) {
		n = 0;
		assert_nvml(
		    NV(nvmlDeviceGetTopologyNearestGpus)(
			device_at(a), (nvmlGpuTopologyLevel_t)level, &n, NULL),
		    SUCCESS);
		all += n;
		if (!n)
			continue;
		assert_nvml(
		    NV(nvmlDeviceGetTopologyNearestGpus)(
			device_at(a), (nvmlGpuTopologyLevel_t)level, &n, near),
		    SUCCESS);
		for (unsigned i = 0; i < n; i++)
			assert_ptr_not_equal(near[i], device_at(a));
	}
	assert_int_equal(all, count - 1);
}

static void handles_agree(void **state)
{
	struct fixture fx;

	(void)state;
	for (int l = 0; l < GKF_LAYOUT_COUNT; l++)
		for (unsigned n = 1; n <= GPUS_MAX; n++) {
			open_with(&fx, n, (enum gkf_layout)l);
			for (unsigned a = 0; a < n; a++) {
				levels_part_the_machine(a, n);
				for (unsigned b = 0; b <= a; b++) {
					pair_agrees(a, b);
					assert_int_equal(links_to(a, b),
							 links_to(b, a));
				}
			}
			close_it(&fx);
		}
}

/* The nodes divide the processors: none is left over, none is in two. */
static void processors_are_shared_out(void **state)
{
	unsigned long first[16], last[16];
	struct fixture fx;
	unsigned n;

	(void)state;
	open_with(&fx, 8, GKF_LAYOUT_AUTO);
	assert_nvml(NV(nvmlDeviceGetCpuAffinity)(device_at(0), 16, first),
		    SUCCESS);
	assert_nvml(NV(nvmlDeviceGetCpuAffinity)(device_at(7), 16, last),
		    SUCCESS);
	assert_true(first[0] | last[0]);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		for (int i = 0; i < 16; i++)
			assert_int_equal(first[i] & last[i], 0);
	n = 0;
	assert_nvml(NV(nvmlSystemGetTopologyGpuSet)(100000, &n, NULL),
		    ERROR_INVALID_ARGUMENT);
	close_it(&fx);
}

/* A node has one socket, so node and socket give the same. */
static void both_scopes_have_the_same_processors(void **state)
{
	unsigned long near[16], within[16];
	struct fixture fx;

	(void)state;
	open_with(&fx, 2, GKF_LAYOUT_AUTO);
	assert_nvml(NV(nvmlDeviceGetCpuAffinity)(device_at(1), 16, near),
		    SUCCESS);
	for (unsigned scope = 0; scope < 2; scope++) {
		memset(within, 0xff, sizeof within);
		assert_nvml(NV(nvmlDeviceGetCpuAffinityWithinScope)(
				device_at(1), 16, within, scope),
			    SUCCESS);
		assert_memory_equal(within, near, sizeof near);
	}
	assert_nvml(NV(nvmlDeviceGetCpuAffinityWithinScope)(device_at(1), 16,
							    within, 2),
		    ERROR_INVALID_ARGUMENT);
	close_it(&fx);
}

static void what_is_wrong_is_refused(void **state)
{
	nvmlPciInfo_t pci = {.bus = 0xfe};
	nvmlGpuFabricInfoV_t fabric = {.version = 1};
	nvmlPdi_t pdi = {.version = 2};
	nvmlEnableState_t drain;
	unsigned long set[1];
	struct fixture fx;
	unsigned v;

	(void)state;
	open_with(&fx, 2, GKF_LAYOUT_AUTO);
	assert_nvml(NV(nvmlDeviceGetNvLinkState)(device_at(0), 12, &drain),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetNvLinkVersion)(device_at(0), 0, NULL),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetNvLinkCapability)(
			device_at(0), 0, NVML_NVLINK_CAP_COUNT, &v),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceQueryDrainState)(&pci, &drain),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetGpuFabricInfoV)(device_at(0), &fabric),
		    ERROR_ARGUMENT_VERSION_MISMATCH);
	assert_nvml(NV(nvmlDeviceGetPdi)(device_at(0), &pdi),
		    ERROR_ARGUMENT_VERSION_MISMATCH);
	assert_nvml(NV(nvmlDeviceGetMemoryAffinity)(device_at(0), 1, set, 2),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetCpuAffinity)(device_at(0), 0, set),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlSystemGetNvlinkBwMode)(&v), ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetNumaNodeId)(device_at(0), &v),
		    ERROR_NOT_SUPPORTED);
	close_it(&fx);
}

static unsigned degraded(const nvmlGpuFabricInfoV_t *info)
{
	return info->healthMask >>
		   NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW &
	       NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_DEGRADED_BW;
}

static void fabric_of(nvmlGpuFabricInfoV_t *ret_info)
{
	*ret_info = (nvmlGpuFabricInfoV_t){.version = nvmlGpuFabricInfo_v3};
	assert_nvml(NV(nvmlDeviceGetGpuFabricInfoV)(device_at(0), ret_info),
		    SUCCESS);
}

/* One link of eighteen is enough. A board in no rack does not tell that its
 * bandwidth is full. */
static void a_fabric_with_a_link_down_is_degraded(void **state)
{
	struct gkf_profile profiles[8];
	struct gkf_machine_spec spec = {.device_count = 8,
					.profiles = profiles};
	nvmlGpuFabricInfoV_t info;
	struct fixture fx;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		profiles[i] = gkf_profile_default;
		profiles[i].nvlinks = 18;
		profiles[i].nvlink_version = 5;
	}
	fixture_open_spec(&fx, &spec);
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
	fabric_of(&info);
	assert_int_equal(info.state, NVML_GPU_FABRIC_STATE_COMPLETED);
	assert_int_equal(degraded(&info),
			 NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_NOT_SUPPORTED);
	assert_int_equal(info.healthSummary,
			 NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY);
	assert_int_equal(gkf_link_set_state(fx.m, 0, 17, GKF_LINK_DOWN), 0);
	fabric_of(&info);
	assert_int_equal(degraded(&info),
			 NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_TRUE);
	assert_int_equal(info.healthSummary,
			 NVML_GPU_FABRIC_HEALTH_SUMMARY_LIMITED_CAPACITY);
	close_it(&fx);
}

/* The list closes the gap; a handle of the removed one is invalid. */
static void a_removed_gpu_is_nowhere(void **state)
{
	nvmlDevice_t second, found;
	struct fixture fx;
	unsigned v;
	char bus[32];

	(void)state;
	open_with(&fx, 3, GKF_LAYOUT_AUTO);
	second = device_at(1);
	snprintf(bus, sizeof bus, "0000:%02x:00.0",
		 gkf_board(fx.m, 1)->pci_bus);
	assert_int_equal(gkf_value_set(fx.m, 1, GKF_V_REMOVED, 1), 0);
	assert_nvml(NV(nvmlDeviceGetCount_v2)(&v), SUCCESS);
	assert_int_equal(v, 2);
	assert_nvml(NV(nvmlDeviceGetIndex)(device_at(1), &v), SUCCESS);
	assert_int_equal(v, 1);
	assert_ptr_not_equal(device_at(1), second);
	assert_nvml(NV(nvmlDeviceGetIndex)(second, &v), ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetHandleByPciBusId_v2)(bus, &found),
		    ERROR_NOT_FOUND);
	assert_nvml(
	    NV(nvmlDeviceGetHandleByUUID)(gkf_board(fx.m, 1)->uuid, &found),
	    ERROR_NOT_FOUND);
	assert_nvml(NV(nvmlDeviceOnSameBoard)(device_at(0), second, (int *)&v),
		    ERROR_INVALID_ARGUMENT);
	assert_int_equal(gkf_value_set(fx.m, 1, GKF_V_REMOVED, GKF_UNSET), 0);
	assert_ptr_equal(device_at(1), second);
	close_it(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(handles_agree),
	    cmocka_unit_test(processors_are_shared_out),
	    cmocka_unit_test(both_scopes_have_the_same_processors),
	    cmocka_unit_test(a_fabric_with_a_link_down_is_degraded),
	    cmocka_unit_test(what_is_wrong_is_refused),
	    cmocka_unit_test(a_removed_gpu_is_nowhere),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
