/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_test.c - checks devices: which ones a process sees, their names and
 * attributes, compared with profiles and with NVML.
 */
#include "abi/nvml/nvml_abi.h"
#include "base/units.h"
#include "fronts/common/generations.h"
#include "fronts/cuda/alone.h"
#include "machine/file/board.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/file.h"
#include "machine/file/value.h"
#include "machine/model/mig/mig.h"
#include "machine/store/board.h"
#include "machine/store/process/ledger.h"
#include "machine/trouble/fault.h"

static void init(void)
{
	assert_cuda(CU(cuInit)(0), SUCCESS);
}

static int attribute(CUdevice device, CUdevice_attribute id)
{
	int value = -77;

	assert_cuda(CU(cuDeviceGetAttribute)(&value, id, device), SUCCESS);
	return value;
}

#define GET(device, id) attribute(device, CU_DEVICE_ATTRIBUTE_##id)

/* Replaces the fixture's machine by another one. */
static void remake(struct fixture *fx, const struct gkf_profile *profiles,
		   unsigned count)
{
	fixture_close(fx);
	fixture_open_of(fx, profiles, count);
}

static int seen(void)
{
	int count = -1;

	assert_cuda(CU(cuDeviceGetCount)(&count), SUCCESS);
	return count;
}

static void cuda_says_what_the_machine_says(struct fixture *fx)
{
	struct gkf_memory memory;
	char name[96] = "", tiny[4] = "xxx";
	int major, minor, version = 0;
	unsigned old;
	size_t total;

	assert_cuda(CU(cuDriverGetVersion)(&version), SUCCESS);
	assert_int_equal(version, fx->file->cuda_version);
	assert_cuda(CU(cuDriverGetVersion)(NULL), ERROR_INVALID_VALUE);
	init();
	assert_int_equal(seen(), 2);
	assert_cuda(CU(cuDeviceGetName)(name, sizeof(name), 1), SUCCESS);
	assert_string_equal(name, "NVIDIA A100-SXM4-80GB");
	assert_cuda(CU(cuDeviceGetName)(tiny, 4, 1), SUCCESS);
	assert_string_equal(tiny, "NVI");
	assert_cuda(CU(cuDeviceGetName)(tiny, 0, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuDeviceGetName)(NULL, 9, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuDeviceGetName)(tiny, 4, 2), ERROR_INVALID_DEVICE);
	gkf_memory(fx->m, 0, &memory);
	assert_cuda(CU(cuDeviceTotalMem_v2)(&total, 0), SUCCESS);
	assert_int_equal(total, memory.total - memory.reserved);
	assert_cuda(CU(cuDeviceTotalMem)(&old, 0), SUCCESS);
	assert_int_equal(old, UINT32_MAX);
	assert_cuda(CU(cuDeviceComputeCapability)(&major, &minor, 0), SUCCESS);
	assert_int_equal(major * 10 + minor, 80);
	assert_cuda(CU(cuDriverGetVersion)(&version), SUCCESS);
	assert_int_equal(version, fx->file->cuda_version);
}

static void a_uuid_is_that_of_the_board(struct fixture *fx)
{
	const char *text = gkf_board(fx->m, 1)->uuid;
	char again[48] = "GPU-";
	unsigned at = 4;
	CUuuid uuid;

	init();
	assert_cuda(CU(cuDeviceGetUuid_v2)(&uuid, 1), SUCCESS);
	for (unsigned i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			again[at++] = '-';
		snprintf(again + at, 3, "%02x", (unsigned char)uuid.bytes[i]);
		at += 2;
	}
	assert_string_equal(again, text);
	assert_cuda(CU(cuDeviceGetUuid)(NULL, 1), ERROR_INVALID_VALUE);
}

