/*
 * export_table.c - cuGetExportTable: tables of functions by UUID. CUDA's own
 * are private to it and none of them is here; a row is one of ours, for the
 * libraries that come with this one.
 */
#include "fake/cuda/export_table.h"

#include "base/log.h"
#include "fake/cuda/front.h"
#include "fake/count.h"

#include <stdatomic.h>
#include <string.h>

struct export_row {
	const char *uuid;  /* 16 bytes */
	const void *table; /* NULL: the end */
};

/* A function of the runtime; it has seen that the driver is initialised. */
static void refused(const char *symbol)
{
	gkf_refuse_named(cuda.machine, GKF_NAMED_RUNTIME, symbol);
	front_tell_refusal(symbol);
}

static void refused_blas(const char *symbol)
{
	gkf_refuse_named(cuda.machine, GKF_NAMED_CUBLAS, symbol);
}

static const struct gpukit_table gpukit_table = {sizeof gpukit_table, refused,
						 refused_blas};

static const struct export_row rows[] = {
    {GPUKIT_TABLE_UUID, &gpukit_table},
    {NULL, NULL},
};

/* Once: the error that a program shows then says little of the reason. */
static void hint(void)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;

	if (gk_log_level() >= GK_LOG_WARN && !atomic_flag_test_and_set(&told))
		gk_log(GK_LOG_WARN,
		       "a program asks for a private table of NVIDIA's driver, "
		       "as NVIDIA's own runtime does, which works with that "
		       "driver only; `gpukit fake doctor` says how to link "
		       "it again");
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
		hint();
	*ppExportTable = row->table;
	return row->table ? CUDA_SUCCESS : CUDA_ERROR_STUB_LIBRARY;
}
