/*
 * link.c - NVLink. The links of a board are there; in this machine they are
 * wired to nothing, so each of them is down and has no remote end.
 */
#include "fake/nvml/front.h"

/* Whether the board has this link. */
static nvmlReturn_t check_link(const struct call *c, unsigned link)
{
	if (c->board->profile.nvlinks <= 0)
		return NVML_ERROR_NOT_SUPPORTED;
	return link < (uint64_t)c->board->profile.nvlinks
		   ? NVML_SUCCESS
		   : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link,
				      nvmlEnableState_t *isActive)
{
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetNvLinkState, device, isActive != NULL);
	r = check_link(&c, link);
	if (!r)
		*isActive = NVML_FEATURE_DISABLED;
	return r;
}

/* What a link that is down cannot tell. */
#define NEEDS_LINK_UP(symbol, params, arguments_ok)                            \
	nvmlReturn_t symbol params                                             \
	{                                                                      \
		nvmlReturn_t r;                                                \
		ENTER_DEVICE(symbol, device, arguments_ok);                    \
		r = check_link(&c, link);                                      \
		return r ? r : NVML_ERROR_NOT_SUPPORTED;                       \
	}
NEEDS_LINK_UP(nvmlDeviceGetNvLinkRemoteDeviceType,
	      (nvmlDevice_t device, unsigned int link,
	       nvmlIntNvLinkDeviceType_t *type),
	      type != NULL)
NEEDS_LINK_UP(nvmlDeviceGetNvLinkRemotePciInfo,
	      (nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci),
	      pci != NULL)
NEEDS_LINK_UP(nvmlDeviceGetNvLinkRemotePciInfo_v2,
	      (nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci),
	      pci != NULL)
NEEDS_LINK_UP(nvmlDeviceGetNvLinkUtilizationCounter,
	      (nvmlDevice_t device, unsigned int link, unsigned int counter,
	       unsigned long long *rx, unsigned long long *tx),
	      rx &&tx &&counter < 2)
#undef NEEDS_LINK_UP
