/* SPDX-License-Identifier: Apache-2.0 */
/* permission.c - decides who may change the machine. */
#include "fronts/nvml/permission.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/model.h"
#include "machine/store/settings.h"

#include <unistd.h>

bool front_may_change(const struct call *c)
{
	uint64_t who = gkf_setting(c->machine, GKF_PERMISSION);

	if (who == GKF_PERMIT_ALL)
		return true;
	return who != GKF_PERMIT_NONE && geteuid() == 0;
}

nvmlReturn_t front_permit(const struct call *c)
{
	return front_may_change(c) ? NVML_SUCCESS : NVML_ERROR_NO_PERMISSION;
}

nvmlReturn_t front_set(const struct call *c, enum gkf_value id, int64_t to)
{
	int64_t min, max;

	if (!gkf_value_range(c->machine, c->index, id, &min, &max))
		return NVML_ERROR_NOT_SUPPORTED;
	if (!front_may_change(c))
		return NVML_ERROR_NO_PERMISSION;
	return front_error(gkf_value_set(c->machine, c->index, id, to));
}
