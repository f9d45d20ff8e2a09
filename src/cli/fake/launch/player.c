/* SPDX-License-Identifier: Apache-2.0 */
/*
 * player.c - plays a recording on a made-up machine, at the recording's pace.
 */
#include "base/clock.h"
#include "base/err.h"
#include "cli/cmd.h"
#include "cli/fake/launch/replay.h"
#include "cli/fake/launch/replay_process.h"
#include "machine/file/board.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/model.h"
#include "machine/store/board.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/trouble/fault.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * How long the processes appear to have worked already when the first snapshot
 * is shown, because values of a snapshot describe the time before it.
 */
#define WARM_UP_NS (2 * GK_NS_PER_S)

/*
 * The maximum number of processes at a time; real machines seldom have as many.
 */
#define ACTORS_MAX 512

/*
 * Metrics of a recording, and the machine's values that they set: a value is
 * the metric divided by `scale`.
 */
static const struct {
	enum gk_metric metric;
	enum gkf_value value;
	int64_t scale;
} values[] = {
    {GK_M_GPU_UTIL, GKF_V_GPU_UTIL, 1},
    {GK_M_MEM_UTIL, GKF_V_MEM_UTIL, 1},
    {GK_M_ENC_UTIL, GKF_V_ENC_UTIL, 1},
    {GK_M_DEC_UTIL, GKF_V_DEC_UTIL, 1},
    {GK_M_JPG_UTIL, GKF_V_JPG_UTIL, 1},
    {GK_M_OFA_UTIL, GKF_V_OFA_UTIL, 1},
    {GK_M_TEMP, GKF_V_TEMPERATURE, 1},
    {GK_M_TEMP_MEM, GKF_V_MEM_TEMPERATURE, 1},
    {GK_M_POWER, GKF_V_POWER, 1},
    {GK_M_POWER, GKF_V_POWER_AVERAGE, 1},
    {GK_M_POWER_LIMIT, GKF_V_POWER_LIMIT, 1},
    {GK_M_FAN, GKF_V_FAN, 1},
    {GK_M_SM_CLOCK, GKF_V_SM_CLOCK, 1000000},
    {GK_M_MEM_CLOCK, GKF_V_MEM_CLOCK, 1000000},
    {GK_M_VIDEO_CLOCK, GKF_V_VIDEO_CLOCK, 1000000},
    {GK_M_PSTATE, GKF_V_PSTATE, 1},
    {GK_M_THROTTLE, GKF_V_THROTTLE, 1},
    {GK_M_ENERGY, GKF_V_ENERGY, 1},
    {GK_M_PERSISTENCE, GKF_V_PERSISTENCE, 1},
    {GK_M_DISPLAY_ACTIVE, GKF_V_DISPLAY_ACTIVE, 1},
    {GK_M_DISPLAY_MODE, GKF_V_DISPLAY_MODE, 1},
    {GK_M_ECC_MODE, GKF_V_ECC_MODE, 1},
    {GK_M_ECC_CORRECTED, GKF_V_ECC_CORRECTED, 1},
    {GK_M_ECC_UNCORRECTED, GKF_V_ECC_UNCORRECTED, 1},
    {GK_M_PCIE_GEN, GKF_V_PCIE_GEN, 1},
    {GK_M_PCIE_WIDTH, GKF_V_PCIE_WIDTH, 1},
    {GK_M_PCIE_TX, GKF_V_PCIE_TX, 1000},
    {GK_M_PCIE_RX, GKF_V_PCIE_RX, 1000},
    {GK_M_BAR1_USED, GKF_V_BAR1_USED, 1},
};

struct player {
	struct gkf_machine *m;
	struct fake_replay_process *actors;
	size_t count, cap;
	unsigned snapshot; /* number of the current snapshot */
	bool lost[GKF_DEVICES_MAX];
	bool left_out, told; /* left_out: more than ACTORS_MAX processes exist;
			      * told: a message has said so */
};

/* ---- GPUs ---- */

/*
 * Returns the index of the machine's GPU that stands for a recorded GPU or for
 * the GPU of a recorded MIG device. Returns the number of GPUs if there is
 * none. A GPU that was lost before the recording began has no UUID and is found
 * by its index.
 */
static unsigned whole_gpu_of(const struct player *p,
			     const struct gk_snapshot *snap,
			     const struct gk_device *d)
{
	const struct gk_device *whole =
	    d->parent >= 0 ? &snap->devices[d->parent] : d;
	unsigned count = gkf_device_count(p->m), gpu = 0;

	if (!*whole->uuid)
		return whole->index < count ? whole->index : count;
	while (gpu < count &&
	       strcmp(gkf_board(p->m, gpu)->uuid, whole->uuid) != 0)
		gpu++;
	return gpu;
}

static void lose_or_mend(struct player *p, unsigned gpu, bool lost)
{
	if (p->lost[gpu] == lost)
		return;
	p->lost[gpu] = lost;
	if (lost)
		gkf_fault_begin(p->m, gpu, GKF_FAULT_LOST, 0);
	else
		gkf_fault_end(p->m, gpu, GKF_FAULT_BIT(GKF_FAULT_LOST));
}

/*
 * Sets the recorded values. Ignores errors: the board may lack a value or have
 * a smaller maximum.
 */
static void set_values(struct player *p, unsigned gpu,
		       const struct gk_device *d)
{
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		const struct gk_value *v = &d->m[values[i].metric];

		if (v->why == GK_PRESENT)
			gkf_value_set(p->m, gpu, values[i].value,
				      v->v / values[i].scale);
	}
}

