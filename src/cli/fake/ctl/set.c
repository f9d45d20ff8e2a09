/* SPDX-License-Identifier: Apache-2.0 */
/* set.c - `gpukit fake ctl set`: sets values with units, and latencies. */
#include "base/err.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/fake/ctl/ctl.h"
#include "machine/file/board.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/system_state.h"
#include "machine/file/value.h"
#include "machine/model/model.h"
#include "machine/store/board.h"
#include "machine/words/spec.h"

#include <stdlib.h>
#include <string.h>

struct change {
	int value;
	int64_t to;
	/*
	 * The field of the machine file to set. NULL: the change is to a value
	 * of GPUs.
	 */
	_Atomic uint64_t *word;
	struct link_change link;
};

static bool is_of_gpu(const struct change *change)
{
	return !change->word;
}

const char *const ctl_permissions[] = {
    [GKF_PERMIT_ROOT] = "root",
    [GKF_PERMIT_ALL] = "all",
    [GKF_PERMIT_NONE] = "none",
};

const char *const ctl_conf_computes[] = {
    [GKF_CONF_OFF] = "off",
    [GKF_CONF_ON] = "on",
    [GKF_CONF_DEVTOOLS] = "devtools",
};

static int parse_permission(struct ctl *ctl, const char *text,
			    struct change *ret_change)
{
	for (int i = GKF_PERMIT_ROOT; i <= GKF_PERMIT_NONE; i++) {
		if (strcmp(ctl_permissions[i], text))
			continue;
		*ret_change = (struct change){
		    .value = -1, .to = i, .word = &ctl->file->permission};
		return 0;
	}
	return fake_usage("ctl set: permission=%s: allowed are root, all, "
			  "none",
			  text);
}

static int parse_conf_compute(struct ctl *ctl, const char *text,
			      struct change *ret_change)
{
	for (int i = GKF_CONF_OFF; i <= GKF_CONF_DEVTOOLS; i++) {
		if (strcmp(ctl_conf_computes[i], text))
			continue;
		*ret_change =
		    (struct change){.value = -1,
				    .to = i,
				    .word = &ctl->file->system.conf_compute};
		return 0;
	}
	return fake_usage("ctl set: conf-compute=%s: allowed are off, on, "
			  "devtools",
			  text);
}

static int parse_latency(struct ctl *ctl, const char *key, const char *text,
			 struct change *ret_change)
{
	uint64_t ns;
	int row;

	ret_change->value = -1;
	if (!strcmp(key, "latency")) {
		if (strcmp(text, "none") && strcmp(text, "real"))
			return fake_usage("ctl set: latency=%s: allowed are "
					  "none, real",
					  text);
		ret_change->word = &ctl->file->latency;
		ret_change->to =
		    *text == 'r' ? GKF_LATENCY_REAL : GKF_LATENCY_NONE;
		return 0;
	}
	row = ctl_function_row(key + strlen("latency."));
	if (row < 0)
		return fake_usage("ctl set: %s: no such function; allowed is "
				  "a name of NVML, as in "
				  "latency.nvmlDeviceGetPowerUsage=50ms",
				  key);
	if (gk_parse_duration(text, &ns) || ns > GKF_EXTRA_MAX_NS)
		return fake_usage("ctl set: %s=%s: must be a time up to 1h, "
				  "such as 50ms; 0 for none",
				  key, text);
	ret_change->word = &ctl->file->extra_ns[row];
	ret_change->to = (int64_t)ns;
	return 0;
}

