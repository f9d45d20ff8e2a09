/*
 * export_table.c - cuGetExportTable: tables of functions by UUID. CUDA's own
 * are private to it and none of them is here; a row is one of ours, for the
 * libraries that come with this one.
 */
#include "fake/cuda/export_table.h"
#include "fake/cuda/front.h"
#include "fake/count.h"

#include <string.h>

struct export_row {
	const char *uuid;  /* 16 bytes */
	const void *table; /* NULL: the end */
};

/* A function of the runtime; it has seen that the driver is initialised. */
static void refused(const char *symbol)
{
	gkf_refuse_named(cuda.machine, GKF_NAMED_RUNTIME, symbol);
}

static const struct gpukit_table gpukit_table = {sizeof gpukit_table, refused};

static const struct export_row rows[] = {
    {GPUKIT_TABLE_UUID, &gpukit_table},
    {NULL, NULL},
};

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
	*ppExportTable = row->table;
	return row->table ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
