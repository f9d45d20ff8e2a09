/*
 * nvml.h - the driver library, loaded at run time.
 *
 * A function that an older or newer driver lacks is a NULL pointer here and
 * an absent metric above. All pointers are typed by the prototypes of src/abi;
 * nothing is linked against them.
 */
#ifndef GK_CORE_NVML_H
#define GK_CORE_NVML_H

#include <gpukit/gpukit.h>

#include "abi/nvml_abi.h"
#include "base/trace.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * X(need, symbol): REQ functions are in every driver that can be used; MORE
 * ones are looked up by gk_nvml_more() only.
 */
#define GK_NVML_USED(X)                                                        \
	X(REQ, nvmlInit_v2)                                                    \
	X(REQ, nvmlShutdown)                                                   \
	X(REQ, nvmlDeviceGetCount_v2)                                          \
	X(REQ, nvmlDeviceGetHandleByIndex_v2)                                  \
	X(OPT, nvmlSystemGetDriverVersion)                                     \
	X(OPT, nvmlSystemGetNVMLVersion)                                       \
	X(OPT, nvmlSystemGetCudaDriverVersion_v2)                              \
	X(OPT, nvmlSystemGetCudaDriverVersion)                                 \
	X(OPT, nvmlDeviceGetName)                                              \
	X(OPT, nvmlDeviceGetUUID)                                              \
	X(OPT, nvmlDeviceGetSerial)                                            \
	X(OPT, nvmlDeviceGetVbiosVersion)                                      \
	X(OPT, nvmlDeviceGetPciInfo_v3)                                        \
	X(OPT, nvmlDeviceGetMinorNumber)                                       \
	X(OPT, nvmlDeviceGetCudaComputeCapability)                             \
	X(OPT, nvmlDeviceGetMigMode)                                           \
	X(OPT, nvmlDeviceGetMaxMigDeviceCount)                                 \
	X(OPT, nvmlDeviceGetMigDeviceHandleByIndex)                            \
	X(OPT, nvmlDeviceGetGpuInstanceId)                                     \
	X(OPT, nvmlDeviceGetComputeInstanceId)                                 \
	X(OPT, nvmlDeviceGetUtilizationRates)                                  \
	X(OPT, nvmlDeviceGetEncoderUtilization)                                \
	X(OPT, nvmlDeviceGetDecoderUtilization)                                \
	X(OPT, nvmlDeviceGetJpgUtilization)                                    \
	X(OPT, nvmlDeviceGetOfaUtilization)                                    \
	X(OPT, nvmlDeviceGetRemappedRows)                                      \
	X(OPT, nvmlDeviceGetFieldValues)                                       \
	X(OPT, nvmlDeviceGetMemoryInfo_v2)                                     \
	X(OPT, nvmlDeviceGetMemoryInfo)                                        \
	X(OPT, nvmlDeviceGetPowerUsage)                                        \
	X(OPT, nvmlDeviceGetTemperatureV)                                      \
	X(OPT, nvmlDeviceGetTemperature)                                       \
	X(OPT, nvmlDeviceGetTemperatureThreshold)                              \
	X(OPT, nvmlDeviceGetClockInfo)                                         \
	X(OPT, nvmlDeviceGetMaxClockInfo)                                      \
	X(OPT, nvmlDeviceGetFanSpeed)                                          \
	X(OPT, nvmlDeviceGetPerformanceState)                                  \
	X(OPT, nvmlDeviceGetCurrentClocksEventReasons)                         \
	X(OPT, nvmlDeviceGetCurrentClocksThrottleReasons)                      \
	X(OPT, nvmlDeviceGetTotalEnergyConsumption)                            \
	X(OPT, nvmlDeviceGetPowerManagementLimit)                              \
	X(OPT, nvmlDeviceGetEnforcedPowerLimit)                                \
	X(OPT, nvmlDeviceGetPowerManagementDefaultLimit)                       \
	X(OPT, nvmlDeviceGetPowerManagementLimitConstraints)                   \
	X(OPT, nvmlDeviceGetPersistenceMode)                                   \
	X(OPT, nvmlDeviceGetDisplayActive)                                     \
	X(OPT, nvmlDeviceGetDisplayMode)                                       \
	X(OPT, nvmlDeviceGetComputeMode)                                       \
	X(OPT, nvmlDeviceGetEccMode)                                           \
	X(OPT, nvmlDeviceGetTotalEccErrors)                                    \
	X(OPT, nvmlDeviceGetCurrPcieLinkGeneration)                            \
	X(OPT, nvmlDeviceGetMaxPcieLinkGeneration)                             \
	X(OPT, nvmlDeviceGetCurrPcieLinkWidth)                                 \
	X(OPT, nvmlDeviceGetMaxPcieLinkWidth)                                  \
	X(OPT, nvmlDeviceGetBAR1MemoryInfo)                                    \
	X(OPT, nvmlDeviceGetPcieThroughput)                                    \
	X(OPT, nvmlDeviceGetComputeRunningProcesses_v3)                        \
	X(OPT, nvmlDeviceGetComputeRunningProcesses_v2)                        \
	X(OPT, nvmlDeviceGetComputeRunningProcesses)                           \
	X(OPT, nvmlDeviceGetGraphicsRunningProcesses_v3)                       \
	X(OPT, nvmlDeviceGetGraphicsRunningProcesses_v2)                       \
	X(OPT, nvmlDeviceGetGraphicsRunningProcesses)                          \
	X(OPT, nvmlDeviceGetMPSComputeRunningProcesses_v3)                     \
	X(OPT, nvmlDeviceGetMPSComputeRunningProcesses_v2)                     \
	X(OPT, nvmlDeviceGetMPSComputeRunningProcesses)                        \
	X(OPT, nvmlDeviceGetProcessUtilization)                                \
	X(OPT, nvmlDeviceGetConfComputeMemSizeInfo)                            \
	X(OPT, nvmlDeviceGetRunningProcessDetailList)                          \
	X(MORE, nvmlDeviceGetSupportedClocksEventReasons)                      \
	X(MORE, nvmlDeviceGetSupportedClocksThrottleReasons)                   \
	X(MORE, nvmlDeviceGetMarginTemperature)                                \
	X(MORE, nvmlDeviceGetApplicationsClock)                                \
	X(MORE, nvmlDeviceGetDefaultApplicationsClock)                         \
	X(MORE, nvmlDeviceGetDefaultEccMode)                                   \
	X(MORE, nvmlDeviceGetMemoryErrorCounter)                               \
	X(MORE, nvmlDeviceGetAccountingMode)                                   \
	X(MORE, nvmlDeviceGetAccountingBufferSize)                             \
	X(MORE, nvmlDeviceGetGpuMaxPcieLinkGeneration)                         \
	X(MORE, nvmlDeviceGetNumaNodeId)                                       \
	X(MORE, nvmlDeviceGetMemoryBusWidth)                                   \
	X(MORE, nvmlDeviceGetNumGpuCores)                                      \
	X(MORE, nvmlDeviceGetMultiGpuBoard)                                    \
	X(MORE, nvmlDeviceGetBoardId)                                          \
	X(MORE, nvmlDeviceGetModuleId)                                         \
	X(MORE, nvmlDeviceGetGspFirmwareMode)                                  \
	X(MORE, nvmlDeviceGetGspFirmwareVersion)                               \
	X(MORE, nvmlDeviceGetAddressingMode)                                   \
	X(MORE, nvmlDeviceGetEncoderStats)                                     \
	X(MORE, nvmlDeviceGetFBCStats)                                         \
	X(MORE, nvmlDeviceGetRowRemapperHistogram)                             \
	X(MORE, nvmlDeviceGetRepairStatus)                                     \
	X(MORE, nvmlDeviceGetBrand)                                            \
	X(MORE, nvmlDeviceGetArchitecture)                                     \
	X(MORE, nvmlDeviceGetBoardPartNumber)                                  \
	X(MORE, nvmlDeviceGetInforomImageVersion)                              \
	X(MORE, nvmlDeviceGetInforomVersion)                                   \
	X(MORE, nvmlDeviceGetNvLinkState)                                      \
	X(MORE, nvmlDeviceGetNvLinkVersion)                                    \
	X(MORE, nvmlDeviceGetNvLinkRemotePciInfo_v2)                           \
	X(MORE, nvmlDeviceGetNvLinkRemoteDeviceType)                           \
	X(MORE, nvmlDeviceGetNvLinkErrorCounter)                               \
	X(MORE, nvmlDeviceGetTopologyCommonAncestor)                           \
	X(MORE, nvmlDeviceGetCpuAffinity)                                      \
	X(MORE, nvmlDeviceGetMemoryAffinity)                                   \
	X(MORE, nvmlDeviceGetIndex)                                            \
	X(MORE, nvmlDeviceRegisterEvents)                                      \
	X(MORE, nvmlDeviceGetSupportedEventTypes)                              \
	X(MORE, nvmlEventSetCreate)                                            \
	X(MORE, nvmlEventSetFree)                                              \
	X(MORE, nvmlEventSetWait_v2)                                           \
	X(MORE, nvmlDeviceGetPciInfoExt)                                       \
	X(MORE, nvmlDeviceGetPdi)                                              \
	X(MORE, nvmlDeviceGetCapabilities)                                     \
	X(MORE, nvmlDeviceGetC2cModeInfoV)                                     \
	X(MORE, nvmlDeviceGetDramEncryptionMode)                               \
	X(MORE, nvmlDeviceGetConfComputeProtectedMemoryUsage)                  \
	X(MORE, nvmlDeviceGetGpuFabricInfoV)                                   \
	X(MORE, nvmlDeviceGetPlatformInfo)                                     \
	X(MORE, nvmlDeviceGetUnrepairableMemoryFlag_v1)                        \
	X(MORE, nvmlDeviceGetSramEccErrorStatus)                               \
	X(MORE, nvmlDeviceGetAttributes_v2)                                    \
	X(MORE, nvmlDeviceGetDeviceHandleFromMigDeviceHandle)                  \
	X(MORE, nvmlDeviceGetGpuInstanceById)                                  \
	X(MORE, nvmlDeviceGetMaxCustomerBoostClock)                            \
	X(MORE, nvmlDeviceGetVirtualizationMode)                               \
	X(MORE, nvmlDeviceGetHostname_v1)                                      \
	X(MORE, nvmlDeviceGetAccountingPids)                                   \
	X(MORE, nvmlDeviceGetAccountingStats)                                  \
	X(MORE, nvmlDeviceGetRetiredPages_v2)                                  \
	X(MORE, nvmlDeviceGetSamples)                                          \
	X(MORE, nvmlDeviceGetSupportedMemoryClocks)                            \
	X(MORE, nvmlDeviceGetSupportedGraphicsClocks)                          \
	X(MORE, nvmlDeviceValidateInforom)                                     \
	X(MORE, nvmlDeviceIsMigDeviceHandle)                                   \
	X(MORE, nvmlGpuInstanceGetInfo)                                        \
	X(MORE, nvmlGpuInstanceGetComputeInstanceById)                         \
	X(MORE, nvmlComputeInstanceGetInfo_v2)                                 \
	X(MORE, nvmlEventSetWait)