static void a_bus_id_leads_back(struct fixture *fx)
{
	static const struct {
		const char *text;
		CUresult result;
		CUdevice device;
	} rows[] = {
	    {"0000:0f:00.0", CUDA_SUCCESS, 1},
	    {"00000000:0F:00.0", CUDA_SUCCESS, 1},
	    {"0f:00", CUDA_SUCCESS, 1},
	    {"0:07:00", CUDA_SUCCESS, 0},
	    {"07:00.0", CUDA_SUCCESS, 0},
	    {"07:00.1", CUDA_ERROR_INVALID_DEVICE, -1},
	    {"0001:07:00.0", CUDA_ERROR_INVALID_DEVICE, -1},
	    {"0f", CUDA_ERROR_INVALID_VALUE, -1},
	    {"", CUDA_ERROR_INVALID_VALUE, -1},
	    {"0f:00.0x", CUDA_ERROR_INVALID_VALUE, -1},
	};
	char text[16];

	(void)fx;
	init();
	assert_cuda(CU(cuDeviceGetPCIBusId)(text, sizeof(text), 1), SUCCESS);
	assert_string_equal(text, "0000:0F:00.0");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		CUdevice device = -1;

		assert_int_equal(
		    CU(cuDeviceGetByPCIBusId)(&device, rows[i].text),
		    rows[i].result);
		assert_int_equal(device, rows[i].device);
	}
}

/* Every existing attribute has a value; nothing else has. */
static void all_attributes_answer(struct fixture *fx)
{
	int value = -77;

	(void)fx;
	init();
	for (int id = 1; id < CU_DEVICE_ATTRIBUTE_MAX; id++)
		attribute(0, (CUdevice_attribute)id);
	assert_cuda(CU(cuDeviceGetAttribute)(&value, 0, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(
	    CU(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_MAX, 0),
	    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuDeviceGetAttribute)(&value, 1, 2),
		    ERROR_INVALID_DEVICE);
	assert_cuda(CU(cuDeviceGetAttribute)(NULL, 1, 0), ERROR_INVALID_VALUE);
	assert_int_equal(value, -77);
}

/* Values for four architectures, from the programming guide's tables. */
static void attributes_follow_model_and_architecture(struct fixture *fx)
{
	static const struct {
		int capability, sms, l2_kib;
		int threads, blocks, shared, optin, reserved, ratio;
	} rows[] = {
	    {75, 40, 4096, 1024, 16, 65536, 65536, 0, 32},
	    {80, 108, 40960, 2048, 32, 167936, 166912, 1024, 2},
	    {89, 128, 73728, 1536, 24, 102400, 101376, 1024, 64},
	    {90, 132, 51200, 2048, 32, 233472, 232448, 1024, 2},
	};
	struct gkf_profile profiles[4];

	for (int i = 0; i < 4; i++) {
		profiles[i] = gkf_profile_default;
		profiles[i].compute_major = rows[i].capability / 10;
		profiles[i].compute_minor = rows[i].capability % 10;
		profiles[i].sm_count = rows[i].sms;
		profiles[i].l2_kib = rows[i].l2_kib;
	}
	remake(fx, profiles, 4);
	setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
	init();
	for (int i = 0; i < 4; i++) {
		assert_int_equal(GET(i, COMPUTE_CAPABILITY_MAJOR) * 10 +
				     GET(i, COMPUTE_CAPABILITY_MINOR),
				 rows[i].capability);
		assert_int_equal(GET(i, MULTIPROCESSOR_COUNT), rows[i].sms);
		assert_int_equal(GET(i, L2_CACHE_SIZE), rows[i].l2_kib * 1024);
		assert_int_equal(GET(i, MAX_THREADS_PER_MULTIPROCESSOR),
				 rows[i].threads);
		assert_int_equal(GET(i, MAX_BLOCKS_PER_MULTIPROCESSOR),
				 rows[i].blocks);
		assert_int_equal(GET(i, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
				 rows[i].shared);
		assert_int_equal(GET(i, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
				 rows[i].optin);
		assert_int_equal(GET(i, RESERVED_SHARED_MEMORY_PER_BLOCK),
				 rows[i].reserved);
		assert_int_equal(GET(i, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO),
				 rows[i].ratio);
		assert_int_equal(GET(i, PCI_BUS_ID), 7 + 8 * i);
		assert_int_equal(GET(i, CLOCK_RATE), 1410000);
		assert_int_equal(GET(i, MEMORY_CLOCK_RATE), 1593000);
	}
}

static void settings_are_those_of_now(struct fixture *fx)
{
	init();
	assert_int_equal(GET(0, COMPUTE_MODE), CU_COMPUTEMODE_DEFAULT);
	assert_int_equal(GET(0, ECC_ENABLED), 1);
	fx->file->device[0].set[GKF_V_COMPUTE_MODE] = GKF_EXCLUSIVE;
	fx->file->device[0].set[GKF_V_ECC_MODE] = 0;
	assert_int_equal(GET(0, COMPUTE_MODE),
			 CU_COMPUTEMODE_EXCLUSIVE_PROCESS);
	assert_int_equal(GET(0, ECC_ENABLED), 0);
	assert_int_equal(GET(1, ECC_ENABLED), 1);
	/* A display that could be used sets no limit, one in use does. */
	fx->file->device[0].set[GKF_V_DISPLAY_MODE] = 1;
	assert_int_equal(GET(0, KERNEL_EXEC_TIMEOUT), 0);
	fx->file->device[0].set[GKF_V_DISPLAY_ACTIVE] = 1;
	assert_int_equal(GET(0, KERNEL_EXEC_TIMEOUT), 1);
}

/* Rates of an H100; and of consumer boards as advertised. */
static void rates_are_those_of_device_queries(struct fixture *fx)
{
	struct gkf_profile two[2] = {gkf_profile_default, gkf_profile_default};

	two[0].display_mode = 1;
	two[1].sm_clock_max_mhz = 2100;
	two[1].cuda_clock_mhz = 1695;
	remake(fx, two, 2);
	setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
	init();
	assert_int_equal(GET(0, KERNEL_EXEC_TIMEOUT), 0);
	assert_int_equal(GET(0, CLOCK_RATE), 1410000);
	assert_int_equal(GET(1, CLOCK_RATE), 1695000);
}

static void a_level_2_cache_may_keep_nothing(struct fixture *fx)
{
	CUlaunchAttributeValue value = {.accessPolicyWindow = {.hitRatio = 1}};
	struct gkf_profile two[2] = {gkf_profile_default, gkf_profile_default};
	const CUlaunchAttributeID window =
	    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
	CUcontext ctx;

	two[1].compute_major = 7;
	two[1].compute_minor = 5;
	remake(fx, two, 2);
	setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
	init();
	assert_int_equal(GET(1, MAX_PERSISTING_L2_CACHE_SIZE), 0);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 1), SUCCESS);
	assert_cuda(CU(cuCtxResetPersistingL2Cache)(), ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), SUCCESS);
	assert_cuda(CU(cuCtxResetPersistingL2Cache)(), SUCCESS);
	value.accessPolicyWindow.num_bytes =
	    (size_t)GET(0, MAX_ACCESS_POLICY_WINDOW_SIZE);
	assert_cuda(CU(cuStreamSetAttribute)(NULL, window, &value), SUCCESS);
	value.accessPolicyWindow.num_bytes++;
	assert_cuda(CU(cuStreamSetAttribute)(NULL, window, &value),
		    ERROR_INVALID_VALUE);
}

