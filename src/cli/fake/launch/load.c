/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - starts load processes. These are real children, so that monitors
 * find them in /proc; each is attached to one GPU, holds some memory there, and
 * lets its utilization follow a wave. Implements `gpukit fake load`.
 */
#include "base/err.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/fake/fake.h"
#include "cli/fake/launch/load_process.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/store/board.h"
#include "machine/store/clock.h"
#include "machine/store/machine.h"
#include "machine/store/process/slot.h"
#include "machine/store/settings.h"
#include "machine/words/scenario_yaml.h"
#include "machine/words/spec.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 100 /* time between two checks for signals */

static uint64_t load_bytes(const struct gkf_load_spec *load,
			   const struct fake_target *target,
			   const struct gkf_profile *profile)
{
	return gkf_spec_bytes(load, target->room_mib, profile);
}

static bool is_load_on(const struct gkf_load_spec *load, unsigned gpu,
		       unsigned k)
{
	return k ? load->mig[gpu] >> (k - 1) & 1 : load->gpus >> gpu & 1;
}

/* Checks that all loads on one target fit together. */
static int check_target(struct gkf_machine *m,
			const struct gkf_load_spec *loads, unsigned count,
			unsigned gpu, unsigned k)
{
	const struct gkf_profile *p = &gkf_board(m, gpu)->profile;
	struct fake_target target = {.mig = FAKE_NO_MIG};
	double asked = 0, room;
	int code = 0;

	for (unsigned i = 0; !code && i < count; i++) {
		if (!is_load_on(&loads[i], gpu, k))
			continue;
		code = fake_target_find(m, gpu, k, &target);
		if (!code)
			asked += (double)load_bytes(&loads[i], &target, p) *
				 loads[i].n;
	}
	if (code || asked <= 0)
		return code;
	room = (double)fake_target_free(m, &target);
	if (asked > room)
		return fake_failure("--load: GPU %u (%s)%s has %.1f GiB free, "
				    "but %.1f GiB are needed; lower mem= or n=",
				    gpu, p->name,
				    target.mig == FAKE_NO_MIG ? ""
							      : ": MIG device",
				    room / (double)GIB, asked / (double)GIB);
	return 0;
}

/* Checks that all loads fit, before any process starts. */
static int check_fit(struct gkf_machine *m, const struct gkf_load_spec *loads,
		     unsigned count)
{
	int code = 0;

	for (unsigned gpu = 0; gpu < gkf_device_count(m); gpu++)
		for (unsigned k = 0; !code && k < FAKE_TARGETS; k++)
			code = check_target(m, loads, count, gpu, k);
	return code;
}

/* ---- starting load processes ---- */

/*
 * Turns the child into a load process. It leaves the launcher's process group,
 * because signals of the terminal are meant for the command. It ends when the
 * launcher ends.
 */
static void __attribute__((noreturn))
become_load_process(pid_t launcher, int ready, const char *path,
		    char text[FAKE_LOAD_PROCESS_ARGS][FAKE_LOAD_PROCESS_ARG],
		    int argc)
{
	char *argv[FAKE_LOAD_PROCESS_ARGS + 1] = {0}, fd[16];
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; i < argc; i++)
		argv[i] = text[i];
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != launcher)
		_exit(GK_EXIT_FAILURE);
	setpgid(0, 0);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	fcntl(ready, F_SETFD, 0);
	snprintf(fd, sizeof fd, "%d", ready);
	setenv(FAKE_READY_FD, fd, 1);
	setenv("GPUKIT_MACHINE", path, 1);
	fake_signals_release();
	execv("/proc/self/exe", argv);
	fake_tell("cannot start a load process: %s", strerror(errno));
	_exit(GK_EXIT_FAILURE);
}

static int spawn_load(const char *path, const struct fake_load_process *process,
		      int ready, struct fake_children *children)
{
	char text[FAKE_LOAD_PROCESS_ARGS][FAKE_LOAD_PROCESS_ARG];
	pid_t launcher = getpid(), pid;
	int argc = fake_load_process_format(process, text);

	pid = fork();
	if (pid < 0)
		return fake_failure("cannot start a process: %s",
				    strerror(errno));
	if (!pid)
		become_load_process(launcher, ready, path, text, argc);
	children->pid[children->count++] = pid;
	return 0;
}

