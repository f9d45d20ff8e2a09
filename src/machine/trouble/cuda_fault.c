/* cuda_fault.c - faults that befall programs of CUDA; see cuda_fault.h. */
#include "machine/trouble/cuda_fault.h"
#include "abi/cuda_abi.h"
#include "machine/file/device.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/store/view.h"
#include "machine/trouble/fault.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	unsigned result;
	const char *word;
	unsigned xid;
} rows[] = {
#define CUDA_FAULT(result, word, xid) {CUDA_ERROR_##result, word, xid},
#include "abi/cuda_fault.def"
#undef CUDA_FAULT
};
#define ROWS (sizeof rows / sizeof *rows)

const char *gkf_cuda_fault_word(unsigned result)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].result == result)
			return rows[i].word;
	return NULL;
}

unsigned gkf_cuda_fault_find(const char *word, unsigned length)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strlen(rows[i].word) == length &&
		    !memcmp(rows[i].word, word, length))
			return rows[i].result;
	return 0;
}

unsigned gkf_cuda_fault_xid(unsigned result)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].result == result)
			return rows[i].xid;
	return 0;
}

/* FNV-1a. */
uint32_t gkf_cuda_fault_hash(const char *name, unsigned length)
{
	uint32_t hash = 2166136261u;

	for (unsigned i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return hash ? hash : 1;
}

/* "_ZN5outer5innerEi": identifiers stand behind their lengths. */
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

/* Counts a call that a fault looks at; does it fail? */
static bool strikes(struct gkf_machine *m, unsigned device,
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
	    !strikes(m, device, GKF_FAULT_LAUNCH,
		     GKF_CUDA_FAULT_AFTER(argument)))
		return 0;
	return GKF_CUDA_FAULT_RESULT(argument);
}

bool gkf_cuda_fault_allocation(struct gkf_machine *m, unsigned device)
{
	return gkf_fault_active(m, device, GKF_FAULT_OOM) &&
	       strikes(m, device, GKF_FAULT_OOM,
		       gkf_fault_argument(m, device, GKF_FAULT_OOM));
}

uint64_t gkf_cuda_fault_slowness(struct gkf_machine *m, unsigned device)
{
	return gkf_fault_active(m, device, GKF_FAULT_SLOW_COPIES)
		   ? gkf_fault_argument(m, device, GKF_FAULT_SLOW_COPIES)
		   : 1;
}

/* Of an instance that is gone, or that nobody could name, the GPU is told. */
void gkf_cuda_fault_tell(struct gkf_machine *m, unsigned device,
			 uint32_t instance, unsigned result)
{
	unsigned xid = gkf_cuda_fault_xid(result);

	if (xid)
		gkf_xid_tell(m, device, xid, instance);
}
