/*
 * export_table.c - cuGetExportTable: tables of functions by UUID. CUDA's own
 * are private to it and none of them is here; a row is one of ours, for the
 * libraries that come with this one.
 */
#include "fake/cuda/front.h"

#include <string.h>

struct export_row {
	unsigned char uuid[16];
	const void *table; /* NULL: the end */
};

static const struct export_row rows[] = {{.table = NULL}};

CUresult cuGetExportTable(const void **ppExportTable,
			  const CUuuid *pExportTableId)
{
	const struct export_row *row = rows;

	if (!ppExportTable)
		return CUDA_ERROR_INVALID_VALUE;
	*ppExportTable = NULL;
	if (!pExportTableId)
		return CUDA_ERROR_INVALID_VALUE;
	while (row->table &&
	       memcmp(row->uuid, pExportTableId->bytes, sizeof(row->uuid)) != 0)
		row++;
	*ppExportTable = row->table;
	return row->table ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
