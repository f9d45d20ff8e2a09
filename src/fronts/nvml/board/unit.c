/*
 * unit.c - chassis that hold several boards (S-class), and their cards: this
 * machine has none, so their number is 0 and no handle is one.
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

/* Whatever is asked of a unit: it is none. */
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
