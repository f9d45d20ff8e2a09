/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_table.c - cuGetExportTable: tables of functions by UUID. CUDA's own
 * tables are private, so they are missing here. The only table is ours, for our
 * other libraries.
 */
#include "base/log.h"
#include "device/space.h"
#include "fronts/common/export_table.h"
#include "fronts/cuda/memory/host_work.h"
#include "fronts/cuda/module/module.h"
#include "machine/store/coverage.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

struct export_row {
	const char *uuid;  /* 16 bytes */
	const void *table; /* NULL: end of the list */
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

/*
 * Counts and logs that one of our libraries refused a function. The library has
 * checked that the driver is initialised.
 */
static void note_reason(enum gpukit_library library, const char *symbol,
			const char *why)
{
	gkf_refuse_named(cuda.machine, kinds[library], symbol);
	front_tell_refusal(symbol, why);
}

static void note_refusal(enum gpukit_library library, const char *symbol)
{
	note_reason(library, symbol, NULL);
}

static const struct gpukit_table gpukit_table = {
    sizeof gpukit_table, note_refusal,    kernel_attach,
    gkf_space_view,      host_work_begin, host_work_end,
    host_work_fail,      host_work_watch, note_reason};

static const struct export_row rows[] = {
    {GPUKIT_TABLE_UUID, &gpukit_table},
    {NULL, NULL},
};

/*
 * Logs once per process that the caller needs NVIDIA's own driver, because the
 * error that the program then shows does not say so. Callers other than the
 * runtime, such as NVRTC, work without the table.
 */
static void log_hint(const void *caller)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	Dl_info who = {0};

	if (gk_log_level() < GK_LOG_WARN || atomic_flag_test_and_set(&told))
		return;
	if (!dladdr(caller, &who) || !who.dli_fname)
		who.dli_fname = "a program";
	gk_log(GK_LOG_WARN,
	       "%s requests a private table of NVIDIA's driver, as NVIDIA's "
	       "own runtime does, which works only with that driver; if calls "
	       "fail, `gpukit fake doctor` says how to relink",
	       who.dli_fname);
}

/*
 * NVIDIA's runtime returns the result of this call from every later call. The
 * code for "CUDA driver is a stub library" fits best.
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
		log_hint(__builtin_return_address(0));
	*ppExportTable = row->table;
	return row->table ? CUDA_SUCCESS : CUDA_ERROR_STUB_LIBRARY;
}
