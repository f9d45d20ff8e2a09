/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - the description of a GPU model, which never changes while a
 * made-up machine runs. It is plain data of fixed size and is copied into the
 * machine file. Names end in the unit; -1: the model has no such thing.
 */
#ifndef GKF_PROFILE_H
#define GKF_PROFILE_H

#include "machine/file/numbers.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * FIELD(member, "yaml-key", min, max, "help") for every integer of a profile.
 * Its strings are listed only in struct gkf_profile.
 */
/* clang-format off */
#define GKF_PROFILE_INTEGERS(FIELD)                                           \
	FIELD(memory_mib, "memory_mib", 16, 4194304,                          \
	      "memory installed, as NVML's total")                            \
	FIELD(reserved_mib, "reserved_mib", 0, 65536,                         \
	      "kept by driver and firmware")                                  \
	FIELD(context_mib, "context_mib", 0, 4096,                            \
	      "overhead of one CUDA context")                                 \
	FIELD(own_memory, "own_memory", 0, 1,                                 \
	      "0: its memory is the host's, and NVML does not tell it")       \
	FIELD(bar1_mib, "bar1_mib", 0, 4194304, "BAR1 aperture; 0: none")     \
	FIELD(bus_width_bits, "memory_bus_bits", 32, 16384,                   \
	      "memory bus width")                                             \
	FIELD(compute_major, "compute_major", 1, 99, "compute capability")    \
	FIELD(compute_minor, "compute_minor", 0, 99, "compute capability")    \
	FIELD(sm_count, "sm_count", 1, 1024, "streaming multiprocessors")     \
	FIELD(cuda_cores, "cuda_cores", 1, 100000, "CUDA cores of the board") \
	FIELD(l2_kib, "l2_cache_kib", 0, 16777216, "level 2 cache")           \
	FIELD(pci_device_id, "pci_device_id", 0, 0xffffffff,                  \
	      "device id << 16 | vendor id")                                  \
	FIELD(pci_subsystem_id, "pci_subsystem_id", 0, 0xffffffff,            \
	      "subsystem id << 16 | vendor id")                               \
	FIELD(pcie_gen, "pcie_generation", 0, 6,                              \
	      "highest PCIe generation; 0: not known")                        \
	FIELD(pcie_width, "pcie_width", 0, 16, "PCIe lanes; 0: not known")    \
	FIELD(sm_clock_idle_mhz, "sm_clock_idle_mhz", 1, 10000,               \
	      "SM clock at rest")                                             \
	FIELD(sm_clock_max_mhz, "sm_clock_max_mhz", 1, 10000,                 \
	      "highest SM clock")                                             \
	FIELD(sm_clock_busy_mhz, "sm_clock_busy_mhz", 1, 10000,               \
	      "SM clock at load with nothing in its way")                     \
	FIELD(mem_clock_idle_mhz, "memory_clock_idle_mhz", 1, 20000,          \
	      "memory clock at rest")                                         \
	FIELD(mem_clock_max_mhz, "memory_clock_max_mhz", 1, 20000,            \
	      "highest memory clock")                                         \
	FIELD(mem_clock_busy_mhz, "memory_clock_busy_mhz", 1, 20000,          \
	      "memory clock while computing")                                 \
	FIELD(video_clock_idle_mhz, "video_clock_idle_mhz", 1, 10000,         \
	      "video clock at rest")                                          \
	FIELD(video_clock_max_mhz, "video_clock_max_mhz", 1, 10000,           \
	      "highest video clock")                                          \
	FIELD(pstate_idle, "pstate_idle", 0, 15, "P-state at rest")           \
	FIELD(pstate_busy, "pstate_busy", 0, 15, "P-state while computing")   \
	FIELD(power_idle_mw, "power_idle_mw", 1, 2000000, "power at rest")    \
	FIELD(power_busy_mw, "power_busy_mw", 1, 2000000,                     \
	      "power with all of it at work, before the limit")               \
	FIELD(mem_power_idle_mw, "memory_power_idle_mw", -1, 2000000,         \
	      "memory's part of power at rest; -1: not measured")             \
	FIELD(power_limit_mw, "power_limit_mw", 0, 2000000,                   \
	      "default power limit; 0: none")                                 \
	FIELD(power_min_mw, "power_min_mw", 0, 2000000,                       \
	      "lowest limit; 0: not known")                                   \
	FIELD(power_max_mw, "power_max_mw", 0, 2000000,                       \
	      "highest limit; 0: not known")                                  \
	FIELD(temp_idle_c, "temperature_idle_c", 0, 150,                      \
	      "core temperature at rest")                                     \
	FIELD(temp_busy_c, "temperature_busy_c", 0, 150,                      \
	      "core temperature settled at full load")                        \
	FIELD(temp_tau_s, "temperature_tau_s", 1, 3600,                       \
	      "time constant of the heat sink")                               \
	FIELD(temp_slowdown_c, "temperature_slowdown_c", -1, 150,             \
	      "clocks slow down here; -1: not known")                         \
	FIELD(temp_shutdown_c, "temperature_shutdown_c", -1, 150,             \
	      "board switches off here; -1: not known")                       \
	FIELD(temp_max_c, "temperature_max_operating_c", -1, 150,             \
	      "highest operating temperature; -1: not known")                 \
	FIELD(temp_target_c, "temperature_target_c", -1, 150,                 \
	      "software holds the core here; -1: at the highest")             \
	FIELD(mem_temp_max_c, "memory_temperature_max_c", -1, 150,            \
	      "highest memory temperature; -1: no sensor")                    \
	FIELD(mem_temp_idle_c, "memory_temperature_idle_c", -1, 150,          \
	      "memory temperature at rest; -1: no sensor")                    \
	FIELD(mem_temp_busy_c, "memory_temperature_busy_c", -1, 150,          \
	      "memory temperature settled at full load; -1: none")            \
	FIELD(fans, "fans", 0, 8, "fans on the board; 0: passive")            \
	FIELD(fan_min_percent, "fan_min_percent", 0, 100,                     \
	      "slowest the fans turn; 0: they stop when cool")                \
	FIELD(fan_max_rpm, "fan_max_rpm", 0, 50000,                           \
	      "fans at 100 %; 0: they do not turn")                           \
	FIELD(encoders, "encoders", 0, 16, "NVENC engines")                   \
	FIELD(decoders, "decoders", 0, 16, "NVDEC engines")                   \
	FIELD(jpegs, "jpeg_engines", 0, 16, "NVJPG engines")                  \
	FIELD(ofas, "optical_flow_engines", 0, 16, "OFA engines")             \
	FIELD(copy_engines, "copy_engines", 0, 32, "asynchronous copies")     \
	FIELD(ecc, "ecc", -1, 1, "ECC at start: 1 on, 0 off, -1 has none")    \
	FIELD(remap_banks, "row_remap_banks", -1, 8192,                       \
	      "memory banks with spare rows; -1: remaps none")               \
	FIELD(mig, "mig", -1, 1, "1 or 0: can be split; -1: cannot")          \
	FIELD(nvlinks, "nvlinks", 0, 64, "NVLink links")                      \
	FIELD(nvlink_version, "nvlink_version", 0, 9, "NVLink generation")    \
	FIELD(nvlink_mbps, "nvlink_mbps", 0, 1000000,                         \
	      "MB/s of an NVLink in one direction")                           \
	FIELD(sxm, "sxm", 0, 1, "1: a module on a baseboard; 0: a card")      \
	FIELD(addressing, "addressing_mode", 0, 2,                            \
	      "at start: 0 none, 1 HMM, 2 ATS")                               \
	FIELD(c2c, "c2c", -1, 1, "link to the host processor: 1 on, 0 off")   \
	FIELD(display_mode, "display_attached", 0, 1, "display connected")    \
	FIELD(persistence, "persistence", 0, 1, "persistence mode")           \
	FIELD(gsp, "gsp", -1, 1, "GSP firmware: 1 on, 0 off, -1 none")
