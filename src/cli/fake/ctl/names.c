/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - looks up the GPUs, values and functions named on the command line
 * of `gpukit fake ctl`.
 */
#include "base/assert.h"
#include "base/str.h"
#include "cli/fake/ctl/ctl.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/model.h"
#include "machine/store/board.h"
#include "machine/words/spec.h"

#include <string.h>

static const char functions[][64] = {
#define NVML(symbol, ...) #symbol,
#include "abi/nvml/nvml.def"
#undef NVML
};

const unsigned ctl_function_count = sizeof functions / sizeof *functions;

_Static_assert(sizeof functions / sizeof *functions <= GKF_FUNCTIONS_MAX,
	       "a counter for every function");

int ctl_function_row(const char *name)
{
	for (unsigned i = 0; i < ctl_function_count; i++)
		if (!strcmp(functions[i], name))
			return (int)i;
	return -1;
}

const char *ctl_function_name(unsigned row)
{
	GK_ASSERT(row < ctl_function_count);
	return functions[row];
}

int ctl_gpus(struct ctl *ctl, const char *text, uint64_t *ret_mask)
{
	char message[FAKE_MESSAGE_MAX];

	if (gkf_spec_list(text, gkf_device_count(ctl->machine), ret_mask,
			  message))
		return fake_usage("ctl: %s", message);
	return 0;
}

int ctl_value(const char *name)
{
	struct gk_buf names = {0};
	int value = gkf_value_by_name(name);

	if (value >= 0)
		return value;
	for (int i = 0; i < GKF_V_COUNT; i++)
		gk_buf_printf(&names, "%s%s", i ? ", " : "",
			      gkf_values[i].name);
	fake_tell("ctl: no value '%s'; allowed are %s", name,
		  names.data ? names.data : "?");
	gk_buf_free(&names);
	return -1;
}
