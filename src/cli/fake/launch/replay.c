/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - creates the machine that a recording describes, and starts the
 * child that plays it.
 */
#include "cli/fake/launch/replay.h"
#include "base/err.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/where.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/store/board_name.h"
#include "machine/words/profile_yaml.h"
#include "machine/words/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- opening ---- */

static int tell_tape_error(const char *path, int err)
{
	return fake_failure("--replay %s: %s", path, gk_tape_strerror(err));
}

/* Reads the first snapshot that is not damaged. */
static int read_first(struct gk_tape *tape, struct gk_snapshot **ret_snap)
{
	int err = GK_ERR_CORRUPT;

	for (size_t i = 0; err == GK_ERR_CORRUPT && i < gk_tape_count(tape);
	     i++)
		err = gk_tape_read(tape, i, ret_snap);
	return err;
}

int fake_replay_open(struct fake_options *options,
		     struct fake_replay *ret_replay)
{
	struct fake_replay replay = {0};
	int err;

	if (options->gpus || options->load_count || options->mig_count ||
	    options->scenario_name)
		return fake_usage("--replay defines GPUs and processes; leave "
				  "out --gpus, --load, --mig and --scenario");
	err = gk_tape_open(options->replay, &replay.tape);
	if (!err)
		err = read_first(replay.tape, &replay.first);
	if (err) {
		gk_tape_close(replay.tape);
		return tell_tape_error(options->replay, err);
	}
	if (!options->driver) {
		options->generation =
		    gkf_generation_find(replay.first->driver_version);
		options->driver =
		    options->generation ? replay.first->driver_version : NULL;
	}
	*ret_replay = replay;
	return 0;
}

void fake_replay_close(struct fake_replay *replay)
{
	gk_snapshot_free(replay->first);
	gk_tape_close(replay->tape);
	*replay = (struct fake_replay){0};
}

/* ---- the GPUs of the machine ---- */

/*
 * The members of a profile that come from a snapshot: a member is the metric
 * divided by `scale`.
 */
static const struct {
	enum gk_metric metric;
	size_t member;
	int64_t scale;
} facts[] = {
#define FACT(metric, member, scale)                                            \
	{                                                                      \
		GK_M_##metric, offsetof(struct gkf_profile, member), scale     \
	}
    FACT(MEM_TOTAL, memory_mib, MIB),
    FACT(MEM_RESERVED, reserved_mib, MIB),
    FACT(BAR1_TOTAL, bar1_mib, MIB),
    FACT(POWER_DEFAULT, power_limit_mw, 1),
    FACT(POWER_MIN, power_min_mw, 1),
    FACT(POWER_MAX, power_max_mw, 1),
    FACT(SM_CLOCK_MAX, sm_clock_max_mhz, 1000000),
    FACT(MEM_CLOCK_MAX, mem_clock_max_mhz, 1000000),
    FACT(VIDEO_CLOCK_MAX, video_clock_max_mhz, 1000000),
    FACT(TEMP_SLOWDOWN, temp_slowdown_c, 1),
    FACT(TEMP_SHUTDOWN, temp_shutdown_c, 1),
    FACT(PCIE_GEN_MAX, pcie_gen, 1),
    FACT(PCIE_WIDTH_MAX, pcie_width, 1),
#undef FACT
};

/* Clamps values to the range that profiles allow. */
static void bound_profile(struct gkf_profile *p)
{
#define FIELD(member, key, min, max, help)                                     \
	if (p->member < (min))                                                 \
		p->member = (min);                                             \
	if (p->member > (max))                                                 \
		p->member = (max);
	GKF_PROFILE_INTEGERS(FIELD)
#undef FIELD
	if (p->reserved_mib > p->memory_mib)
		p->reserved_mib = 0;
}

static void take_facts(const struct gk_device *d, struct gkf_profile *p)
{
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		if (d->m[facts[i].metric].why == GK_PRESENT)
			*(int64_t *)((char *)p + facts[i].member) =
			    d->m[facts[i].metric].v / facts[i].scale;
	gk_str_copy(p->name, sizeof p->name, d->name);
	if (*d->vbios)
		gk_str_copy(p->vbios, sizeof p->vbios, d->vbios);
	if (d->compute_major > 0) {
		p->compute_major = d->compute_major;
		p->compute_minor = d->compute_minor;
	}
	if (d->m[GK_M_FAN].why == GK_PRESENT && !p->fans)
		p->fans = 1;
	bound_profile(p);
}

/*
 * Returns "3g.40gb" for "NVIDIA A100-SXM4-80GB MIG 1c.3g.40gb", and "1c" in
 * ret_slice.
 */
static const char *mig_profile(const struct gk_device *d, char *ret_slice,
			       size_t cap)
{
	const char *at = strstr(d->name, " MIG ");
	size_t len;

	*ret_slice = '\0';
	if (!at)
		return "";
	at += strlen(" MIG ");
	len = strspn(at, "0123456789");
	if (at[len] != 'c')
		return at;
	snprintf(ret_slice, cap, "%.*s", (int)len + 1, at);
	return at + len + 2;
}

/*
 * Writes how a GPU is split, in the syntax of --mig: "3g.40gb(1c+2c)+1g.10gb".
 */
