/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prometheus.c - formats a snapshot for Prometheus with the chosen set of
 * names.
 */
#include "base/assert.h"
#include "format/prometheus/prometheus_part.h"

#include <stdlib.h>

static int64_t gpu_memory(const struct gk_process *p)
{
	return p->m[GK_PM_GPU_MEM].why ? -1 : p->m[GK_PM_GPU_MEM].v;
}

/* Marks the processes to show: those with the most memory, up to the limit. */
static void choose_processes(struct gk_rendering *r)
{
	size_t most = r->options->most_processes, count = 0;

	for (size_t i = 0; i < r->snap->process_count; i++)
		r->shown[i] = r->options->processes;
	if (!r->options->processes || !most || r->snap->process_count <= most)
		return;
	/*
	 * For each process, counts the processes that have more memory.
	 * Quadratic, but there are a few thousand processes at most.
	 */
	for (size_t i = 0; i < r->snap->process_count; i++) {
		int64_t own = gpu_memory(&r->snap->processes[i]);
		size_t before = 0;

		for (size_t k = 0; k < r->snap->process_count; k++) {
			int64_t other = gpu_memory(&r->snap->processes[k]);

			before += other > own || (other == own && k < i);
		}
		r->shown[i] = before < most;
		count += r->shown[i];
	}
	r->left_out = r->snap->process_count - count;
}

/*
 * For each set of names: a function that adds its families, and one that adds
 * the metrics they need to a set.
 */
static const struct {
	void (*render)(struct gk_rendering *);
	void (*metrics)(struct gk_metric_set *); /* NULL: gk_own_metrics() */
	bool details; /* needs the texts of gk_detail, too */
} sets[GK_NAMES_COUNT] = {
    [GK_NAMES_GPUKIT] = {gk_render_own, NULL, false},
    [GK_NAMES_DCGM] = {gk_render_dcgm, gk_dcgm_metrics, false},
    [GK_NAMES_NVITOP] = {gk_render_nvitop, gk_nvitop_metrics, true},
    [GK_NAMES_NVIDIA_SMI] = {gk_render_nvidia_smi, gk_nvidia_smi_metrics, true},
    [GK_NAMES_OTEL] = {gk_render_otel, gk_otel_metrics, false},
};

void gk_format_prometheus(struct gk_buf *out, const struct gk_snapshot *snap,
			  const struct gk_prometheus *options)
{
	struct gk_rendering r = {
	    .text = {.out = out,
		     .openmetrics = options->openmetrics &&
				    options->names == GK_NAMES_GPUKIT},
	    .snap = snap,
	    .options = options,
	};

	GK_ASSERT(options->names < GK_NAMES_COUNT);
	r.device_labels =
	    calloc(snap->device_count + 1, sizeof *r.device_labels);
	r.shown = calloc(snap->process_count + 1, sizeof *r.shown);
	if (r.device_labels && r.shown) {
		choose_processes(&r);
		sets[options->names].render(&r);
		gk_exposition_end(&r.text);
	} else {
		out->failed = true;
	}
	for (size_t i = 0; r.device_labels && i < snap->device_count; i++) {
		out->failed |= r.device_labels[i].failed;
		gk_buf_free(&r.device_labels[i]);
	}
	free(r.device_labels);
	free(r.shown);
}

#define AWAY                                                                   \
	"# HELP gpukit_up " GK_UP_HELP "\n# TYPE gpukit_up gauge\n"            \
	"gpukit_up 0\n"

const char *gk_prometheus_away(const struct gk_prometheus *options,
			       bool openmetrics)
{
	if (openmetrics)
		return AWAY "# EOF\n";
	return options->names == GK_NAMES_NVIDIA_SMI ? AWAY
		   "nvidia_smi_last_collect_success 0\n"
						     : AWAY;
}

void gk_prometheus_metrics(const struct gk_prometheus *options,
			   struct gk_metric_set *ret_set, bool *ret_detail)
{
	struct gk_metric_set set = {0};

	GK_ASSERT(options->names < GK_NAMES_COUNT);
	if (sets[options->names].metrics)
		sets[options->names].metrics(&set);
	else
		gk_own_metrics(options, &set);
	*ret_detail = sets[options->names].details;
	for (int i = 0; i < GK_M_COUNT; i++)
		if (gk_metric_set_has(&set, (enum gk_metric)i) &&
		    gk_metrics[i].tier == GK_TIER_DETAIL)
			*ret_detail = true;
	*ret_set = set;
}
