/* SPDX-License-Identifier: Apache-2.0 */
/* missing.c - lists the NVML functions used here that a driver lacks. */
#include "core/context.h"
#include "base/array.h"

#include <string.h>

/*
 * gpukit never calls these functions. Their presence tells which layout the
 * driver uses for process lists.
 */
static const char *const signs[] = {
    "nvmlDeviceGetConfComputeMemSizeInfo",
    "nvmlDeviceGetRunningProcessDetailList",
};

/* Functions that have two names. */
static const char *const same[][2] = {
    {"nvmlDeviceGetCurrentClocksEventReasons",
     "nvmlDeviceGetCurrentClocksThrottleReasons"},
    {"nvmlDeviceGetSupportedClocksEventReasons",
     "nvmlDeviceGetSupportedClocksThrottleReasons"},
    {"nvmlDeviceGetTemperatureV", "nvmlDeviceGetTemperature"},
};

static bool is_sign(const char *name)
{
	for (size_t i = 0; i < COUNT(signs); i++)
		if (!strcmp(signs[i], name))
			return true;
	return false;
}

/* The length of a name without its version, "_v2". */
static size_t stem_length(const char *name)
{
	return strcspn(name, "_");
}

/* Whether two functions are versions or names of the same function. */
static bool are_alike(const char *a, const char *b)
{
	for (size_t i = 0; i < COUNT(same); i++)
		if ((!strcmp(a, same[i][0]) && !strcmp(b, same[i][1])) ||
		    (!strcmp(a, same[i][1]) && !strcmp(b, same[i][0])))
			return true;
	return stem_length(a) == stem_length(b) &&
	       !strncmp(a, b, stem_length(a));
}

static bool function_is_there(const struct gk_nvml *nvml, size_t i)
{
	void *address;

	memcpy(&address, (const char *)nvml + gk_nvml_symbols[i].offset,
	       sizeof address);
	return address != NULL;
}

static bool is_newer(size_t i, size_t than)
{
	unsigned since = gk_nvml_symbols[i].since;
	unsigned then = gk_nvml_symbols[than].since;

	return since != then ? since > then : i > than;
}

/* Whether the driver lacks function i in all its versions and names. Of those
 * versions and names, only the newest counts as missing. */
static bool is_missing(const struct gk_nvml *nvml, size_t i)
{
	const char *name = gk_nvml_symbols[i].name;

	if (is_sign(name) ||
	    (gk_nvml_symbols[i].need == GK_NVML_MORE && !nvml->more))
		return false;
	for (size_t k = 0; k < GK_NVML_SYMBOLS; k++)
		if (are_alike(gk_nvml_symbols[k].name, name) &&
		    (function_is_there(nvml, k) || is_newer(k, i)))
			return false;
	return true;
}

size_t gk_missing_functions(const struct gk *gk, const char **ret_names,
			    size_t cap)
{
	size_t count = 0;

	for (size_t i = 0; i < GK_NVML_SYMBOLS; i++) {
		if (!is_missing(gk->nvml, i))
			continue;
		if (count < cap)
			ret_names[count] = gk_nvml_symbols[i].name;
		count++;
	}
	return count;
}
