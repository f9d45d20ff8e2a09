/*
 * export_table.c - cuGetExportTable: tables of functions by UUID. CUDA's own
 * are private to it and none of them is here; a row is one of ours, for the
 * libraries that come with this one.
 */
#include "base/log.h"
#include "device/space.h"
#include "fronts/common/export_table.h"
#include "fronts/cuda/host_work.h"
#include "fronts/cuda/module.h"
#include "machine/store/coverage.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

struct export_row {
	const char *uuid;  /* 16 bytes */
	const void *table; /* NULL: the end */
};

static const enum gkf_named kinds[GPUKIT_LIBRARIES] = {
    [GPUKIT_CUDART] = GKF_NAMED_RUNTIME,
    [GPUKIT_CUBLAS] = GKF_NAMED_CUBLAS,
    [GPUKIT_CUFFT] = GKF_NAMED_CUFFT,
    [GPUKIT_CURAND] = GKF_NAMED_CURAND,
    [GPUKIT_CUSPARSE] = GKF_NAMED_CUSPARSE,
    [GPUKIT_CUSOLVER] = GKF_NAMED_CUSOLVER,
    [GPUKIT_CUPTI] = GKF_NAMED_CUPTI,
    [GPUKIT_NCCL] = GKF_NAMED_NCCL,
    [GPUKIT_TORCH] = GKF_NAMED_TORCH,
};

/* A function of a library; it has seen that the driver is initialised. */
static void note_refusal(enum gpukit_library library, const char *symbol)
{
	gkf_refuse_named(cuda.machine, kinds[library], symbol);
	front_tell_refusal(symbol);
}

static const struct gpukit_table gpukit_table = {
    sizeof gpukit_table, note_refusal,  kernel_attach,  gkf_space_view,
    host_work_begin,     host_work_end, host_work_fail, host_work_watch};

static const struct export_row rows[] = {
    {GPUKIT_TABLE_UUID, &gpukit_table},
    {NULL, NULL},
};

/*
 * Once: the error that a program shows then says little of the reason. Others
 * than the runtime ask too, as NVRTC does, and work without.
 */
static void hint(const void *caller)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	Dl_info who = {0};

	if (gk_log_level() < GK_LOG_WARN || atomic_flag_test_and_set(&told))
		return;
	if (!dladdr(caller, &who) || !who.dli_fname)
		who.dli_fname = "a program";
	gk_log(GK_LOG_WARN,
	       "%s asks for a private table of NVIDIA's driver; NVIDIA's own "
	       "runtime does, and works with that driver only: if calls fail, "
	       "`gpukit fake doctor` says how to link it again",
	       who.dli_fname);
}

/*
 * NVIDIA's runtime hands the result to its caller as it stands, for every call
 * from then on: "CUDA driver is a stub library" is as near as it gets.
 */
CUresult cuGetExportTable(const void **ppExportTable,
			  const CUuuid *pExportTableId)
{
	const struct export_row *row = rows;

	if (!ppExportTable)
		return CUDA_ERROR_INVALID_VALUE;
	*ppExportTable = NULL;
	if (!pExportTableId)
		return CUDA_ERROR_INVALID_VALUE;
	while (row->table && memcmp(row->uuid, pExportTableId->bytes,
				    sizeof(pExportTableId->bytes)) != 0)
		row++;
	if (!row->table)
		hint(__builtin_return_address(0));
	*ppExportTable = row->table;
	return row->table ? CUDA_SUCCESS : CUDA_ERROR_STUB_LIBRARY;
}
