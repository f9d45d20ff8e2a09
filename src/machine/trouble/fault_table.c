/* SPDX-License-Identifier: Apache-2.0 */
/* fault_table.c - the tables of fault.def and abi/nvml/xid.def, and look-ups.
 */
#include "abi/nvml/nvml_abi.h"
#include "machine/file/fault_kinds.h"
#include "machine/trouble/cuda_fault.h"
#include "machine/trouble/fault.h"

#include <string.h>

#define BY_RESET true
#define BY_CLEAR false
const struct gkf_fault_info gkf_faults[GKF_FAULT_COUNT] = {
#define FAULT(id, name_, argument_, least_, most_, usual_, answer, lookup,     \
	      mended, xid_, events_, recovery_, help_)                         \
	[GKF_FAULT_##id] = {                                                   \
	    .name = name_,                                                     \
	    .help = help_,                                                     \
	    .argument = GKF_ARGUMENT_##argument_,                              \
	    .least = least_,                                                   \
	    .most = most_,                                                     \
	    .usual = usual_,                                                   \
	    .mended_by_reset = mended,                                         \
	    .xid = xid_,                                                       \
	    .events = (events_),                                               \
	    .recovery = NVML_GPU_RECOVERY_ACTION_##recovery_,                  \
	},
#include "machine/file/fault.def"
#undef FAULT
};
#undef BY_RESET
#undef BY_CLEAR

const struct gkf_machine_fault_info
    gkf_machine_faults[GKF_MACHINE_FAULT_COUNT] = {
#define MACHINE_FAULT(id, name_, when, answer, help_)                          \
	[GKF_MACHINE_FAULT_##id] = {.name = name_, .help = help_},
#include "machine/file/fault.def"
#undef MACHINE_FAULT
};

#define GKF_FAULT_NONE (-1)
const struct gkf_xid_info gkf_xids[] = {
#define XID(number_, becomes_, events_, name_)                                 \
	{.number = (number_),                                                  \
	 .name = name_,                                                        \
	 .becomes = GKF_FAULT_##becomes_,                                      \
	 .events = (events_)},
#include "abi/nvml/xid.def"
#undef XID
};
#undef GKF_FAULT_NONE

#define XIDS (sizeof gkf_xids / sizeof *gkf_xids)
const unsigned gkf_xid_count = XIDS;

int gkf_fault_by_name(const char *name)
{
	for (int i = 0; i < GKF_FAULT_COUNT; i++)
		if (!strcmp(gkf_faults[i].name, name))
			return i;
	return -1;
}

int gkf_machine_fault_by_name(const char *name)
{
	for (int i = 0; i < GKF_MACHINE_FAULT_COUNT; i++)
		if (!strcmp(gkf_machine_faults[i].name, name))
			return i;
	return -1;
}

bool gkf_fault_takes(const struct gkf_fault_info *info, uint64_t argument)
{
	const uint64_t width = argument & 0xff;

	if (argument < info->least || argument > info->most)
		return false;
	if (info->argument == GKF_ARGUMENT_ERROR)
		return gkf_cuda_fault_word(GKF_CUDA_FAULT_RESULT(argument));
	return info->argument != GKF_ARGUMENT_PCIE ||
	       (width >= (info->least & 0xff) && width <= (info->most & 0xff));
}

const struct gkf_xid_info *gkf_xid_find(unsigned number)
{
	for (unsigned i = 0; i < XIDS; i++)
		if (gkf_xids[i].number == number)
			return &gkf_xids[i];
	return NULL;
}