static int parse_change(struct ctl *ctl, char *arg, struct change *ret_change)
{
	char *text = strchr(arg, '=');
	const struct gkf_value_info *info;

	if (!text)
		return fake_usage(
		    "ctl set: '%s' is not KEY=VALUE, as in temperature=95",
		    arg);
	*text++ = '\0';
	if (!strncmp(arg, "latency", 7) && (!arg[7] || arg[7] == '.'))
		return parse_latency(ctl, arg, text, ret_change);
	if (!strcmp(arg, "permission"))
		return parse_permission(ctl, text, ret_change);
	if (!strcmp(arg, "conf-compute"))
		return parse_conf_compute(ctl, text, ret_change);
	if (!strncmp(arg, "nvlink.", 7)) {
		ret_change->value = -1;
		return ctl_link_parse(arg, text, &ret_change->link);
	}
	ret_change->value = ctl_value(arg);
	if (ret_change->value < 0)
		return GK_EXIT_USAGE;
	info = &gkf_values[ret_change->value];
	if (gkf_spec_value(text, info->unit, &ret_change->to) ||
	    ret_change->to < info->min || ret_change->to > info->max)
		return fake_usage("ctl set: %s=%s: must be %lld to %lld%s%s "
				  "(%s)",
				  arg, text, (long long)info->min,
				  (long long)info->max, *info->unit ? " " : "",
				  info->unit, info->help);
	return 0;
}

/* Checks that every GPU can take the value. */
static int check_value(struct ctl *ctl, uint64_t gpus,
		       const struct change *change)
{
	const struct gkf_value_info *info;
	int64_t min, max;

	if (!is_of_gpu(change))
		return 0;
	info = &gkf_values[change->value < 0 ? 0 : change->value];
	for (unsigned i = 0; i < gkf_device_count(ctl->machine); i++) {
		if (!(gpus >> i & 1))
			continue;
		if (change->value < 0) {
			if (ctl_link_check(ctl, i, &change->link))
				return GK_EXIT_FAILURE;
			continue;
		}
		if (!gkf_value_range(ctl->machine, i,
				     (enum gkf_value)change->value, &min, &max))
			return fake_failure(
			    "ctl set: GPU %u (%s) has no %s", i,
			    gkf_board(ctl->machine, i)->profile.name,
			    info->name);
		if (change->to < min || change->to > max)
			return fake_failure(
			    "ctl set: GPU %u (%s): %s must be %lld to %lld %s",
			    i, gkf_board(ctl->machine, i)->profile.name,
			    info->name, (long long)min, (long long)max,
			    info->unit);
	}
	return 0;
}

static int apply_value(struct ctl *ctl, uint64_t gpus,
		       const struct change *change)
{
	if (!is_of_gpu(change)) {
		atomic_store(change->word, (uint64_t)change->to);
		return 0;
	}
	for (unsigned i = 0; i < gkf_device_count(ctl->machine); i++) {
		int err = 0;

		if (gpus >> i & 1 && change->value < 0) {
			if (ctl_link_apply(ctl, i, &change->link))
				return GK_EXIT_FAILURE;
			continue;
		}
		if (gpus >> i & 1)
			err = gkf_value_set(ctl->machine, i,
					    (enum gkf_value)change->value,
					    change->to);
		if (err)
			return fake_failure("ctl set: GPU %u: %s: %s", i,
					    gkf_values[change->value].name,
					    gk_strerror(err));
	}
	return 0;
}

int ctl_set(struct ctl *ctl, int argc, char **argv)
{
	struct change *changes = calloc((size_t)argc, sizeof *changes);
	bool has_gpus = !strchr(argv[0], '=');
	uint64_t gpus = 0;
	int code = 0, n = 0;

	if (!changes)
		return fake_failure("out of memory");
	if (has_gpus)
		code = ctl_gpus(ctl, argv[0], &gpus);
	if (!code && has_gpus && argc == 1)
		code = fake_usage("usage: gpukit fake ctl set [GPU] "
				  "KEY=VALUE...");
	/* All changes are parsed and checked before the first is made. */
	for (int i = has_gpus; !code && i < argc; i++) {
		code = parse_change(ctl, argv[i], &changes[n]);
		if (!code && is_of_gpu(&changes[n++]) && !has_gpus)
			code = fake_usage("ctl set: no GPU; use `ctl set 0 "
					  "%s=...` or `ctl set all %s=...`",
					  argv[i], argv[i]);
	}
	for (int i = 0; !code && i < n; i++)
		code = check_value(ctl, gpus, &changes[i]);
	for (int i = 0; !code && i < n; i++)
		code = apply_value(ctl, gpus, &changes[i]);
	free(changes);
	return code;
}