/* clang-format on */

struct gkf_profile {
	char id[GKF_NAME_MAX];   /* file name without .yaml, lower case */
	char name[GKF_NAME_MAX]; /* name that NVML returns */
	char mark[16];           /* prefix of the name; empty by default */
	char brand[24];          /* nvmlBrandType_t's tail: "NVIDIA", "TESLA" */
	char architecture[24];   /* NVML_DEVICE_ARCH_'s tail: "AMPERE" */
	char vbios[24];
	char part_number[32];   /* board part number, empty: none */
	char inforom_image[24]; /* empty: none */
	/* Version of the infoROM's OEM object: "2.1"; empty: none. */
	char inforom_oem[8];
	char inforom_ecc[8];
	/* MIG layout, as gkf_mig_layout() takes it; empty: not split. */
	char mig_layout[96];
	int64_t cuda_clock_mhz; /* clock that CUDA reports; 0: the highest */
#define FIELD(member, key, min, max, help) int64_t member;
	GKF_PROFILE_INTEGERS(FIELD)
#undef FIELD
};

/*
 * Consumer boards have no part or serial number, no black box, no confidential
 * computing, and are peers over NVLink alone.
 */
static inline bool gkf_is_consumer(const struct gkf_profile *p)
{
	return !strncmp(p->brand, "GEFORCE", 7) ||
	       !strncmp(p->brand, "TITAN", 5);
}

/* The compiled-in default: equal to profiles/a100-sxm4-80gb.yaml. */
extern const struct gkf_profile gkf_profile_default;

#define GKF_DEFAULT_DEVICES 8

#endif