static void properties_are_attributes(struct fixture *fx)
{
	CUdevprop prop;

	(void)fx;
	init();
	assert_cuda(CU(cuDeviceGetProperties)(&prop, 0), SUCCESS);
	assert_int_equal(prop.maxThreadsPerBlock, 1024);
	assert_int_equal(prop.maxThreadsDim[2], 64);
	assert_int_equal(prop.maxGridSize[1], 65535);
	assert_int_equal(prop.SIMDWidth, 32);
	assert_int_equal(prop.clockRate, GET(0, CLOCK_RATE));
}

static void what_is_not_there_says_so(struct fixture *fx)
{
	char luid[8];
	unsigned mask;
	size_t width;
	int value = -1;

	(void)fx;
	init();
	assert_cuda(CU(cuDeviceGetLuid)(luid, &mask, 0), ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuDeviceGetExecAffinitySupport)(
			&value, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0),
		    SUCCESS);
	assert_int_equal(value, 0);
	assert_cuda(CU(cuDeviceGetTexture1DLinearMaxWidth)(
			&width, CU_AD_FORMAT_FLOAT, 4, 0),
		    SUCCESS);
	assert_int_equal(width, 1 << 28);
	assert_cuda(CU(cuDeviceGetTexture1DLinearMaxWidth)(
			&width, CU_AD_FORMAT_FLOAT, 3, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuDeviceGet)(&value, 2), ERROR_INVALID_DEVICE);
	assert_cuda(CU(cuDeviceGet)(&value, -1), ERROR_INVALID_DEVICE);
}

