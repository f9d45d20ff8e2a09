/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecc_repair.c - reports repairs of memory errors: remapped rows, retired
 * pages, pending repairs.
 */
#include "fronts/nvml/error/ecc.h"
#include "machine/file/board.h"
#include "machine/file/ecc_state.h"
#include "machine/model/ecc.h"

#include <string.h>

static bool read_remapped_rows(const struct call *c,
			       struct gkf_ecc_rows *ret_rows)
{
	return gkf_ecc_rows(c->machine, c->index, ret_rows);
}

static bool has_pending_rows(const struct gkf_ecc_rows *rows)
{
	return rows->pending[GKF_ECC_BY_CORRECTED] ||
	       rows->pending[GKF_ECC_BY_UNCORRECTED];
}

/* Includes rows whose remapping is pending. */
nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device,
				       unsigned int *corrRows,
				       unsigned int *uncRows,
				       unsigned int *isPending,
				       unsigned int *failureOccurred)
{
	struct gkf_ecc_rows rows;

	ENTER_DEVICE(nvmlDeviceGetRemappedRows, device,
		     corrRows && uncRows && isPending && failureOccurred);
	if (!read_remapped_rows(&c, &rows))
		return NVML_ERROR_NOT_SUPPORTED;
	*corrRows = rows.active[GKF_ECC_BY_CORRECTED] +
		    rows.pending[GKF_ECC_BY_CORRECTED];
	*uncRows = rows.active[GKF_ECC_BY_UNCORRECTED] +
		   rows.pending[GKF_ECC_BY_UNCORRECTED];
	*isPending = has_pending_rows(&rows);
	*failureOccurred = rows.failed;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetRemappedRows_v2(nvmlDevice_t device,
					  nvmlRemappedRowsInfo_v2_t *info)
{
	struct gkf_ecc_rows rows;

	ENTER_DEVICE(nvmlDeviceGetRemappedRows_v2, device, info != NULL);
	if (!read_remapped_rows(&c, &rows))
		return NVML_ERROR_NOT_SUPPORTED;
	*info = (nvmlRemappedRowsInfo_v2_t){
	    .corrActiveRemaps = rows.active[GKF_ECC_BY_CORRECTED],
	    .corrInactiveRemaps = rows.pending[GKF_ECC_BY_CORRECTED],
	    .uncActiveRemaps = rows.active[GKF_ECC_BY_UNCORRECTED],
	    .uncInactiveRemaps = rows.pending[GKF_ECC_BY_UNCORRECTED],
	    .bPending = has_pending_rows(&rows),
	    .bFailureOccurred = rows.failed,
	};
	return NVML_SUCCESS;
}

nvmlReturn_t
nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t device,
				  nvmlRowRemapperHistogramValues_t *values)
{
	struct gkf_ecc_rows rows;

	ENTER_DEVICE(nvmlDeviceGetRowRemapperHistogram, device, values != NULL);
	if (!read_remapped_rows(&c, &rows))
		return NVML_ERROR_NOT_SUPPORTED;
	*values = (nvmlRowRemapperHistogramValues_t){.max = rows.banks[0],
						     .high = rows.banks[1],
						     .partial = rows.banks[2],
						     .low = rows.banks[3],
						     .none = rows.banks[4]};
	return NVML_SUCCESS;
}

