/*
 * default.c - defines every function that nobody has written: not supported,
 * and counted. A strong definition in another file of this library wins. Lists
 * of done and not done: nm -D libnvidia-ml.so.1, ' T ' and ' W '.
 */
#include "fronts/nvml/front.h"
#include "machine/file/numbers.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"

/*
 * Where a function's own parameter `device` is not in sight, this is: it is
 * about no GPU.
 */
static const nvmlDevice_t device = NULL;
#define GPU_OF(what) _Generic((what), nvmlDevice_t : (what), default : NULL)

#define NVML(symbol, params)                                                   \
	__attribute__((weak)) nvmlReturn_t symbol params                       \
	{                                                                      \
		return front_refuse(ROW_##symbol, GPU_OF(device));             \
	}
#include "abi/nvml.def"
#undef NVML

_Static_assert(ROW_COUNT <= GKF_FUNCTIONS_MAX, "the machine counts them all");

const char *nvmlErrorString(nvmlReturn_t result)
{
	static const struct {
		int value;
		const char *text;
	} texts[] = {
#define NVML_RETURN(name, value, text) {value, text},
#include "abi/nvml_return.def"
#undef NVML_RETURN
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].value == (int)result)
			return texts[i].text;
	return "Unknown Error";
}
