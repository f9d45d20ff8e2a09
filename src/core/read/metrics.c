/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - owns the tables of metrics, and the words for absent values. */
#include <gpukit/gpukit.h>

#define METRIC(id, name, unit, kind, tier, least, most, help)                  \
	{name, help, GK_UNIT_##unit, GK_KIND_##kind, GK_TIER_##tier},

const struct gk_metric_info gk_metrics[GK_M_ROOM] = {
#include <gpukit/metrics.def>
};

const struct gk_metric_info gk_process_metrics[GK_PM_ROOM] = {
#include <gpukit/process_metrics.def>
};

#undef METRIC

_Static_assert(GK_M_COUNT < GK_M_ROOM && GK_PM_COUNT < GK_PM_ROOM &&
		   GK_T_COUNT < GK_T_ROOM && GK_L_COUNT < GK_L_ROOM &&
		   GK_TIER_COUNT < GK_TIER_ROOM,
	       "the room of the ABI is used up");

const struct gk_fact_info gk_facts[GK_T_ROOM] = {
#define TEXT(id, name, help) {name, help},
#include <gpukit/texts.def>
#undef TEXT
};

const struct gk_metric_info gk_link_metrics[GK_L_ROOM] = {
#define LINK(id, name, unit, kind, least, most, help)                          \
	{name, help, GK_UNIT_##unit, GK_KIND_##kind, GK_TIER_DETAIL},
#include <gpukit/links.def>
#undef LINK
};

static const char *const absence[GK_ABSENCE_COUNT] = {
    [GK_PRESENT] = "present",
    [GK_ABSENT_NOT_READ] = "not read yet",
    [GK_ABSENT_NOT_SUPPORTED] = "not supported",
    [GK_ABSENT_NO_FUNCTION] = "driver library lacks the function",
    [GK_ABSENT_PERMISSION] = "permission denied",
    [GK_ABSENT_LOST] = "GPU is lost",
    [GK_ABSENT_TIMEOUT] = "driver did not answer in time",
    [GK_ABSENT_ERROR] = "driver reported an error",
    [GK_ABSENT_HIDDEN] = "hidden by /proc",
    [GK_ABSENT_ONE_SNAPSHOT] = "needs two snapshots",
    [GK_ABSENT_RESET] = "GPU requires restart",
    [GK_ABSENT_NONE] = "there is none",
    [GK_ABSENT_NONSENSE] = "nonsense",
};

const char *gk_absence_text(enum gk_absence why)
{
	if ((unsigned)why >= GK_ABSENCE_COUNT || !absence[why])
		return "unknown";
	return absence[why];
}

const char *gk_link_end_name(enum gk_link_end end)
{
	static const char *const names[GK_LINK_END_COUNT] = {
	    [GK_LINK_END_UNKNOWN] = "unknown",
	    [GK_LINK_END_GPU] = "gpu",
	    [GK_LINK_END_SWITCH] = "switch",
	    [GK_LINK_END_CPU] = "cpu",
	};

	return (unsigned)end < GK_LINK_END_COUNT ? names[end] : "unknown";
}

const char *gk_path_name(enum gk_path path)
{
	static const char *const names[GK_PATH_COUNT] = {
	    [GK_PATH_UNKNOWN] = "unknown",
	    [GK_PATH_SELF] = "self",
	    [GK_PATH_BOARD] = "one board",
	    [GK_PATH_SINGLE] = "one PCIe switch",
	    [GK_PATH_MULTIPLE] = "PCIe switches",
	    [GK_PATH_HOSTBRIDGE] = "host bridge",
	    [GK_PATH_NODE] = "one NUMA node",
	    [GK_PATH_SYSTEM] = "between NUMA nodes",
	};

	return (unsigned)path < GK_PATH_COUNT ? names[path] : "unknown";
}
