/* SPDX-License-Identifier: Apache-2.0 */
/*
 * default.c - defines the functions that nvml.def marks as refused. They return
 * NVML_ERROR_NOT_SUPPORTED; each call is counted and logged. `nm -D
 * libnvidia-ml.so.1` marks implemented functions with T and refused ones with
 * W.
 */
#include "base/log.h"
#include "fronts/common/refused.h"
#include "fronts/nvml/front.h"
#include "machine/file/numbers.h"
#include "machine/store/coverage.h"
#include "machine/store/gate.h"

static nvmlReturn_t refuse(enum nvml_row row, nvmlDevice_t device,
			   const char *symbol, enum refusal why)
{
	struct call c;
	nvmlReturn_t r;

	r = device ? enter_device(&c, row, device, true)
		   : enter_call(&c, row, true);
	if (r)
		return r;
	atomic_fetch_add_explicit(&c.gate->refused[row], 1,
				  memory_order_relaxed);
	gkf_refusal_count(c.machine, row, gkf_caller());
	gk_log(GK_LOG_WARN, "%s: refused, %s", symbol, refusal_reasons[why]);
	return NVML_ERROR_NOT_SUPPORTED;
}

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"

/*
 * In functions without a parameter `device`, that name refers to this constant:
 * the call does not concern a GPU.
 */
static const nvmlDevice_t device = NULL;
#define GPU_OF(what) _Generic((what), nvmlDevice_t : (what), default : NULL)

#define DEFINE_NOTHING(symbol, why, params)
#define DEFINE_REFUSAL(symbol, why, params)                                    \
	__attribute__((weak)) nvmlReturn_t symbol params                       \
	{                                                                      \
		return refuse(ROW_##symbol, GPU_OF(device), #symbol, why);     \
	}
#define DEFINE_DONE         DEFINE_NOTHING
#define DEFINE_REFUSED(why) DEFINE_REFUSAL

#define NVML(symbol, major, minor, core, mig, limit, refused, params)          \
	DEFINE_##refused(symbol, WHY_##refused, params)
#include "abi/nvml/nvml.def"
#undef NVML

_Static_assert(ROW_COUNT <= GKF_FUNCTIONS_MAX, "the machine counts them all");

const char *nvmlErrorString(nvmlReturn_t result)
{
	static const struct {
		int value;
		const char *text;
	} texts[] = {
#define NVML_RETURN(name, value, text) {value, text},
#include "abi/nvml/nvml_return.def"
#undef NVML_RETURN
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].value == (int)result)
			return texts[i].text;
	return "Unknown Error";
}
