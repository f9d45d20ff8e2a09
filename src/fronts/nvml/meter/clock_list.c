/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_list.c - lists the clocks and performance states of a board. Each state
 * has one memory clock. The clocks of boards of which there are captures are in
 * clock_facts.def.
 */
#include "fronts/nvml/meter/clock.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"

#include <stdio.h>
#include <string.h>

#define CLOCKS_MAX 1024
#define MEMORY_MAX 8

/* A supported memory clock of a board, and its graphics clocks. */
static const struct fact {
	int64_t device;
	unsigned memory, highest, lowest;
} facts[] = {
#define CLOCKS(device, memory, highest, lowest)                                \
	{device, memory, highest, lowest},
#define APPLICATION(device, graphics)
#include "fronts/nvml/meter/clock_facts.def"
#undef CLOCKS
#undef APPLICATION
};

/*
 * Returns the row of a board's memory clock, or the board's first row if
 * memory_mhz is 0; NULL: there is no such row.
 */
static const struct fact *find_fact(const struct gkf_profile *p,
				    unsigned memory_mhz)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		if (facts[i].device == p->pci_device_id &&
		    (!memory_mhz || facts[i].memory == memory_mhz))
			return &facts[i];
	return NULL;
}

/*
 * Returns twice the step between graphics clocks, in MHz. The step is 15 MHz,
 * but 7.5 MHz on boards like B200 and GB300.
 */
static int64_t double_step(const struct gkf_profile *p)
{
	return p->compute_major == 10 ? 15 : 30;
}

/*
 * With memory at its slowest clock, graphics clocks go up to twice the idle
 * clock. This is an estimate for boards without a capture.
 */
static int64_t graphics_max(const struct gkf_profile *p, int64_t mem_mhz)
{
	const struct fact *fact = find_fact(p, (unsigned)mem_mhz);
	int64_t slow = 2 * p->sm_clock_idle_mhz;

	if (fact)
		return fact->highest;
	return mem_mhz != p->mem_clock_idle_mhz ||
		       p->mem_clock_idle_mhz == p->mem_clock_max_mhz ||
		       slow > p->sm_clock_max_mhz
		   ? p->sm_clock_max_mhz
		   : slow;
}

static int64_t graphics_min(const struct gkf_profile *p, int64_t mem_mhz)
{
	const struct fact *fact = find_fact(p, (unsigned)mem_mhz);

	return fact ? fact->lowest : p->sm_clock_idle_mhz;
}

bool clock_has_pstate(const struct gkf_profile *p, nvmlPstates_t pstate)
{
	return pstate == NVML_PSTATE_0 || (int64_t)pstate == p->pstate_idle ||
	       (int64_t)pstate == p->pstate_busy;
}

static int64_t memory_clock_of(const struct gkf_profile *p,
			       nvmlPstates_t pstate)
{
	if (pstate == NVML_PSTATE_0)
		return p->mem_clock_max_mhz;
	return (int64_t)pstate == p->pstate_busy ? p->mem_clock_busy_mhz
						 : p->mem_clock_idle_mhz;
}

/* Lists the memory clocks, highest first. Returns how many there are. */
static unsigned memory_clocks(const struct gkf_profile *p,
			      unsigned mhz[MEMORY_MAX])
{
	const int64_t all[] = {p->mem_clock_max_mhz, p->mem_clock_busy_mhz,
			       p->mem_clock_idle_mhz};
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		if (facts[i].device == p->pci_device_id && n < MEMORY_MAX)
			mhz[n++] = facts[i].memory;
	for (int i = 0; i < 3 && !find_fact(p, 0); i++)
		if (!n || mhz[n - 1] != all[i])
			mhz[n++] = (unsigned)all[i];
	return n;
}

bool clock_is_memory(const struct gkf_profile *p, unsigned mhz)
{
	unsigned all[MEMORY_MAX], n = memory_clocks(p, all);

	for (unsigned i = 0; i < n; i++)
		if (all[i] == mhz)
			return true;
	return false;
}

/*
 * Lists the graphics clocks for a memory clock: the lowest clock plus whole
 * steps. The highest one may be half a MHz more than what the board reports.
 * Returns how many there are.
 */