/* Ampere and newer GPUs support this. */
nvmlReturn_t nvmlDeviceGetRepairStatus(nvmlDevice_t device,
				       nvmlRepairStatus_t *repairStatus)
{
	struct gkf_ecc_repairs repairs;

	ENTER_DEVICE(nvmlDeviceGetRepairStatus, device, repairStatus != NULL);
	if (!TAKES(repairStatus->version, nvmlRepairStatus_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (c.board->profile.compute_major < 8)
		return NVML_ERROR_NOT_SUPPORTED;
	repairs = gkf_ecc_repairs(c.machine, c.index);
	repairStatus->bChannelRepairPending = repairs.channel;
	repairStatus->bTpcRepairPending = repairs.tpc;
	return NVML_SUCCESS;
}

/*
 * Reports whether a row has failed when no spare row was left. Hopper and newer
 * GPUs support this but, according to listings, only while ECC is on.
 */
nvmlReturn_t nvmlDeviceGetUnrepairableMemoryFlag_v1(
    nvmlDevice_t device,
    nvmlUnrepairableMemoryStatus_v1_t *unrepairableMemoryStatus)
{
	struct gkf_ecc_rows rows;

	ENTER_DEVICE(nvmlDeviceGetUnrepairableMemoryFlag_v1, device,
		     unrepairableMemoryStatus != NULL);
	if (c.board->profile.compute_major < 9 ||
	    !gkf_ecc_on(c.machine, c.index) || !read_remapped_rows(&c, &rows))
		return NVML_ERROR_NOT_SUPPORTED;
	unrepairableMemoryStatus->bUnrepairableMemory = rows.failed;
	return NVML_SUCCESS;
}

/* NVML numbers the causes in the opposite order of enum gkf_ecc_cause. */
static unsigned pages_of(const struct call *c, nvmlPageRetirementCause_t cause,
			 struct gkf_ecc_page pages[GKF_ECC_PAGES_MAX])
{
	enum gkf_ecc_cause by =
	    cause == NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR
		? GKF_ECC_BY_UNCORRECTED
		: GKF_ECC_BY_CORRECTED;

	return gkf_ecc_pages(c->machine, c->index, by, pages,
			     GKF_ECC_PAGES_MAX);
}

/* `times` is NULL for the version without time stamps. */
static nvmlReturn_t list_retired_pages(enum nvml_row row, nvmlDevice_t device,
				       nvmlPageRetirementCause_t cause,
				       unsigned *count,
				       unsigned long long *addresses,
				       unsigned long long *times)
{
	struct gkf_ecc_page pages[GKF_ECC_PAGES_MAX];
	struct call c;
	nvmlReturn_t r = enter_device(
	    &c, row, device,
	    count && (unsigned)cause < NVML_PAGE_RETIREMENT_CAUSE_COUNT);
	unsigned n, room;

	if (r)
		return r;
	if (!gkf_ecc_retires(c.machine, c.index))
		return NVML_ERROR_NOT_SUPPORTED;
	n = pages_of(&c, cause, pages);
	room = *count;
	if (room && !addresses)
		return NVML_ERROR_INVALID_ARGUMENT;
	*count = n;
	if (room < n)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned i = 0; i < n; i++) {
		addresses[i] = pages[i].address;
		if (times)
			times[i] = pages[i].seconds;
	}
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetRetiredPages(nvmlDevice_t device,
				       nvmlPageRetirementCause_t cause,
				       unsigned int *pageCount,
				       unsigned long long *addresses)
{
	return list_retired_pages(ROW_nvmlDeviceGetRetiredPages, device, cause,
				  pageCount, addresses, NULL);
}

nvmlReturn_t nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device,
					  nvmlPageRetirementCause_t cause,
					  unsigned int *pageCount,
					  unsigned long long *addresses,
					  unsigned long long *timestamps)
{
	return list_retired_pages(ROW_nvmlDeviceGetRetiredPages_v2, device,
				  cause, pageCount, addresses, timestamps);
}

nvmlReturn_t
nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t device,
				       nvmlEnableState_t *isPending)
{
	struct gkf_ecc_page pages[GKF_ECC_PAGES_MAX];
	bool waits = false;

	ENTER_DEVICE(nvmlDeviceGetRetiredPagesPendingStatus, device,
		     isPending != NULL);
	if (!gkf_ecc_retires(c.machine, c.index))
		return NVML_ERROR_NOT_SUPPORTED;
	for (int cause = 0; cause < NVML_PAGE_RETIREMENT_CAUSE_COUNT; cause++) {
		unsigned n =
		    pages_of(&c, (nvmlPageRetirementCause_t)cause, pages);

		for (unsigned i = 0; i < n; i++)
			waits |= pages[i].pending;
	}
	*isPending = waits ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
	return NVML_SUCCESS;
}
