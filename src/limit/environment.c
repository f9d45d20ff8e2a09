/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.c - reads HAMi's variables as HAMi-core does, except that an
 * unreadable limit is an error and not "no limit".
 */
#include "limit/environment.h"
#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "limit/reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/*
 * HAMi-core's path, followed by the uid: users who share /tmp do not trust each
 * other.
 */
#define DEFAULT_REGION "/tmp/cudevshr-%u.cache"

/* The value of a variable; NULL: unset or empty. */
static const char *value_of(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static int refuse_value(const char *name, const char *value, const char *wanted)
{
	gk_log(GK_LOG_ERROR, "%s=%s is not %s", name, value, wanted);
	return GK_ERR_INVALID;
}

static bool parse_truth(const char *text, bool *ret_truth)
{
	static const struct {
		const char *text;
		bool truth;
	} rows[] = {
	    {"1", true},  {"true", true},   {"yes", true}, {"on", true},
	    {"0", false}, {"false", false}, {"no", false}, {"off", false},
	    {"t", true},  {"f", false},     {"y", true},   {"n", false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcasecmp(text, rows[i].text)) {
			*ret_truth = rows[i].truth;
			return true;
		}
	return false;
}

/*
 * Logs a value that is neither true nor false; the result is then `otherwise`.
 */
static bool truth_of(const char *name, bool otherwise)
{
	const char *value = value_of(name);
	bool truth = otherwise;

	if (value && !parse_truth(value, &truth))
		refuse_value(name, value, "true or false");
	return truth;
}

/* Logs that a limit cannot be read. GPU work will then be refused. */
static int refuse_limit(const char *name, const char *value, const char *wanted)
{
	gkl_reason_note("%s=%s is not %s", name, value, wanted);
	return refuse_value(name, value, wanted);
}

/* 0 means no limit. */
static int parse_bytes(const char *name, const char *value, uint64_t *ret_bytes)
{
	if (gk_parse_size(value, ret_bytes) ||
	    (!*ret_bytes && strpbrk(value, "123456789")))
		return refuse_limit(name, value,
				    "a size like 4096m, 2G or bytes");
	return 0;
}

/* A percentage; 0 and values of 100 or more mean no limit. */
static int parse_share(const char *name, const char *value, uint64_t *ret_share)
{
	int64_t percent;

	if (gk_parse_int(value, &percent) || percent < 0)
		return refuse_limit(name, value, "a percentage from 0 to 100");
	*ret_share = percent < 100 ? (uint64_t)percent : 0;
	return 0;
}

/* Limits for each device: NAME for all, NAME_<i> for one. */
struct limit {
	const char *name;
	size_t offset;
	int (*parse)(const char *name, const char *value, uint64_t *ret_value);
};

static const struct limit limits[] = {
    {"CUDA_DEVICE_MEMORY_LIMIT", offsetof(struct gkl_policy, memory),
     parse_bytes},
    {"CUDA_DEVICE_SM_LIMIT", offsetof(struct gkl_policy, compute), parse_share},
};

/* Reads NAME_<i> if that is set and not 0, else NAME. */
static int read_limit(const struct limit *limit, struct gkl_policy *policy,
		      bool *found)
{
	uint64_t *values = (uint64_t *)(void *)((char *)policy + limit->offset);
	const char *value = value_of(limit->name);
	uint64_t all = 0;
	int r = value ? limit->parse(limit->name, value, &all) : 0;

	*found |= value != NULL;
	for (int i = 0; !r && i < GKL_DEVICES; i++) {
		char name[64];
		uint64_t own = 0;

		snprintf(name, sizeof name, "%s_%d", limit->name, i);
		value = value_of(name);
		*found |= value != NULL;
		if (value)
			r = limit->parse(name, value, &own);
		values[i] = own ? own : all;
	}
	return r;
}

static uint64_t read_rule(void)
{
	static const char name[] = "GPU_CORE_UTILIZATION_POLICY";
	const char *value = value_of(name);

	if (!value || !strcasecmp(value, "default"))
		return GKL_MONITOR;
	if (!strcasecmp(value, "force"))
		return GKL_FIXED;
	if (!strcasecmp(value, "disable"))
		return GKL_OFF;
	refuse_value(name, value, "force, disable or default");
	return GKL_MONITOR;
}

/* HAMi's priority 0 comes before 1, the default. */
static uint64_t read_priority(void)
{
	static const char name[] = "CUDA_TASK_PRIORITY";
	const char *value = value_of(name);
	int64_t priority = 1;

	if (value && (gk_parse_int(value, &priority) || priority < 0)) {
		refuse_value(name, value, "0 or 1");
		priority = 1;
	}
	return (uint64_t)priority;
}

void gkl_environment_user(struct gkl_environment *e, uid_t user)
{
	snprintf(e->own_region, sizeof e->own_region, DEFAULT_REGION,
		 (unsigned)user);
}

static int read_hami(struct gkl_environment *e)
{
	const char *region = value_of("CUDA_DEVICE_MEMORY_SHARED_CACHE");
	bool found = region != NULL;

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		int r = read_limit(&limits[i], &e->policy, &found);

		if (r)
			return r;
	}
	e->policy.rule = read_rule();
	e->policy.priority = read_priority();
	e->policy.oom_killer = truth_of("ACTIVE_OOM_KILLER", false);
	e->policy.oversubscribe = truth_of("CUDA_OVERSUBSCRIBE", false);
	gkl_environment_user(e, geteuid());
	if (found)
		e->region = region ? region : e->own_region;
	return 0;
}

int gkl_environment_read(struct gkl_environment *ret_environment)
{
	struct gkl_environment e = {.group = value_of("GPUKIT_LIMIT_GROUP")};
	int r = 0;

	/* HAMi's switch turns off only HAMi's limits, not those of a group. */
	if (!e.group && !truth_of("CUDA_DISABLE_CONTROL", false))
		r = read_hami(&e);
	if (r)
		return r;
	*ret_environment = e;
	if (e.region == e.own_region)
		ret_environment->region = ret_environment->own_region;
	return 0;
}

bool gkl_environment_nvml(void)
{
	return truth_of("HOOK_NVML_ENABLE", true);
}

void gkl_environment_set_log(void)
{
	static const enum gk_log_level levels[] = {
	    GK_LOG_ERROR, GK_LOG_ERROR, GK_LOG_WARN, GK_LOG_INFO, GK_LOG_DEBUG};
	static const int64_t count = sizeof levels / sizeof *levels;
	const char *value = value_of("LIBCUDA_LOG_LEVEL");
	int64_t level;

	if (value && !gk_parse_int(value, &level) && level >= 0)
		gk_log_set_default(levels[level < count ? level : count - 1]);
}