/* ---- which devices ---- */

/* The machine's index of a device, from its bus. */
static int index_of(CUdevice device)
{
	return (GET(device, PCI_BUS_ID) - 7) / 8;
}

/* CUDA_VISIBLE_DEVICES, where $0 to $3 stand for the UUIDs of the GPUs. */
static void set_visible(struct fixture *fx, const char *value)
{
	char text[256] = "";
	size_t n = 0;

	for (; *value; value++) {
		if (*value == '$')
			n += (size_t)snprintf(
			    text + n, sizeof(text) - n, "%s",
			    gkf_board(fx->m, (unsigned)(*++value - '0'))->uuid);
		else if (*value == '~') /* cut the UUID before it to a prefix */
			text[n -= 20] = '\0';
		else
			text[n++] = *value;
	}
	setenv("CUDA_VISIBLE_DEVICES", text, 1);
}

/* Each row runs in a child of its own; it sees these indices, "" is none. */
static void devices_are_visible_as_cuda_reads_them(struct fixture *fx)
{
	static const struct {
		const char *value, *sees;
	} rows[] = {
	    {"2,0", "20"},   {"3", "3"},        {"1,2,9,0", "12"},
	    {"-1", ""},      {"", ""},          {"0,-1,1", "0"},
	    {"1,1", ""},     {" 1 , 3 ", "13"}, {"$2", "2"},
	    {"$3,$1", "31"}, {"$1~", "1"},      {"$2,0", "2"},
	    {"GPU-", ""},    {"nonsense", ""},  {"0,nonsense", "0"},
	    {"MIG-$1", ""},
	};

	struct gkf_profile four[4];

	for (int i = 0; i < 4; i++)
		four[i] = gkf_profile_default;
	remake(fx, four, 4);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int status = -1;
		pid_t child;

		set_visible(fx, rows[i].value);
		child = fork();
		if (!child) {
			char sees[8] = "";

			if (CU(cuInit)(0) == CUDA_SUCCESS)
				for (int k = 0; k < seen(); k++)
					sees[k] = (char)('0' + index_of(k));
			_exit(strcmp(sees, rows[i].sees) != 0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (status)
			fail_msg("'%s' does not show '%s'", rows[i].value,
				 rows[i].sees);
	}
	unsetenv("CUDA_VISIBLE_DEVICES");
}

static void none_is_an_error_that_may_pass(struct fixture *fx)
{
	int count;

	(void)fx;
	setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
	assert_cuda(CU(cuInit)(0), ERROR_NO_DEVICE);
	assert_cuda(CU(cuInit)(0), ERROR_NO_DEVICE);
	assert_cuda(CU(cuDeviceGetCount)(&count), ERROR_NOT_INITIALIZED);
	unsetenv("CUDA_VISIBLE_DEVICES");
	init();
	assert_int_equal(seen(), 2);
}

/* The newest with the highest clock is 0, unless bus order is requested. */
static void the_fastest_comes_first(struct fixture *fx)
{
	struct gkf_profile profiles[3] = {
	    gkf_profile_default, gkf_profile_default, gkf_profile_default};

	profiles[1].sm_clock_max_mhz = 1300;
	profiles[2].compute_major = 9;
	remake(fx, profiles, 3);
	init();
	assert_int_equal(index_of(0), 2);
	assert_int_equal(index_of(1), 0);
	assert_int_equal(index_of(2), 1);
}

static void gpus_that_are_gone_are_not_seen(struct fixture *fx)
{
	struct gkf_profile four[4];

	for (int i = 0; i < 4; i++)
		four[i] = gkf_profile_default;
	remake(fx, four, 4);
	assert_int_equal(gkf_fault_begin(fx->m, 0, GKF_FAULT_FALLEN, 0), 0);
	assert_int_equal(gkf_fault_begin(fx->m, 1, GKF_FAULT_LOST, 0), 0);
	fx->file->device[2].set[GKF_V_REMOVED] = 1;
	init();
	assert_int_equal(seen(), 1);
	assert_int_equal(index_of(0), 3);
}

static void a_drained_gpu_takes_no_context(struct fixture *fx)
{
	CUcontext ctx;

	fx->file->device[0].set[GKF_V_DRAIN] = 1;
	init();
	assert_int_equal(seen(), 2);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), ERROR_DEVICE_UNAVAILABLE);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 1), SUCCESS);
}