/* Starts the n processes of a load on one target. */
static int spawn_at(struct gkf_machine *m, const char *path,
		    const struct gkf_load_spec *load, unsigned gpu, unsigned k,
		    uint32_t first_seed, int ready,
		    struct fake_children *children)
{
	struct fake_target target;
	int code = fake_target_find(m, gpu, k, &target);

	for (unsigned i = 0; !code && i < load->n; i++) {
		struct fake_load_process process = {
		    .gpu = gpu,
		    .mig = target.mig,
		    .mem =
			load_bytes(load, &target, &gkf_board(m, gpu)->profile),
		    .wave = gkf_spec_wave(load, first_seed + children->count)};

		code = spawn_load(path, &process, ready, children);
	}
	return code;
}

/*
 * Returns the seed of the first load. It differs between machines with
 * different seeds, and from the seeds of loads that other commands have
 * started. On a machine without a seed, the first load gets 1.
 */
static uint32_t first_seed_on(const struct gkf_machine *m)
{
	return (uint32_t)(gkf_machine_seed(m) * 1000 + gkf_slots_high(m)) + 1;
}

static int spawn_all(struct gkf_machine *m, const char *path,
		     const struct gkf_load_spec *loads, unsigned count,
		     int ready, struct fake_children *children)
{
	uint32_t seed = first_seed_on(m);
	int code = 0;

	for (unsigned i = 0; i < count; i++)
		for (unsigned gpu = 0; gpu < gkf_device_count(m); gpu++)
			for (unsigned k = 0; !code && k < FAKE_TARGETS; k++)
				if (is_load_on(&loads[i], gpu, k))
					code =
					    spawn_at(m, path, &loads[i], gpu, k,
						     seed, ready, children);
	return code;
}

/* Returns the number of processes that a load needs. */
static unsigned processes_of(const struct gkf_load_spec *load)
{
	unsigned targets = (unsigned)__builtin_popcountll(load->gpus);

	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++)
		targets += (unsigned)__builtin_popcount(load->mig[i]);
	return targets * load->n;
}

/*
 * Waits for a byte from each process. If the pipe closes before that, a process
 * has failed and printed why. A signal ends the wait. If `child` is not 0, also
 * watches that process: as this process has the pipe open too, the pipe does
 * not close when the child ends.
 */
static int await_ready(int fd, unsigned count, pid_t child)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	siginfo_t ended = {0};
	char bytes[64];

	while (count) {
		size_t want = count < sizeof bytes ? count : sizeof bytes;
		int code = fake_signals_pending();
		ssize_t n;

		if (code)
			return code;
		if (poll(&ready, 1, LOOK_MS) <= 0) {
			if (child &&
			    waitid(P_PID, (id_t)child, &ended,
				   WEXITED | WNOHANG | WNOWAIT) == 0 &&
			    ended.si_pid == child)
				return GK_EXIT_FAILURE;
			continue;
		}
		n = read(fd, bytes, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return GK_EXIT_FAILURE;
		count -= (unsigned)n;
	}
	return 0;
}

/*
 * Starts one process after another, so that their order is the same in each
 * run.
 */
static int spawn_scenario(const char *path, const struct gkf_scenario *s,
			  const int ready[2], struct fake_children *children)
{
	int code = 0;

	for (unsigned i = 0; !code && i < s->load_count; i++) {
		const struct gkf_scenario_load *load = &s->loads[i];
		struct fake_load_process process = {.gpu = load->device,
						    .mig = load->mig,
						    .mem = load->bytes,
						    .wave = load->wave};

		gk_str_copy(process.name, sizeof process.name, load->name);
		code = spawn_load(path, &process, ready[1], children);
		if (!code)
			code = await_ready(ready[0], 1, children->pid[i]);
	}
	return code;
}

static int start_loads(struct gkf_machine *m, const char *path,
		       const struct gkf_load_spec *loads, unsigned count,
		       const struct gkf_scenario *scenario,
		       struct fake_children *children)
{
	unsigned total = scenario ? scenario->load_count : 0;
	int ready[2], code;

