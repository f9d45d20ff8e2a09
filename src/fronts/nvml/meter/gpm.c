/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpm.c - GPU performance monitoring (GPM). A sample is a copy of a device's
 * state, with its running sums; a metric is computed from the difference of two
 * samples.
 *
 * Samples are in a table of this process, and a handle is an address in it, so
 * that invalid handles are never dereferenced. Samples stay valid after
 * nvmlShutdown, as allocated memory would. If two threads use one sample at
 * once, its content may be inconsistent, but nothing worse happens.
 */
#include "base/pair.h"
#include "base/units.h"
#include "fronts/nvml/mig/mig_handle.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/mig_state.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/model/link.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/store/board.h"
#include "machine/store/settings.h"

#include <stddef.h>
#include <string.h>

#define SAMPLES_MAX 4096

/* A sample's content consists of 64-bit words, as gk_words_copy() needs. */
struct content {
	uint64_t filled;
	uint64_t machine; /* the seed, which tells machines apart */
	uint64_t device;
	/* 0: the whole device. Otherwise a GPU instance: its id + 1 in the
	 * lower 32 bits, and in the upper ones a number that distinguishes it
	 * from later instances with the same id. */
	uint64_t part;
	struct gkf_state state;
	uint64_t link[GKF_LINKS_MAX][2]; /* bytes received, sent */
};

struct nvmlGpmSample_st {
	_Atomic unsigned used;
	struct content content;
};

static struct nvmlGpmSample_st samples[SAMPLES_MAX];
/* where the search for a free sample starts */
static _Atomic unsigned next_sample;

/* The sample of a handle; NULL if the handle is invalid. */
static struct nvmlGpmSample_st *find_sample(const void *handle)
{
	size_t offset = (uintptr_t)handle - (uintptr_t)samples;
	size_t i = offset / sizeof(*samples);

	if (offset % sizeof(*samples) || i >= SAMPLES_MAX ||
	    !atomic_load(&samples[i].used))
		return NULL;
	return &samples[i];
}

static bool has_gpm(const struct gkf_profile *p)
{
	return p->compute_major >= 9; /* Hopper and later */
}

nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device,
				       nvmlGpmSupport_t *gpmSupport)
{
	ENTER_DEVICE(nvmlGpmQueryDeviceSupport, device, gpmSupport != NULL);
	if (gpmSupport->version != NVML_GPM_SUPPORT_VERSION)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	gpmSupport->isSupportedDevice = has_gpm(&c.board->profile);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmQueryIfStreamingEnabled(nvmlDevice_t device,
					    unsigned int *state)
{
	int64_t on;

	ENTER_DEVICE(nvmlGpmQueryIfStreamingEnabled, device, state != NULL);
	if (!has_gpm(&c.board->profile) ||
	    !read_device_value(&c, GKF_V_GPM_STREAMING, &on))
		return NVML_ERROR_NOT_SUPPORTED;
	*state = (unsigned)on;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSetStreamingEnabled(nvmlDevice_t device, unsigned int state)
{
	ENTER_DEVICE(nvmlGpmSetStreamingEnabled, device, state <= 1);
	if (!has_gpm(&c.board->profile))
		return NVML_ERROR_NOT_SUPPORTED;
	return front_error(gkf_value_set(c.machine, c.index,
					 GKF_V_GPM_STREAMING, (int64_t)state));
}

nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *gpmSample)
{
	unsigned start;

	ENTER(nvmlGpmSampleAlloc, gpmSample != NULL);
	start = atomic_fetch_add(&next_sample, 1);
	for (unsigned i = 0; i < SAMPLES_MAX; i++) {
		struct nvmlGpmSample_st *s =
		    &samples[(start + i) % SAMPLES_MAX];
		unsigned was = 0;

		if (!atomic_compare_exchange_strong(&s->used, &was, 1))
			continue;
		__atomic_store_n(&s->content.filled, 0, __ATOMIC_RELAXED);
		*gpmSample = s;
		return NVML_SUCCESS;
	}
	return NVML_ERROR_MEMORY;
}

nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t gpmSample)
{
	struct nvmlGpmSample_st *s = find_sample(gpmSample);
	unsigned was = 1;

	ENTER(nvmlGpmSampleFree, s != NULL);
	return atomic_compare_exchange_strong(&s->used, &was, 0)
		   ? NVML_SUCCESS
		   : NVML_ERROR_INVALID_ARGUMENT;
}

/* Samples the whole device, except for its links. */
static void begin_sample(const struct call *c, struct content *ret_now)
{
	*ret_now = (struct content){.filled = 1,
				    .machine = gkf_machine_seed(c->machine),
				    .device = c->index};
	gkf_state_now(c->machine, c->index, &ret_now->state);
}

/*
 * Samples a GPU instance: only the work of its own engines. It has no PCIe bus.
 */
