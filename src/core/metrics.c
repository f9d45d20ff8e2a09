/* metrics.c - the tables of metrics and the words for absent values. */
#include <gpukit/gpukit.h>

#define METRIC(id, name, unit, kind, tier, help)                               \
	{name, help, GK_UNIT_##unit, GK_KIND_##kind, GK_TIER_##tier},

const struct gk_metric_info gk_metrics[GK_M_COUNT] = {
#include <gpukit/metrics.def>
};

const struct gk_metric_info gk_process_metrics[GK_PM_COUNT] = {
#include <gpukit/process_metrics.def>
};

#undef METRIC

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
};

const char *gk_absence_text(enum gk_absence why)
{
	if ((unsigned)why >= GK_ABSENCE_COUNT || !absence[why])
		return "unknown";
	return absence[why];
}
