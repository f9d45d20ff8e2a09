/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.c - units (S-class chassis with several boards) and their host interface
 * cards. This machine has none: both counts are 0, and no unit handle is valid.
 */
#include "fronts/nvml/front.h"

nvmlReturn_t nvmlUnitGetCount(unsigned int *unitCount)
{
	ENTER(nvmlUnitGetCount, unitCount != NULL);
	*unitCount = 0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetHicVersion(unsigned int *hwbcCount,
				     nvmlHwbcEntry_t *hwbcEntries)
{
	ENTER(nvmlSystemGetHicVersion,
	      hwbcCount && (hwbcEntries || !*hwbcCount));
	*hwbcCount = 0;
	return NVML_SUCCESS;
}

/* Functions on units: no unit exists, so no handle or index is valid. */
#define NO_UNIT(symbol, params)                                                \
	nvmlReturn_t symbol params                                             \
	{                                                                      \
		ENTER(symbol, true);                                           \
		return NVML_ERROR_INVALID_ARGUMENT;                            \
	}
#pragma GCC diagnostic ignored "-Wunused-parameter"
NO_UNIT(nvmlUnitGetHandleByIndex, (unsigned int index, nvmlUnit_t *unit))
NO_UNIT(nvmlUnitGetDevices,
	(nvmlUnit_t unit, unsigned int *count, nvmlDevice_t *devices))
NO_UNIT(nvmlUnitGetFanSpeedInfo,
	(nvmlUnit_t unit, nvmlUnitFanSpeeds_t *fanSpeeds))
NO_UNIT(nvmlUnitGetLedState, (nvmlUnit_t unit, nvmlLedState_t *state))
NO_UNIT(nvmlUnitGetPsuInfo, (nvmlUnit_t unit, nvmlPSUInfo_t *psu))
NO_UNIT(nvmlUnitGetTemperature,
	(nvmlUnit_t unit, unsigned int type, unsigned int *temp))
NO_UNIT(nvmlUnitGetUnitInfo, (nvmlUnit_t unit, nvmlUnitInfo_t *info))
NO_UNIT(nvmlUnitSetLedState, (nvmlUnit_t unit, nvmlLedColor_t color))
#undef NO_UNIT