/* ---- a split GPU ---- */

static void split(struct fixture *fx)
{
	struct gkf_profile profiles[2] = {gkf_profile_default,
					  gkf_profile_default};
	const char *part = "";

	profiles[0].mig = 1;
	remake(fx, profiles, 2);
	assert_int_equal(gkf_mig_layout(fx->m, 0, "3g.40gb+1g.10gb", &part), 0);
}

static void the_first_mig_device_is_all_that_is_seen(struct fixture *fx)
{
	char name[96], uuid[GKF_MIG_UUID_MAX];
	struct gkf_memory memory;
	struct gkf_mig_ci ci;
	CUuuid of_gpu, own;
	CUcontext ctx;
	size_t total;

	split(fx);
	init();
	assert_int_equal(seen(), 1);
	assert_cuda(CU(cuDeviceGetName)(name, sizeof(name), 0), SUCCESS);
	assert_string_equal(name, "NVIDIA A100-SXM4-80GB MIG 3g.40gb");
	assert_int_equal(gkf_mig_by_index(fx->m, 0, 0, &ci), 0);
	assert_int_equal(gkf_memory_gi(fx->m, 0, ci.gi, &memory), 0);
	assert_cuda(CU(cuDeviceTotalMem_v2)(&total, 0), SUCCESS);
	assert_int_equal(total, memory.total);
	assert_int_equal(GET(0, MULTIPROCESSOR_COUNT), 42);
	assert_int_equal(GET(0, L2_CACHE_SIZE), 40960 * 1024 / 2);
	assert_int_equal(GET(0, GLOBAL_MEMORY_BUS_WIDTH), 2560);
	assert_cuda(CU(cuDeviceGetUuid)(&of_gpu, 0), SUCCESS);
	assert_cuda(CU(cuDeviceGetUuid_v2)(&own, 0), SUCCESS);
	assert_memory_not_equal(&of_gpu, &own, sizeof(own));
	gkf_mig_uuid(fx->m, 0, &ci, uuid);
	assert_int_equal((unsigned char)own.bytes[0],
			 strtoul((char[]){uuid[4], uuid[5], 0}, NULL, 16));
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), SUCCESS);
	assert_int_equal(gkf_memory_gi(fx->m, 0, ci.gi, &memory), 0);
	assert_true(memory.used >
		    (uint64_t)gkf_profile_default.context_mib * MIB);
}

static void a_mig_device_by_its_uuid(struct fixture *fx)
{
	char name[96], uuid[GKF_MIG_UUID_MAX];
	struct gkf_mig_ci ci;
	CUcontext ctx;

	split(fx);
	assert_int_equal(gkf_mig_by_index(fx->m, 0, 1, &ci), 0);
	gkf_mig_uuid(fx->m, 0, &ci, uuid);
	setenv("CUDA_VISIBLE_DEVICES", uuid, 1);
	init();
	assert_int_equal(seen(), 1);
	assert_cuda(CU(cuDeviceGetName)(name, sizeof(name), 0), SUCCESS);
	assert_string_equal(name, "NVIDIA A100-SXM4-80GB MIG 1g.10gb");
	assert_int_equal(GET(0, MULTIPROCESSOR_COUNT), 14);
	assert_int_equal(
	    gkf_mig_ci_destroy(fx->m, 0, ci.gi, ci.id, GKF_MIG_ANY_LIFE), 0);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), ERROR_DEVICE_UNAVAILABLE);
}

/* ---- peers ---- */