static unsigned graphics_clocks(const struct gkf_profile *p, int64_t mem_mhz,
				unsigned mhz[CLOCKS_MAX])
{
	int64_t step = double_step(p), least = 2 * graphics_min(p, mem_mhz);
	int64_t at = 2 * graphics_max(p, mem_mhz);
	unsigned n = 0;

	if ((at + 1 - least) % step == 0)
		at++;
	for (; at >= least && n < CLOCKS_MAX; at -= step)
		mhz[n++] = (unsigned)(at / 2);
	return n;
}

bool clock_is_graphics(const struct gkf_profile *p, unsigned mem_mhz,
		       unsigned mhz)
{
	unsigned all[CLOCKS_MAX], n = graphics_clocks(p, mem_mhz, all);

	for (unsigned i = 0; i < n; i++)
		if (all[i] == mhz)
			return true;
	return false;
}

/* *count is the capacity of `to`, and becomes the number of clocks. */
static nvmlReturn_t copy_clocks(const unsigned *from, unsigned n,
				unsigned *count, unsigned *to)
{
	unsigned room = *count;

	*count = n;
	if (room < n)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned i = 0; i < n; i++)
		to[i] = from[i];
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device,
						unsigned int *count,
						unsigned int *clocksMHz)
{
	unsigned mhz[MEMORY_MAX];

	ENTER_DEVICE(nvmlDeviceGetSupportedMemoryClocks, device,
		     count && (clocksMHz || !*count));
	return copy_clocks(mhz, memory_clocks(&c.board->profile, mhz), count,
			   clocksMHz);
}

nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device,
						  unsigned int memoryClockMHz,
						  unsigned int *count,
						  unsigned int *clocksMHz)
{
	unsigned mhz[CLOCKS_MAX];

	ENTER_DEVICE(nvmlDeviceGetSupportedGraphicsClocks, device,
		     count && (clocksMHz || !*count));
	if (!clock_is_memory(&c.board->profile, memoryClockMHz))
		return NVML_ERROR_NOT_FOUND;
	return copy_clocks(
	    mhz, graphics_clocks(&c.board->profile, memoryClockMHz, mhz), count,
	    clocksMHz);
}

nvmlReturn_t nvmlDeviceGetSupportedPerformanceStates(nvmlDevice_t device,
						     nvmlPstates_t *pstates,
						     unsigned int size)
{
	nvmlPstates_t found[NVML_MAX_GPU_PERF_PSTATES];
	unsigned n = 0, room = size / (unsigned)sizeof(*pstates);

	ENTER_DEVICE(nvmlDeviceGetSupportedPerformanceStates, device,
		     pstates != NULL);
	for (int p = 0; p < NVML_MAX_GPU_PERF_PSTATES; p++)
		if (clock_has_pstate(&c.board->profile, (nvmlPstates_t)p))
			found[n++] = (nvmlPstates_t)p;
	if (room < n)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned i = 0; i < room && i < NVML_MAX_GPU_PERF_PSTATES; i++)
		pstates[i] = i < n ? found[i] : NVML_PSTATE_UNKNOWN;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMinMaxClockOfPState(nvmlDevice_t device,
					      nvmlClockType_t type,
					      nvmlPstates_t pstate,
					      unsigned int *minClockMHz,
					      unsigned int *maxClockMHz)
{
	const struct gkf_profile *p;
	int64_t mem, low, high;

	ENTER_DEVICE(nvmlDeviceGetMinMaxClockOfPState, device,
		     minClockMHz && maxClockMHz &&
			 (unsigned)type < NVML_CLOCK_COUNT);
	p = &c.board->profile;
	if (!clock_has_pstate(p, pstate))
		return NVML_ERROR_INVALID_ARGUMENT;
	mem = memory_clock_of(p, pstate);
	switch (type) {
	case NVML_CLOCK_MEM:
		low = high = mem;
		break;
	case NVML_CLOCK_VIDEO:
		low = p->video_clock_idle_mhz;
		high = p->video_clock_max_mhz;
		break;
	case NVML_CLOCK_GRAPHICS:
	case NVML_CLOCK_SM:
	case NVML_CLOCK_COUNT:
	default:
		low = p->sm_clock_idle_mhz;
		high = graphics_max(p, mem);
	}
	*minClockMHz = (unsigned)low;
	*maxClockMHz = (unsigned)high;
	return NVML_SUCCESS;
}

/* ---- as text ---- */

struct text {
	char *at;
	size_t left;
};