struct gk_nvml {
	void *library;
	char driver_version[GK_NAME_MAX]; /* empty if unknown */
	char nvml_version[GK_NAME_MAX];
	int cuda_version;        /* 13000 = 13.0, 0 if unknown */
	atomic_bool more;        /* gk_nvml_more() has looked them up */
	pthread_mutex_t looking; /* held while it does */
	atomic_uint uses;
#define X(need, symbol) __typeof__(&symbol) symbol;
	GK_NVML_USED(X)
#undef X
};

enum gk_nvml_need { GK_NVML_REQ, GK_NVML_OPT, GK_NVML_MORE };

/* A function of GK_NVML_USED. */
struct gk_nvml_symbol {
	const char *name;
	size_t offset; /* in struct gk_nvml */
	enum gk_nvml_need need;
};

#define X(need, symbol) +1
enum { GK_NVML_SYMBOLS = GK_NVML_USED(X) };
#undef X

extern const struct gk_nvml_symbol gk_nvml_symbols[GK_NVML_SYMBOLS];

/*
 * Calls a function of the driver library within a span of its name; a missing
 * one answers NVML_ERROR_FUNCTION_NOT_FOUND.
 */
#define GK_NVML_CALL(nvml, function, ...)                                      \
	__extension__({                                                        \
		nvmlReturn_t r_ = NVML_ERROR_FUNCTION_NOT_FOUND;               \
		struct gk_span span_;                                          \
                                                                               \
		if ((nvml)->function) {                                        \
			gk_span_begin(&span_, #function);                      \
			r_ = (nvml)->function(__VA_ARGS__);                    \
			gk_span_end(&span_);                                   \
		}                                                              \
		r_;                                                            \
	})

/*
 * Loads and starts the driver library; path NULL: libnvidia-ml.so.1 where the
 * dynamic loader or WSL has it. GK_ERR_NO_DRIVER: no library. GK_ERR_DRIVER:
 * it refuses, *ret_nvml_error (not NULL) says how; a library without a
 * required function counts as NVML_ERROR_FUNCTION_NOT_FOUND.
 */
int gk_nvml_open(const char *path, int *ret_nvml_error,
		 struct gk_nvml **ret_nvml);

/*
 * Looks up the functions of details, links, topology and events. Before the
 * first use of one; more calls do nothing. Any thread may.
 */
void gk_nvml_more(struct gk_nvml *nvml);

/* One more user, who ends the use by gk_nvml_close(). */
struct gk_nvml *gk_nvml_ref(struct gk_nvml *nvml);

/*
 * Ends a use; the last one shuts the driver library down. The library stays
 * mapped: drivers leave threads and handlers behind that run its code. No
 * other thread may then be inside it.
 */
void gk_nvml_close(struct gk_nvml *nvml);

/* Why a value is absent after this answer; GK_PRESENT for success. */
enum gk_absence gk_nvml_absence(nvmlReturn_t answer);

/* The answer means that the whole GPU is gone or needs a reset. */
bool gk_nvml_is_lost(nvmlReturn_t answer);

#endif