static void peers_are_those_of_the_topology(struct fixture *fx)
{
	static const struct {
		CUdevice_P2PAttribute id;
		int linked, pcie;
	} rows[] = {
	    {CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0, 1},
	    {CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1, 1},
	    {CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 1, 0},
	    {CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED, 1, 1},
	};
	int linked = 1, value;

	init();
	for (int pass = 0; pass < 2; pass++, linked = 0) {
		assert_cuda(CU(cuDeviceCanAccessPeer)(&value, 0, 1), SUCCESS);
		assert_int_equal(value, 1);
		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
			assert_cuda(CU(cuDeviceGetP2PAttribute)(
					&value, rows[i].id, 0, 1),
				    SUCCESS);
			assert_int_equal(value, linked ? rows[i].linked
						       : rows[i].pcie);
		}
		assert_int_equal(gkf_fault_begin(fx->m, 0, GKF_FAULT_NVLINK, 0),
				 0);
		for (unsigned link = 1; link < 12; link++)
			assert_int_equal(
			    gkf_fault_begin(fx->m, 0, GKF_FAULT_NVLINK, link),
			    0);
	}
	assert_cuda(CU(cuDeviceCanAccessPeer)(&value, 0, 0), SUCCESS);
	assert_int_equal(value, 0);
	assert_cuda(CU(cuDeviceCanAccessPeer)(&value, 0, 2),
		    ERROR_INVALID_DEVICE);
	assert_cuda(CU(cuDeviceGetP2PAttribute)(&value, 2, 1, 1),
		    ERROR_INVALID_DEVICE);
	assert_cuda(CU(cuDeviceGetP2PAttribute)(&value, 99, 0, 1),
		    ERROR_INVALID_VALUE);
}

static void consumer_boards_are_no_peers(struct fixture *fx)
{
	struct gkf_profile two[2] = {gkf_profile_default, gkf_profile_default};
	CUcontext a, b;
	int value;

	for (int i = 0; i < 2; i++) {
		strcpy(two[i].brand, "GEFORCE");
		two[i].nvlinks = 0;
	}
	remake(fx, two, 2);
	init();
	assert_cuda(CU(cuDeviceCanAccessPeer)(&value, 0, 1), SUCCESS);
	assert_int_equal(value, 0);
	assert_cuda(CU(cuCtxCreate_v2)(&a, 0, 0), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&b, 0, 1), SUCCESS);
	assert_cuda(CU(cuCtxEnablePeerAccess)(a, 0),
		    ERROR_PEER_ACCESS_UNSUPPORTED);
}

static void peer_access_is_given_once(struct fixture *fx)
{
	CUcontext a, b;

	(void)fx;
	init();
	assert_cuda(CU(cuCtxCreate_v2)(&a, 0, 0), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&b, 0, 1), SUCCESS);
	assert_cuda(CU(cuCtxEnablePeerAccess)(b, 0), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuCtxEnablePeerAccess)(NULL, 0), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuCtxEnablePeerAccess)(a, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxDisablePeerAccess)(a),
		    ERROR_PEER_ACCESS_NOT_ENABLED);
	assert_cuda(CU(cuCtxEnablePeerAccess)(a, 0), SUCCESS);
	assert_cuda(CU(cuCtxEnablePeerAccess)(a, 0),
		    ERROR_PEER_ACCESS_ALREADY_ENABLED);
	assert_cuda(CU(cuCtxDisablePeerAccess)(a), SUCCESS);
	assert_cuda(CU(cuCtxDisablePeerAccess)(a),
		    ERROR_PEER_ACCESS_NOT_ENABLED);
	assert_cuda(CU(cuCtxEnablePeerAccess)(a, 0), SUCCESS);
	assert_cuda(CU(cuCtxDestroy_v2)(a), SUCCESS);
	assert_cuda(CU(cuCtxEnablePeerAccess)(a, 0), ERROR_INVALID_CONTEXT);
}

static const struct alone tests[] = {
    ALONE(cuda_says_what_the_machine_says),
    ALONE(a_uuid_is_that_of_the_board),
    ALONE(a_bus_id_leads_back),
    ALONE(all_attributes_answer),
    ALONE(attributes_follow_model_and_architecture),
    ALONE(settings_are_those_of_now),
    ALONE(rates_are_those_of_device_queries),
    ALONE(a_level_2_cache_may_keep_nothing),
    ALONE(properties_are_attributes),
    ALONE(what_is_not_there_says_so),
    ALONE(devices_are_visible_as_cuda_reads_them),
    ALONE(none_is_an_error_that_may_pass),
    ALONE(the_fastest_comes_first),
    ALONE(gpus_that_are_gone_are_not_seen),
    ALONE(a_drained_gpu_takes_no_context),
    ALONE(the_first_mig_device_is_all_that_is_seen),
    ALONE(a_mig_device_by_its_uuid),
    ALONE(peers_are_those_of_the_topology),
    ALONE(consumer_boards_are_no_peers),
    ALONE(peer_access_is_given_once),
};

ALONE_MAIN(tests)