static void put_pair(struct text *t, const char *name, int64_t value)
{
	int n = snprintf(t->at, t->left, "%s=%lld, ", name, (long long)value);

	if (n > 0 && (size_t)n < t->left) {
		t->at += n;
		t->left -= (size_t)n;
	}
}

/* Writes a clock: its value, minimum and maximum, and whether it can be set. */
static void put_clock(struct text *t, const char *name, int64_t now,
		      int64_t low, int64_t high, bool editable)
{
	char longer[48];

	put_pair(t, name, now);
	snprintf(longer, sizeof(longer), "%smin", name);
	put_pair(t, longer, low);
	snprintf(longer, sizeof(longer), "%smax", name);
	put_pair(t, longer, high);
	snprintf(longer, sizeof(longer), "%seditable", name);
	put_pair(t, longer, editable);
}

/* Replaces the last ", " with `with`. */
static void end_list_text(struct text *t, const char *with)
{
	t->at -= 2;
	t->left += 2;
	snprintf(t->at, t->left, "%s", with);
	t->at += strlen(t->at);
	t->left -= strlen(with);
}

static int64_t read_offset(const struct call *c, enum gkf_value id)
{
	int64_t v = 0;

	read_device_value(c, id, &v);
	return v;
}

/*
 * Writes the clocks of a state, shifted by the offsets. If a current clock is
 * -1, the state's own clock is written in its place.
 */
static void put_clocks(const struct call *c, struct text *t,
		       nvmlPstates_t pstate, int64_t sm_now, int64_t mem_now)
{
	const struct gkf_profile *p = &c->board->profile;
	bool editable = p->fans > 0 && pstate == NVML_PSTATE_0;
	int64_t sm_more = read_offset(c, GKF_V_SM_OFFSET);
	int64_t mem =
	    memory_clock_of(p, pstate) + read_offset(c, GKF_V_MEM_OFFSET);
	int64_t low = p->sm_clock_idle_mhz + sm_more;
	int64_t high = graphics_max(p, memory_clock_of(p, pstate)) + sm_more;

	put_clock(t, "nvclock", sm_now < 0 ? low : sm_now, low, high, editable);
	put_clock(t, "memclock", mem_now < 0 ? mem : mem_now, mem, mem,
		  editable);
	/* Memory makes two transfers per clock. */
	put_clock(t, "memtransferrate", 2 * (mem_now < 0 ? mem : mem_now),
		  2 * mem, 2 * mem, editable);
}

nvmlReturn_t nvmlDeviceGetPerformanceModes(nvmlDevice_t device,
					   nvmlDevicePerfModes_t *perfModes)
{
	struct text t;
	unsigned level = 0;

	ENTER_DEVICE(nvmlDeviceGetPerformanceModes, device, perfModes != NULL);
	if (!TAKES(perfModes->version, nvmlDevicePerfModes_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	t = (struct text){perfModes->str, sizeof(perfModes->str)};
	/* Levels are numbered from the slowest state upwards. */
	for (int p = NVML_MAX_GPU_PERF_PSTATES - 1; p >= 0; p--) {
		if (!clock_has_pstate(&c.board->profile, (nvmlPstates_t)p))
			continue;
		put_pair(&t, "perf", level++);
		put_clocks(&c, &t, (nvmlPstates_t)p, -1, -1);
		end_list_text(&t, p ? " ; " : " ;");
	}
	return NVML_SUCCESS;
}

nvmlReturn_t
nvmlDeviceGetCurrentClockFreqs(nvmlDevice_t device,
			       nvmlDeviceCurrentClockFreqs_t *currentClockFreqs)
{
	struct text t;
	unsigned sm = 0, mem = 0;
	int64_t pstate = 0;

	ENTER_DEVICE(nvmlDeviceGetCurrentClockFreqs, device,
		     currentClockFreqs != NULL);
	if (!TAKES(currentClockFreqs->version, nvmlDeviceCurrentClockFreqs_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	t = (struct text){currentClockFreqs->str,
			  sizeof(currentClockFreqs->str)};
	clock_now(&c, NVML_CLOCK_GRAPHICS, &sm);
	clock_now(&c, NVML_CLOCK_MEM, &mem);
	read_device_value(&c, GKF_V_PSTATE, &pstate);
	put_clocks(&c, &t, (nvmlPstates_t)pstate, sm, mem);
	end_list_text(&t, " ;");
	return NVML_SUCCESS;
}
