/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_memory.c - reads fields about memory errors, their repairs and the
 * advised recovery action; see field.h.
 */
#include "fronts/nvml/error/ecc.h"
#include "fronts/nvml/meter/field.h"
#include "machine/file/board.h"
#include "machine/file/ecc_state.h"
#include "machine/model/ecc.h"
#include "machine/trouble/fault.h"

nvmlReturn_t field_ecc(const struct call *c, unsigned scope, unsigned arg,
		       uint64_t *ret_number)
{
	nvmlMemoryErrorType_t type = arg & 0xf;
	nvmlEccCounterType_t counter = arg >> 4 & 0xf;
	nvmlMemoryLocation_t location = arg >> 8;
	unsigned places = GKF_ECC_ALL_LOCATIONS;

	(void)scope;
	if (location != NVML_MEMORY_LOCATION_COUNT)
		places = ecc_places(c, type, location);
	if (!places)
		return NVML_ERROR_NOT_SUPPORTED;
	return ecc_count(c, type, counter, places, ret_number);
}

nvmlReturn_t field_retired(const struct call *c, unsigned scope, unsigned arg,
			   uint64_t *ret_number)
{
	(void)scope;
	if (!gkf_ecc_retires(c->machine, c->index))
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_number = gkf_ecc_pages(c->machine, c->index,
				    (enum gkf_ecc_cause)arg, NULL, 0);
	return NVML_SUCCESS;
}

static bool page_waits(const struct call *c, enum gkf_ecc_cause cause)
{
	struct gkf_ecc_page pages[GKF_ECC_PAGES_MAX];
	unsigned n = gkf_ecc_pages(c->machine, c->index, cause, pages,
				   GKF_ECC_PAGES_MAX);

	for (unsigned i = 0; i < n && i < GKF_ECC_PAGES_MAX; i++)
		if (pages[i].pending)
			return true;
	return false;
}

nvmlReturn_t field_retiring(const struct call *c, unsigned scope, unsigned arg,
			    uint64_t *ret_number)
{
	bool waits = false;

	(void)scope;
	if (!gkf_ecc_retires(c->machine, c->index))
		return NVML_ERROR_NOT_SUPPORTED;
	for (unsigned cause = 0; cause < GKF_ECC_CAUSES; cause++)
		waits |= (arg & FIELD_CAUSE(cause)) && page_waits(c, cause);
	*ret_number = waits;
	return NVML_SUCCESS;
}

/* Fails on GPUs that do not support nvmlDeviceGetRemappedRows. */
static bool read_field_rows(const struct call *c, struct gkf_ecc_rows *ret_rows)
{
	if (is_split(c) && front_mig_refuses(c, ROW_nvmlDeviceGetRemappedRows))
		return false;
	return gkf_ecc_rows(c->machine, c->index, ret_rows);
}

/* Includes pending rows, as nvmlDeviceGetRemappedRows does. */
nvmlReturn_t field_rows(const struct call *c, unsigned scope, unsigned arg,
			uint64_t *ret_number)
{
	struct gkf_ecc_rows rows;

	(void)scope;
	if (!read_field_rows(c, &rows))
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_number = rows.active[arg] + rows.pending[arg];
	return NVML_SUCCESS;
}

nvmlReturn_t field_rows_wait(const struct call *c, unsigned scope, unsigned arg,
			     uint64_t *ret_number)
{
	struct gkf_ecc_rows rows;

	(void)scope;
	if (!read_field_rows(c, &rows))
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_number = rows.pending[arg];
	return NVML_SUCCESS;
}

nvmlReturn_t field_rows_state(const struct call *c, unsigned scope,
			      unsigned arg, uint64_t *ret_number)
{
	struct gkf_ecc_rows rows;

	(void)scope;
	if (!read_field_rows(c, &rows))
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_number = arg ? rows.failed
			  : rows.pending[GKF_ECC_BY_CORRECTED] ||
				rows.pending[GKF_ECC_BY_UNCORRECTED];
	return NVML_SUCCESS;
}

nvmlReturn_t field_recovery(const struct call *c, unsigned scope, unsigned arg,
			    uint64_t *ret_number)
{
	int advised = gkf_fault_recovery(c->machine, c->index);

	(void)scope;
	/* According to listings, boards before Ampere never advise draining. */
	if (arg == NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET &&
	    c->board->profile.compute_major < 8)
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_number = arg ? advised == (int)arg : (uint64_t)advised;
	return NVML_SUCCESS;
}
