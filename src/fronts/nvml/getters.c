/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getters.c - reads one number (getters.def) or one string, from a device or
 * from its profile.
 */
#include "fronts/nvml/front.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"

#define VALUE_GETTER(symbol, type, id)                                         \
	nvmlReturn_t symbol(nvmlDevice_t device, type *out)                    \
	{                                                                      \
		int64_t v;                                                     \
		ENTER_DEVICE(symbol, device, out != NULL);                     \
		if (!read_device_value(&c, GKF_V_##id, &v))                    \
			return NVML_ERROR_NOT_SUPPORTED;                       \
		*out = (type)v;                                                \
		return NVML_SUCCESS;                                           \
	}
#define PROFILE_GETTER(symbol, type, lowest, member)                           \
	nvmlReturn_t symbol(nvmlDevice_t device, type *out)                    \
	{                                                                      \
		ENTER_DEVICE(symbol, device, out != NULL);                     \
		if (c.board->profile.member < (lowest))                        \
			return NVML_ERROR_NOT_SUPPORTED;                       \
		*out = (type)c.board->profile.member;                          \
		return NVML_SUCCESS;                                           \
	}
#define DEVICE_GETTER(symbol, type, expression)                                \
	nvmlReturn_t symbol(nvmlDevice_t device, type *out)                    \
	{                                                                      \
		ENTER_DEVICE(symbol, device, out != NULL);                     \
		*out = (type)(expression);                                     \
		return NVML_SUCCESS;                                           \
	}
#include "fronts/nvml/getters.def"
#undef VALUE_GETTER
#undef PROFILE_GETTER
#undef DEVICE_GETTER

/* If a board lacks a string, the result is an empty string. */
static nvmlReturn_t give_board_text(char *to, unsigned len, const char *from,
				    size_t from_len)
{
	return *from ? front_copy(to, len, from, from_len)
		     : NVML_ERROR_NOT_SUPPORTED;
}

#define TEXT_GETTER(symbol, expression)                                        \
	nvmlReturn_t symbol(nvmlDevice_t device, char *out, unsigned int len)  \
	{                                                                      \
		ENTER_DEVICE(symbol, device, out != NULL);                     \
		return give_board_text(out, len, expression,                   \
				       sizeof(expression));                    \
	}
TEXT_GETTER(nvmlDeviceGetSerial, c.board->serial)
TEXT_GETTER(nvmlDeviceGetVbiosVersion, c.board->profile.vbios)
TEXT_GETTER(nvmlDeviceGetBoardPartNumber, c.board->profile.part_number)
TEXT_GETTER(nvmlDeviceGetInforomImageVersion, c.board->profile.inforom_image)
#undef TEXT_GETTER