static nvmlReturn_t sample_part(const struct call *c, unsigned gi_id,
				struct nvmlGpmSample_st *s)
{
	struct gkf_mig_sums sums;
	struct gkf_mig_gi gi;
	struct content now;
	nvmlReturn_t r;

	if (!has_gpm(&c->board->profile) || !is_split(c))
		return NVML_ERROR_NOT_SUPPORTED;
	if (gkf_mig_gi_read(c->machine, c->index, gi_id, &gi))
		return NVML_ERROR_INVALID_ARGUMENT;
	begin_sample(c, &now);
	gkf_mig_sums(c->machine, c->index, gi_id, &sums);
	now.part = (uint64_t)gi.life << 32 | (gi_id + 1);
	now.state.gpu_sum = sums.gpu;
	now.state.sm_active_sum = sums.sm;
	now.state.sm_occupancy_sum = sums.occupancy;
	now.state.tensor_sum = sums.tensor;
	now.state.dram_sum = sums.dram;
	now.state.enc_sum = sums.enc;
	now.state.dec_sum = sums.dec;
	now.state.jpg_sum = sums.jpg;
	now.state.ofa_sum = sums.ofa;
	r = mig_confirm(c);
	if (!r)
		gk_words_copy(&s->content, &now, sizeof(now));
	return r;
}

nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t gpmSample)
{
	struct nvmlGpmSample_st *s = find_sample(gpmSample);
	struct content now;

	ENTER_DEVICE(nvmlGpmSampleGet, device, s != NULL);
	if (c.instance != GKF_NO_INSTANCE)
		return sample_part(&c, GKF_INSTANCE_GI(c.instance), s);
	if (!has_gpm(&c.board->profile))
		return NVML_ERROR_NOT_SUPPORTED;
	begin_sample(&c, &now);
	for (unsigned i = 0; i < gkf_links(c.machine, c.index); i++)
		for (unsigned way = 0; way < 2; way++)
			now.link[i][way] = gkf_link_bytes(c.machine, c.index, i,
							  (enum gkf_way)way);
	gk_words_copy(&s->content, &now, sizeof(now));
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device,
				 unsigned int gpuInstanceId,
				 nvmlGpmSample_t gpmSample)
{
	struct nvmlGpmSample_st *s = find_sample(gpmSample);

	ENTER_DEVICE(nvmlGpmMigSampleGet, device, s != NULL);
	return sample_part(&c, gpuInstanceId, s);
}

/* How a metric is computed from the growth of a sum. */
enum kind {
	NOTHING,
	SHARE_OF_TIME,
	OF_ENGINE,
	BYTES_A_SECOND,
	OF_LINK,
	OF_ALL_LINKS,
};

struct metric {
	enum kind kind;
	unsigned sum;      /* offset of the sum in struct content */
	unsigned permille; /* the metric is this many thousandths of `sum` */
	/* the number of engines or links: offset in the profile */
	unsigned count;
	unsigned n; /* index of the engine or link */
	const char *name, *text;
};

#define SUM(member) .sum = offsetof(struct content, member)
#define COUNT(member, which)                                                   \
	.count = offsetof(struct gkf_profile, member), .n = (which)