	for (unsigned i = 0; i < count; i++)
		total += processes_of(&loads[i]);
	if (total > GKF_SLOTS_MAX)
		return fake_failure("--load: %u processes are too many; a "
				    "machine has room for %d; lower n=",
				    total, GKF_SLOTS_MAX);
	children->pid = calloc(total + 1, sizeof *children->pid);
	if (!children->pid || pipe2(ready, O_CLOEXEC))
		return fake_failure("cannot start load: %s", strerror(errno));
	code = spawn_all(m, path, loads, count, ready[1], children);
	if (!code && scenario)
		code = spawn_scenario(path, scenario, ready, children);
	close(ready[1]);
	if (!code && !scenario)
		code = await_ready(ready[0], total, 0);
	close(ready[0]);
	return code;
}

/*
 * Makes the loads appear to have worked for some time. Also settles the
 * machine: computes the effects now, so that its readers need not.
 */
static void warm_up(struct gkf_machine *m, uint64_t ns)
{
	gkf_machine_age(m, ns);
	gkf_machine_settle(m);
}

static int parse_all(char *const *specs, unsigned count, unsigned gpus,
		     struct gkf_load_spec *loads)
{
	char message[FAKE_MESSAGE_MAX];

	for (unsigned i = 0; i < count; i++)
		if (gkf_spec_load("--load", specs[i], gpus, &loads[i], message))
			return fake_usage("%s", message);
	return 0;
}

int fake_children_start(const char *path, char *const *specs, unsigned count,
			const struct gkf_scenario *scenario,
			uint64_t warm_up_ns, struct fake_children *ret_children)
{
	struct fake_children children = {0};
	struct gkf_load_spec *loads = calloc(count + 1, sizeof *loads);
	struct gkf_machine *m;
	int code;

	if (!loads)
		return fake_failure("out of memory");
	code = fake_open(path, &m);
	if (code)
		goto out;
	code = parse_all(specs, count, gkf_device_count(m), loads);
	if (!code)
		code = check_fit(m, loads, count);
	if (!code)
		code = start_loads(m, path, loads, count, scenario, &children);
	if (!code)
		warm_up(m, warm_up_ns);
	gkf_machine_close(m);
	if (code)
		fake_children_end(&children);
	else
		*ret_children = children;
out:
	free(loads);
	return code;
}

/* ---- gpukit fake load ---- */

struct arguments {
	const char *name;
	char **specs;
	unsigned count;
};

static error_t parse_load_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'n':
		arguments->name = arg;
		return 0;
	case ARGP_KEY_ARGS:
		arguments->specs = state->argv + state->next;
		arguments->count = (unsigned)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state,
			   "no load; give one, such as train:0-3,mem=8GiB");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
    {"name", 'n', "MACHINE", 0, "The machine (GPUKIT_MACHINE, or the only one)",
     0},
    {0}};

const struct argp fake_load_argp = {
    argp_options,
    parse_load_option,
    "SPEC...",
    "Puts load on a running made-up machine until it is "
    "interrupted or all its processes have ended. SPEC is what --load "
    "of `gpukit fake` takes.\v" GK_ARG_SIZES,
    NULL,
    NULL,
    NULL};

/* Loads cannot run on a copy of another user's machine. */
static int check_writable(const char *path)
{
	struct gkf_machine *m;
	int code = fake_open(path, &m);

	if (code)
		return code;
	if (gkf_machine_is_copy(m))
		code = fake_refuse_change(path);
	gkf_machine_close(m);
	return code;
}

int fake_load(int argc, char **argv)
{
	struct arguments arguments = {0};
	struct fake_children children;
	char path[PATH_MAX];
	int code;

	gk_arg_parse(&fake_load_argp, ARGP_IN_ORDER, argc, argv, &arguments);
	code = fake_choose(arguments.name, path, sizeof path);
	if (!code)
		code = check_writable(path);
	if (code)
		return code;
	fake_signals_hold();
	code = fake_children_start(path, arguments.specs, arguments.count, NULL,
				   0, &children);
	if (code)
		return code;
	while (children.count && fake_signals_next() == SIGCHLD)
		fake_children_reap(&children);
	fake_children_end(&children);
	return GK_EXIT_OK;
}
