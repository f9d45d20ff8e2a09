/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_fault.c - decides which CUDA calls a fault affects; see cuda_fault.h. */
#include "machine/trouble/cuda_fault.h"
#include "abi/cuda/cuda_abi.h"
#include "machine/file/device.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/store/view.h"
#include "machine/trouble/fault.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a. */
uint32_t gkf_cuda_fault_hash(const char *name, unsigned length)
{
	uint32_t hash = 2166136261u;

	for (unsigned i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return hash ? hash : 1;
}

/* In "_ZN5outer5innerEi" each identifier follows its length. */
static bool has_identifier(const char *name, uint32_t hash)
{
	if (strncmp(name, "_Z", 2) != 0)
		return false;
	for (const char *at = name + 2; *at;) {
		char *end;
		unsigned long length;

		if (*at < '1' || *at > '9') {
			at++;
			continue;
		}
		length = strtoul(at, &end, 10);
		if (length > strlen(end))
			return false;
		if (gkf_cuda_fault_hash(end, (unsigned)length) == hash)
			return true;
		at = end + length;
	}
	return false;
}

static bool is_meant(const char *name, uint32_t hash)
{
	return !hash ||
	       gkf_cuda_fault_hash(name, (unsigned)strlen(name)) == hash ||
	       has_identifier(name, hash);
}

/* Counts a call to which a fault applies; returns whether the call fails. */
static bool strikes_call(struct gkf_machine *m, unsigned device,
			 enum gkf_fault fault, uint64_t after)
{
	struct gkf_fault_state *s = &m->file->device[device].fault;

	if (atomic_fetch_add(&s->seen[fault], 1) < after)
		return false;
	atomic_fetch_add(&s->hits[fault], 1);
	return true;
}

unsigned gkf_cuda_fault_launch(struct gkf_machine *m, unsigned device,
			       const char *name)
{
	uint64_t argument = gkf_fault_argument(m, device, GKF_FAULT_LAUNCH);

	if (!argument || !is_meant(name, GKF_CUDA_FAULT_NAME(argument)) ||
	    !strikes_call(m, device, GKF_FAULT_LAUNCH,
			  GKF_CUDA_FAULT_AFTER(argument)))
		return 0;
	return GKF_CUDA_FAULT_RESULT(argument);
}

bool gkf_cuda_fault_allocation(struct gkf_machine *m, unsigned device)
{
	return gkf_fault_active(m, device, GKF_FAULT_OOM) &&
	       strikes_call(m, device, GKF_FAULT_OOM,
			    gkf_fault_argument(m, device, GKF_FAULT_OOM));
}

uint64_t gkf_cuda_fault_slowness(struct gkf_machine *m, unsigned device)
{
	return gkf_fault_active(m, device, GKF_FAULT_SLOW_COPIES)
		   ? gkf_fault_argument(m, device, GKF_FAULT_SLOW_COPIES)
		   : 1;
}

/* If the instance does not exist, sends the Xid for the whole GPU. */
void gkf_cuda_fault_tell(struct gkf_machine *m, unsigned device,
			 uint32_t instance, unsigned result)
{
	unsigned xid = gkf_cuda_fault_xid(result);

	if (xid)
		gkf_xid_tell(m, device, xid, instance);
}