static void tell_split(const struct gk_snapshot *snap, int gpu,
		       struct gkf_profile *p)
{
	struct gk_buf out = {0};
	int instance = -1;
	char slice[8];

	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];
		const char *profile = mig_profile(d, slice, sizeof slice);
		bool same = d->gpu_instance == instance;

		if (d->parent != gpu)
			continue;
		if (same && *slice && out.len)
			out.len--; /* removes the closing bracket */
		if (!same)
			gk_buf_printf(&out, "%s%s", out.len ? "+" : "",
				      profile);
		if (*slice)
			gk_buf_printf(&out, "%s%s)", same ? "+" : "(", slice);
		instance = d->gpu_instance;
	}
	p->mig_layout[0] = '\0';
	if (p->mig >= 0)
		p->mig = snap->devices[gpu].m[GK_M_MIG_MODE].why == GK_PRESENT
			     ? snap->devices[gpu].m[GK_M_MIG_MODE].v == 1
			     : 0;
	if (p->mig > 0 && out.len && !out.failed &&
	    out.len < sizeof p->mig_layout)
		gk_str_copy(p->mig_layout, sizeof p->mig_layout, out.data);
	gk_buf_free(&out);
}

/* Finds the profile with the GPU's name, or else the default profile. */
static void find_profile(const char *name, const char *dir,
			 struct gkf_profile *ret_profile)
{
	char message[FAKE_MESSAGE_MAX], *ids, *state = NULL;
	struct gk_buf list = {0};
	unsigned count;

	*ret_profile = gkf_profile_default;
	gkf_profile_list(dir, &list);
	ids = list.data;
	for (char *id = ids ? strtok_r(ids, ", ", &state) : NULL; id;
	     id = strtok_r(NULL, ", ", &state)) {
		struct gkf_profile found[GKF_DEVICES_MAX];

		if (gkf_spec_gpus("--replay", dir, id, found, &count,
				  message) ||
		    strcmp(found[0].name, name) != 0)
			continue;
		*ret_profile = found[0];
		break;
	}
	gk_buf_free(&list);
}

int fake_replay_profiles(const struct fake_replay *replay,
			 struct gkf_profile *ret_profiles, unsigned *ret_count)
{
	char dir[PATH_MAX];
	unsigned count = 0;

	if (gk_where_profiles(dir, sizeof dir))
		return fake_failure("cannot find the profiles; set "
				    "GPUKIT_PROFILES to their directory");
	for (size_t i = 0; i < replay->first->device_count; i++) {
		const struct gk_device *d = &replay->first->devices[i];

		if (d->mig_index >= 0)
			continue;
		if (count == GKF_DEVICES_MAX)
			return fake_failure("--replay: a machine has room for "
					    "%d GPUs",
					    GKF_DEVICES_MAX);
		if (count && !strcmp(d->name, ret_profiles[count - 1].name))
			ret_profiles[count] = ret_profiles[count - 1];
		else
			find_profile(d->name, dir, &ret_profiles[count]);
		take_facts(d, &ret_profiles[count]);
		tell_split(replay->first, (int)i, &ret_profiles[count++]);
	}
	*ret_count = count;
	return 0;
}

static struct gkf_board_name name_of_board(const struct gk_device *d)
{
	struct gkf_board_name n = {.minor = d->minor};

	gk_str_copy(n.uuid, sizeof n.uuid, d->uuid);
	gk_str_copy(n.serial, sizeof n.serial, d->serial);
	n.has_place = sscanf(d->bus_id, "%x:%x:%x", &n.pci_domain, &n.pci_bus,
			     &n.pci_device) == 3;
	return n;
}

void fake_replay_names(const struct fake_replay *replay,
		       struct gkf_board_name *ret_named)
{
	unsigned gpu = 0;

	for (size_t i = 0;
	     i < replay->first->device_count && gpu < GKF_DEVICES_MAX; i++)
		if (replay->first->devices[i].mig_index < 0)
			ret_named[gpu++] =
			    name_of_board(&replay->first->devices[i]);
}

/* ---- playing ---- */

static void __attribute__((noreturn))
become_player(struct fake_replay *replay, const struct fake_options *a,
	      const char *path, pid_t launcher, int ready)
{
	double speed = a->speed ? (double)a->speed / 1000 : 1;
	struct gk_replay *player;
	struct gkf_machine *m;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_NAME, "gpukit-player");
	if (getppid() != launcher)
		_exit(GK_EXIT_FAILURE);
	setpgid(0, 0);
	fake_signals_release();
	setenv("GPUKIT_MACHINE", path, 1);
	if (gk_replay_new(replay->tape, speed, &player) || fake_open(path, &m))
		_exit(GK_EXIT_FAILURE);
	gk_replay_pause(player, a->frozen);
	_exit(fake_player_run(player, m, ready, a->until_end ? launcher : 0));
}

int fake_replay_start(struct fake_replay *replay,
		      const struct fake_options *options, const char *path,
		      struct fake_children *ret_children)
{
	struct fake_children children = {.pid = calloc(1, sizeof(pid_t))};
	pid_t launcher = getpid();
	int ready[2];
	char byte;

	if (!children.pid || pipe2(ready, O_CLOEXEC)) {
		free(children.pid);
		return fake_failure("--replay: %s", strerror(errno));
	}
	children.pid[0] = fork();
	if (!children.pid[0])
		become_player(replay, options, path, launcher, ready[1]);
	close(ready[1]);
	children.count = children.pid[0] > 0;
	if (children.pid[0] < 0 || read(ready[0], &byte, 1) != 1) {
		close(ready[0]);
		fake_children_end(&children);
		return fake_failure(
		    "--replay: the recording cannot be replayed");
	}
	close(ready[0]);
	*ret_children = children;
	return 0;
}