/* Returns the used memory that no known process holds, in bytes. */
static int64_t extra_memory(const struct gk_snapshot *snap, size_t at)
{
	const struct gk_device *d = &snap->devices[at];
	int64_t extra = d->m[GK_M_MEM_USED].v;

	if (d->m[GK_M_MEM_USED].why)
		return 0;
	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *q = &snap->processes[i];
		const struct gk_device *on = &snap->devices[q->device];

		if ((q->device == at || on->parent == (int)at) &&
		    !q->m[GK_PM_GPU_MEM].why)
			extra -= q->m[GK_PM_GPU_MEM].v;
	}
	return extra > 0 ? extra : 0;
}

static void set_gpus(struct player *p, const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];
		unsigned gpu = whole_gpu_of(p, snap, d);

		if (d->mig_index >= 0 || gpu == gkf_device_count(p->m))
			continue;
		lose_or_mend(p, gpu, d->health == GK_HEALTH_LOST);
		set_values(p, gpu, d);
		gkf_value_set(p->m, gpu, GKF_V_EXTRA_MEMORY,
			      extra_memory(snap, i));
	}
}

/* Frees the extra memory, as processes may need it. */
static void make_process_room(struct player *p)
{
	for (unsigned gpu = 0; gpu < gkf_device_count(p->m); gpu++)
		gkf_value_set(p->m, gpu, GKF_V_EXTRA_MEMORY, 0);
}

/* ---- processes ---- */

static struct fake_replay_process *actor_of(struct player *p,
					    const struct gk_process *q)
{
	struct fake_replay_process *more;

	for (size_t i = 0; i < p->count; i++)
		if (p->actors[i].recorded == q->pid &&
		    p->actors[i].start == q->start_ticks)
			return &p->actors[i];
	if (p->count == ACTORS_MAX) {
		p->left_out = true;
		return NULL;
	}
	if (p->count == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 64;

		more = realloc(p->actors, cap * sizeof *more);
		if (!more)
			return NULL;
		p->actors = more;
		p->cap = cap;
	}
	if (fake_replay_process_start(q, &p->actors[p->count]))
		return NULL;
	return &p->actors[p->count++];
}

static uint32_t percent_of_value(struct gk_value value)
{
	return value.why || value.v < 0 ? 0
	       : value.v > 100          ? 100
					: (uint32_t)value.v;
}

static void place_recorded(struct player *p, const struct gk_snapshot *snap,
			   const struct gk_process *q)
{
	unsigned gpu = whole_gpu_of(p, snap, &snap->devices[q->device]);
	struct gk_value mem = q->m[GK_PM_GPU_MEM];
	struct fake_replay_process *actor;

	if (gpu == gkf_device_count(p->m))
		return;
	actor = actor_of(p, q);
	if (!actor)
		return;
	if (actor->seen != p->snapshot)
		actor->order.count = 0;
	actor->seen = p->snapshot;
	if (actor->order.count == FAKE_REPLAY_PROCESS_TARGETS)
		return;
	actor->order.targets[actor->order.count++] =
	    (struct fake_replay_process_target){
		.gpu = gpu,
		.mig = (uint32_t)(snap->devices[q->device].mig_index + 1),
		.types = q->types ? q->types & 7 : GKF_COMPUTE,
		.bytes = mem.why ? 0 : (uint64_t)mem.v,
		.sm = percent_of_value(q->m[GK_PM_SM_UTIL]),
		.mem = percent_of_value(q->m[GK_PM_MEM_UTIL]),
		.enc = percent_of_value(q->m[GK_PM_ENC_UTIL]),
		.dec = percent_of_value(q->m[GK_PM_DEC_UTIL]),
	    };
}

/*
 * Ends the processes that the recording no longer contains before it starts new
 * ones, to free their memory.
 */
static void set_processes(struct player *p, const struct gk_snapshot *snap)
{
	size_t kept = 0;

	for (size_t i = 0; i < snap->process_count; i++)
		place_recorded(p, snap, &snap->processes[i]);
	for (size_t i = 0; i < p->count; i++) {
		if (p->actors[i].seen == p->snapshot)
			p->actors[kept++] = p->actors[i];
		else
			fake_replay_process_end(&p->actors[i]);
	}
	p->count = kept;
	gkf_reap(p->m, true);
	for (size_t i = 0; i < p->count; i++)
		fake_replay_process_tell(&p->actors[i]);
}

static void play_snapshot(struct player *p, const struct gk_snapshot *snap)
{
	p->snapshot++;
	make_process_room(p);
	set_processes(p, snap);
	set_gpus(p, snap);
	if (p->left_out && !p->told)
		fake_tell("--replay: only %d processes at a time can be "
			  "replayed; the others are left out",
			  ACTORS_MAX);
	p->told |= p->left_out;
}

int fake_player_run(struct gk_replay *replay, struct gkf_machine *m, int ready,
		    pid_t launcher)
{
	struct player player = {.m = m};
	struct pollfd due = {.fd = gk_replay_fd(replay), .events = POLLIN};
	struct gk_snapshot *snap;
	bool jumped;

	for (;;) {
		if (!gk_replay_next(replay, &jumped, &snap)) {
			play_snapshot(&player, snap);
			gk_snapshot_free(snap);
		}
		if (ready >= 0) {
			gkf_machine_age(m, WARM_UP_NS);
			gkf_machine_settle(m);
			(void)!write(ready, "r", 1);
			close(ready);
			ready = -1;
		}
		if (gk_replay_ended(replay) && launcher) {
			kill(launcher, SIGTERM);
			launcher = 0;
		}
		while (poll(&due, 1, -1) < 0 && errno == EINTR)
			;
	}
}
