/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_board.c - reads the fields of the board as a whole: values, facts of
 * its profile, power by scope, time under clock reasons; see field.h.
 */
#include "fronts/nvml/meter/field.h"
#include "fronts/nvml/meter/module.h"
#include "fronts/nvml/meter/power.h"
#include "fronts/nvml/meter/thermal.h"
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/smoothing_state.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/model/model.h"
#include "machine/model/smoothing.h"

#include <stddef.h>
#include <string.h>

nvmlReturn_t field_value(const struct call *c, unsigned scope, unsigned arg,
			 uint64_t *ret_number)
{
	int64_t v;

	(void)scope;
	if (!read_device_value(c, (enum gkf_value)arg, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_number = (uint64_t)v;
	return NVML_SUCCESS;
}

static int64_t read_fact(const struct call *c, unsigned offset)
{
	int64_t v;

	memcpy(&v, (const char *)&c->board->profile + offset, sizeof(v));
	return v;
}

nvmlReturn_t field_profile(const struct call *c, unsigned scope, unsigned arg,
			   uint64_t *ret_number)
{
	int64_t v = read_fact(c, arg);

	(void)scope;
	if (v <= 0)
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_number = (uint64_t)v;
	return NVML_SUCCESS;
}

nvmlReturn_t field_count(const struct call *c, unsigned scope, unsigned arg,
			 uint64_t *ret_number)
{
	struct gkf_state s;

	(void)scope;
	gkf_state_now(c->machine, c->index, &s);
	memcpy(ret_number, (const char *)&s + arg, sizeof(*ret_number));
	return NVML_SUCCESS;
}

nvmlReturn_t field_reasons(const struct call *c, unsigned scope, unsigned arg,
			   uint64_t *ret_number)
{
	struct gkf_state s;
	uint64_t ns = 0;

	(void)scope;
	gkf_state_now(c->machine, c->index, &s);
	for (unsigned i = 0; i < GKF_REASONS; i++)
		if (arg >> i & 1)
			ns += s.reason_ns[i];
	*ret_number = ns;
	return NVML_SUCCESS;
}

/* Accepts only the scope of the GPU. */
static nvmlReturn_t of_whole_gpu(unsigned scope)
{
	return scope == NVML_POWER_SCOPE_GPU    ? NVML_SUCCESS
	       : scope < NVML_POWER_SCOPE_COUNT ? NVML_ERROR_NOT_SUPPORTED
						: NVML_ERROR_INVALID_ARGUMENT;
}

/*
 * The power of a module: that of its GPUs, assumed to be as busy as this one,
 * plus that of everything else on it.
 */
static nvmlReturn_t module_power(const struct call *c, unsigned value,
				 uint64_t *ret_number)
{
	const struct module_fact *module = module_of(c);
	nvmlReturn_t r;

	if (!module)
		return NVML_ERROR_NOT_SUPPORTED;
	r = field_value(c, NVML_POWER_SCOPE_GPU, value, ret_number);
	*ret_number = *ret_number * module->gpus + module->rest_w * 1000u;
	return r;
}

/* A power limit of a module. Such limits cannot be changed. */
static nvmlReturn_t module_limit(const struct call *c, unsigned fact,
				 uint64_t *ret_number)
{
	const struct module_fact *module = module_of(c);
	unsigned watts;

	if (!module)
		return NVML_ERROR_NOT_SUPPORTED;
	watts = module->limit_w;
	if (fact == offsetof(struct gkf_profile, power_min_mw))
		watts = module->min_w;
	if (fact == offsetof(struct gkf_profile, power_max_mw))
		watts = module->max_w;
	*ret_number = watts * 1000u;
	return NVML_SUCCESS;
}

nvmlReturn_t field_limit(const struct call *c, unsigned scope, unsigned arg,
			 uint64_t *ret_number)
{
	nvmlReturn_t r;

	if (scope == NVML_POWER_SCOPE_MODULE)
		return arg == GKF_V_POWER_LIMIT
			   ? module_limit(c, 0, ret_number)
			   : module_power(c, arg, ret_number);
	r = of_whole_gpu(scope);
	return r ? r : field_value(c, scope, arg, ret_number);
}

nvmlReturn_t field_limit_now(const struct call *c, unsigned scope, unsigned arg,
			     uint64_t *ret_number)
{
	nvmlReturn_t r = of_whole_gpu(scope);

	(void)arg;
	if (scope == NVML_POWER_SCOPE_MODULE)
		return module_limit(c, 0, ret_number);
	return r ? r : power_limit_in_force(c, ret_number);
}

nvmlReturn_t field_limit_fact(const struct call *c, unsigned scope,
			      unsigned arg, uint64_t *ret_number)
{
	nvmlReturn_t r = of_whole_gpu(scope);

	if (scope == NVML_POWER_SCOPE_MODULE)
		return module_limit(c, arg, ret_number);
	if (!r)
		r = field_profile(c, scope, arg, ret_number);
	return !r && !*ret_number ? NVML_ERROR_NOT_SUPPORTED : r;
}

nvmlReturn_t field_power_instant(const struct call *c, unsigned scope,
				 unsigned arg, uint64_t *ret_number)
{
	(void)arg;
	return field_limit(c, scope, GKF_V_POWER, ret_number);
}

static unsigned board_capability(const struct call *c)
{
	return (unsigned)(c->board->profile.compute_major * 10 +
			  c->board->profile.compute_minor);
}

/* The memory's mean power over the last second. */
static nvmlReturn_t memory_power(const struct call *c, uint64_t *ret_number)
{
	uint64_t sum = 0, bins = 0;
	struct gkf_state s;
	struct gkf_past past;

	gkf_state_now(c->machine, c->index, &s);
	while (bins < GKF_BINS_PER_S && bins < s.bin &&
	       gkf_past_read(c->machine, c->index, s.bin - 1 - bins, &past)) {
		sum += past.mem_power_mw;
		bins++;
	}
	*ret_number = bins ? sum / bins : (uint64_t)s.mem_power_mw;
	return NVML_SUCCESS;
}

/* The memory's mean power is reported by boards with HBM since Hopper. */
nvmlReturn_t field_power_average(const struct call *c, unsigned scope,
				 unsigned arg, uint64_t *ret_number)
{
	(void)arg;
	if (scope == NVML_POWER_SCOPE_MEMORY && board_capability(c) >= 90 &&
	    c->board->profile.mem_power_idle_mw >= 0)
		return memory_power(c, ret_number);
	if (scope == NVML_POWER_SCOPE_GPU &&
	    !power_has_average(&c->board->profile))
		return NVML_ERROR_NOT_SUPPORTED;
	return field_limit(c, scope, GKF_V_POWER_AVERAGE, ret_number);
}

/*
 * Reads how many degrees a threshold is below the highest operating temperature
 * of the GPU or, for the memory's threshold, of the memory.
 */
nvmlReturn_t field_tlimit(const struct call *c, unsigned scope, unsigned arg,
			  uint64_t *ret_number)
{
	const struct gkf_profile *p = &c->board->profile;
	int64_t limit = read_fact(c, arg), max = p->temp_max_c;

	(void)scope;
	if (!thermal_has_margin(p) || limit < 0)
		return NVML_ERROR_NOT_SUPPORTED;
	if (arg == offsetof(struct gkf_profile, mem_temp_max_c))
		max = p->mem_temp_max_c;
	*ret_number = (uint64_t)(max - limit);
	return NVML_SUCCESS;
}

nvmlReturn_t field_from_major(const struct call *c, unsigned scope,
			      unsigned arg, uint64_t *ret_number)
{
	(void)scope;
	*ret_number = c->board->profile.compute_major >= (int64_t)arg;
	return NVML_SUCCESS;
}

/*
 * The sum of the error counts that the PCIe specification classifies as
 * correctable: receiver errors, bad TLPs and DLLPs, replay rollovers.
 */
nvmlReturn_t field_pcie_corrected(const struct call *c, unsigned scope,
				  unsigned arg, uint64_t *ret_number)
{
	static const enum gkf_value parts[] = {
	    GKF_V_PCIE_RECEIVER_ERRORS, GKF_V_PCIE_BAD_TLP, GKF_V_PCIE_BAD_DLLP,
	    GKF_V_PCIE_ROLLOVERS};
	uint64_t sum = 0, one = 0;

	(void)arg;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		field_value(c, scope, parts[i], &one);
		sum += one;
	}
	*ret_number = sum;
	return NVML_SUCCESS;
}

nvmlReturn_t field_clear_value(const struct call *c, unsigned scope,
			       unsigned arg, uint64_t *ret_number)
{
	(void)scope;
	(void)ret_number;
	return front_error(gkf_value_set(c->machine, c->index,
					 (enum gkf_value)arg, GKF_UNSET));
}

/* Listings by users who are not root say that they lack permission. */
nvmlReturn_t field_smoothing_value(const struct call *c, unsigned scope,
				   unsigned arg, uint64_t *ret_number)
{
	nvmlReturn_t r = field_value(c, scope, arg, ret_number);

	return r ? r : front_permit(c);
}

nvmlReturn_t field_smoothing_profiles(const struct call *c, unsigned scope,
				      unsigned arg, uint64_t *ret_number)
{
	nvmlReturn_t r =
	    field_smoothing_value(c, scope, GKF_V_POWER_SMOOTHING, ret_number);

	(void)arg;
	if (!r)
		*ret_number = GKF_SMOOTHING_PROFILES;
	return r;
}

/* Floors and offsets are in watts, the others in the units of smoothing.h. */
nvmlReturn_t field_smoothing(const struct call *c, unsigned scope, unsigned arg,
			     uint64_t *ret_number)
{
	bool watts =
	    arg == NVML_POWER_SMOOTHING_PROFILE_PARAM_SECONDARY_POWER_FLOOR ||
	    arg == NVML_POWER_SMOOTHING_PROFILE_PARAM_PRIMARY_FLOOR_ACT_OFFSET;
	uint64_t there;
	nvmlReturn_t r = field_smoothing_profiles(c, scope, arg, &there);

	if (r)
		return r;
	if (scope >= there)
		return NVML_ERROR_INVALID_ARGUMENT;
	*ret_number =
	    (uint64_t)gkf_smoothing_get(c->machine, c->index, scope, arg) /
	    (watts ? 1000000 : 1000);
	return NVML_SUCCESS;
}
