/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - creates and opens machines, with faults and scenarios. */
#include "machine/trouble/machine.h"
#include "base/err.h"
#include "base/log.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/model/topology.h"
#include "machine/store/above.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/scenario.h"

#include <string.h>

#define DEFAULT_NAME "default"
#define PATH_CAP     4096

static const struct gkf_above above = {
    .scenario_apply = gkf_scenario_apply,
    .state_advance = gkf_state_advance,
    .state_catch_up = gkf_state_catch_up,
    .device_begin = gkf_device_begin,
    .topology_make = gkf_topology_make,
    .compute_mode = gkf_compute_mode,
    .instance_enter = gkf_instance_enter,
    .instance_bytes = gkf_instance_bytes,
    .instances_hold = gkf_instances_hold,
    .fault_bins = gkf_fault_bins,
    .fault_catch_up = gkf_fault_catch_up,
    .fault_value = gkf_fault_value,
    .fault_recovery = gkf_fault_recovery,
    .fault_tell_recovery = gkf_fault_tell_recovery,
};

int gkf_machine_create(const char *path, const struct gkf_machine_spec *spec)
{
	return gkf_store_create(path, spec, &above);
}

int gkf_machine_scratch(const struct gkf_machine_spec *spec,
			struct gkf_machine **ret)
{
	return gkf_store_scratch(spec, &above, ret);
}

static int make_default(const char *path)
{
	struct gkf_profile profiles[GKF_DEFAULT_DEVICES];
	struct gkf_machine_spec spec = {.device_count = GKF_DEFAULT_DEVICES,
					.profiles = profiles,
					.lively = true};
	int r;

	for (unsigned i = 0; i < GKF_DEFAULT_DEVICES; i++)
		profiles[i] = gkf_profile_default;
	r = gkf_machine_create(path, &spec);
	return r == GK_ERR_EXISTS ? 0 : r;
}

/* Whether a path is the default machine's, which is made when it is missing. */
static bool is_default_path(const char *path)
{
	char standard[PATH_CAP + sizeof DEFAULT_NAME];

	return !gkf_machine_path(DEFAULT_NAME, standard, sizeof standard) &&
	       !strcmp(path, standard);
}

int gkf_machine_open(const char *path, struct gkf_machine **ret)
{
	char found[PATH_CAP];
	int r = gkf_machine_path(path, found, sizeof found);

	gk_log_level(); /* remembers stderr before the program closes it */
	if (r)
		return r;
	r = gkf_store_open(found, &above, ret);
	if (r == GK_ERR_NOT_FOUND && is_default_path(found)) {
		r = make_default(found);
		if (!r)
			r = gkf_store_open(found, &above, ret);
	}
	if (r)
		gk_log(GK_LOG_WARN, "machine %s: %s", found, gk_strerror(r));
	return r;
}