#define METRIC(tail, ...)                                                      \
	[NVML_GPM_METRIC_##tail] = {.name = #tail, __VA_ARGS__},
#define SHARE(tail, member, part, words)                                       \
	METRIC(tail, .kind = SHARE_OF_TIME, SUM(state.member),                 \
	       .permille = (part), .text = words)
#define ENGINE(tail, member, engines, which, words)                            \
	METRIC(tail, .kind = OF_ENGINE, SUM(state.member),                     \
	       COUNT(engines, which), .text = words)
#define RATE(tail, member, words)                                              \
	METRIC(tail, .kind = BYTES_A_SECOND, SUM(state.member), .text = words)
#define LINK(tail, way, which, words)                                          \
	METRIC(tail, .kind = OF_LINK, SUM(link[which][way]),                   \
	       COUNT(nvlinks, which), .text = words)
#define LINKS(tail, way, words)                                                \
	METRIC(tail, .kind = OF_ALL_LINKS, SUM(link[0][way]), .text = words)
static const struct metric metrics[NVML_GPM_METRIC_MAX] = {
#include "fronts/nvml/meter/gpm_metrics.def"
};
#undef SUM
#undef COUNT
#undef METRIC
#undef SHARE
#undef ENGINE
#undef RATE
#undef LINK
#undef LINKS

static double sum_growth(const struct content *from, const struct content *to,
			 unsigned offset)
{
	uint64_t a, b;

	a = *(const uint64_t *)((const char *)from + offset);
	b = *(const uint64_t *)((const char *)to + offset);
	return b > a ? (double)(b - a) : 0;
}

/* Returns the growth of a sum. For OF_ALL_LINKS, adds up the growth of the sums
 * of all links. */
static double grown_of(const struct metric *m, const struct content *from,
		       const struct content *to)
{
	double all = 0;

	if (m->kind != OF_ALL_LINKS)
		return sum_growth(from, to, m->sum);
	for (unsigned i = 0; i < GKF_LINKS_MAX; i++)
		all += sum_growth(from, to,
				  m->sum + i * (unsigned)sizeof(from->link[0]));
	return all;
}

static bool board_has(const struct gkf_profile *p, const struct metric *m)
{
	const char *count = (const char *)p + m->count;

	if (m->kind == OF_ENGINE || m->kind == OF_LINK)
		return m->n < *(const int64_t *)(const void *)count;
	if (m->kind == BYTES_A_SECOND)
		return p->pcie_width > 0;
	return m->kind != OF_ALL_LINKS || p->nvlinks > 0;
}

static nvmlReturn_t compute_metric(const struct gkf_profile *p,
				   const struct metric *m,
				   const struct content *from,
				   const struct content *to, double *ret_value)
{
	double bins = (double)(to->state.bin - from->state.bin);
	double sum = grown_of(m, from, to);

	if (m->kind == NOTHING || !board_has(p, m))
		return NVML_ERROR_NOT_SUPPORTED;
	if (bins <= 0)
		/* both samples are of the same bin */
		return NVML_ERROR_NO_DATA;
	if (m->kind == SHARE_OF_TIME)
		*ret_value = sum / bins / 10 * m->permille / 1000;
	else if (m->kind == OF_ENGINE)
		*ret_value = sum / bins / 10;
	else
		*ret_value = sum / (double)MIB * GKF_BINS_PER_S / bins;
	/* An instance's sums may be one bin newer than its state. */
	if (m->kind <= OF_ENGINE && *ret_value > 100)
		*ret_value = 100;
	return NVML_SUCCESS;
}

/* NVML's struct lacks the const, but no one writes to the text. */
static void give_text(char **to, const char *text)
{
	memcpy(to, &text, sizeof(text));
}

static void fill_metric(const struct gkf_profile *p, nvmlGpmMetric_t *out,
			const struct content *from, const struct content *to)
{
	const struct metric *m;
	bool percent;

	out->nvmlReturn = NVML_ERROR_INVALID_ARGUMENT;
	if (out->metricId == 0 || out->metricId >= NVML_GPM_METRIC_MAX)
		return;
	m = &metrics[out->metricId];
	out->nvmlReturn = compute_metric(p, m, from, to, &out->value);
	if (m->kind == NOTHING)
		return;
	percent = m->kind == SHARE_OF_TIME || m->kind == OF_ENGINE;
	give_text(&out->metricInfo.shortName, m->name);
	give_text(&out->metricInfo.longName, m->text);
	give_text(&out->metricInfo.unit, percent ? "%" : "MiB/s");
}

/* Copies a sample. False if it was not taken on this machine. */
static bool read_sample(const struct call *c, nvmlGpmSample_t handle,
			struct content *ret)
{
	struct nvmlGpmSample_st *s = find_sample(handle);

	if (!s)
		return false;
	gk_words_copy(ret, &s->content, sizeof(*ret));
	return ret->filled && ret->machine == gkf_machine_seed(c->machine) &&
	       ret->device < c->device_count;
}

/* The profile of a sample's board; for a GPU instance, reduced to its engines.
 */
static struct gkf_profile board_of_sample(const struct call *c,
					  const struct content *sample)
{
	struct gkf_profile p =
	    gkf_board(c->machine, (unsigned)sample->device)->profile;
	struct gkf_mig_gi gi;

	if (!sample->part)
		return p;
	p.nvlinks = p.pcie_width = 0;
	p.encoders = p.decoders = p.jpegs = p.ofas = 0;
	if (gkf_mig_gi_read(c->machine, (unsigned)sample->device,
			    (unsigned)sample->part - 1, &gi))
		return p; /* the instance is gone */
	p.encoders = gi.profile->encoders;
	p.decoders = gi.profile->decoders;
	p.jpegs = gi.profile->jpegs;
	p.ofas = gi.profile->ofas;
	return p;
}

nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *metricsGet)
{
	struct content from, to;
	struct gkf_profile p;

	ENTER(nvmlGpmMetricsGet, metricsGet != NULL);
	if (metricsGet->version != NVML_GPM_METRICS_GET_VERSION)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (metricsGet->numMetrics == 0 ||
	    metricsGet->numMetrics > NVML_GPM_METRIC_MAX ||
	    !read_sample(&c, metricsGet->sample1, &from) ||
	    !read_sample(&c, metricsGet->sample2, &to) ||
	    from.device != to.device || from.part != to.part ||
	    from.state.bin > to.state.bin)
		return NVML_ERROR_INVALID_ARGUMENT;
	p = board_of_sample(&c, &to);
	for (unsigned i = 0; i < metricsGet->numMetrics; i++)
		fill_metric(&p, &metricsGet->metrics[i], &from, &to);
	return NVML_SUCCESS;
}
