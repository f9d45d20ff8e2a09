/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_process.c - a load process. It is attached to one GPU, holds some memory
 * there, and lets its utilization follow a wave. Monitors find it in /proc.
 */
#include "cli/fake/launch/load_process.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "machine/file/numbers.h"
#include "machine/file/wave_state.h"
#include "machine/model/mig/mig.h"
#include "machine/store/board.h"
#include "machine/store/process/books.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/words/scenario_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * The maximum time of one wait for the load's end. The machine's clock may be
 * set meanwhile, so the remaining time is computed again after each wait.
 */
#define LOOK_AGAIN_NS (500 * GK_NS_PER_MS)

static const char *const kind_names[] = {
    [GKF_WAVE_TRAIN] = "train",
    [GKF_WAVE_INFER] = "infer",
    [GKF_WAVE_IDLE] = "idle",
};

/* Formats a size in the largest unit that divides it. */
static void format_memory(uint64_t mem, char text[FAKE_LOAD_PROCESS_ARG])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
	unsigned unit = 0;

	while (unit < 3 && mem % 1024 == 0) {
		mem /= 1024;
		unit++;
	}
	snprintf(text, FAKE_LOAD_PROCESS_ARG, "mem=%llu%s",
		 (unsigned long long)mem, units[unit]);
}

/* The numeric arguments. Most are left out if they are 0. */
static const struct word {
	const char *key;
	size_t offset;
	unsigned scale;
	/*
	 * `always`: the argument is written even if it is 0. `working`: the
	 * argument is only for loads that do work.
	 */
	bool always, working;
} words[] = {
#define AT(member) offsetof(struct fake_load_process, member)
    {"gpu", AT(gpu), 1, true, false},
    {"mig", AT(mig), 1, false, false},
    {"util", AT(wave.util_permille), 10, true, true},
    {"membw", AT(wave.mem_permille), 10, true, true},
    {"enc", AT(wave.encoder_permille), 10, false, true},
    {"dec", AT(wave.decoder_permille), 10, false, true},
    {"jpg", AT(wave.jpeg_permille), 10, false, true},
    {"ofa", AT(wave.ofa_permille), 10, false, true},
    {"gpus", AT(wave.gpus), 1, false, true},
    {"seed", AT(wave.seed), 1, true, true},
    {"load", AT(wave.load), 1, false, false},
#undef AT
};
#define WORDS (sizeof words / sizeof *words)

/*
 * The arguments that are times. Each is a 64-bit number of bins; a bin lasts
 * GKF_BIN_NS.
 */
static const struct {
	const char *key;
	size_t offset;
} times[] = {
    {"start=", offsetof(struct fake_load_process, wave.start_bin)},
    {"stop=", offsetof(struct fake_load_process, wave.stop_bin)},
};
#define TIMES (sizeof times / sizeof *times)

static uint32_t process_word(const struct fake_load_process *process,
			     const struct word *word)
{
	uint32_t value;

	memcpy(&value, (const char *)process + word->offset, sizeof value);
	return value;
}

static bool is_said(const struct fake_load_process *process,
		    const struct word *word)
{
	uint32_t value = process_word(process, word);

	if (word->working && process->wave.kind == GKF_WAVE_IDLE)
		return false;
	if (word->offset == offsetof(struct fake_load_process, mig))
		return value != FAKE_NO_MIG;
	return word->always || value;
}

/* Formats the arguments that only a scenario's loads have. */
static int
format_scenario(const struct fake_load_process *process, int n,
		char text[FAKE_LOAD_PROCESS_ARGS][FAKE_LOAD_PROCESS_ARG])
{
	uint64_t bin;

	if (!process->wave.load)
		return n;
	for (size_t i = 0; i < TIMES; i++) {
		memcpy(&bin, (const char *)process + times[i].offset,
		       sizeof bin);
		snprintf(text[n++], FAKE_LOAD_PROCESS_ARG, "%s%llu",
			 times[i].key, (unsigned long long)bin);
	}
	snprintf(text[n++], FAKE_LOAD_PROCESS_ARG, "name=%s", process->name);
	return n;
}

int fake_load_process_format(
    const struct fake_load_process *process,
    char text[FAKE_LOAD_PROCESS_ARGS][FAKE_LOAD_PROCESS_ARG])
{
	bool works = process->wave.kind != GKF_WAVE_IDLE;
	int n = 0;

	GK_ASSERT(process->wave.kind < sizeof kind_names / sizeof *kind_names);
	snprintf(text[n++], FAKE_LOAD_PROCESS_ARG, FAKE_LOAD_NAME);
	snprintf(text[n++], FAKE_LOAD_PROCESS_ARG, "%s",
		 kind_names[process->wave.kind]);
	for (size_t i = 0; i < WORDS; i++) {
		if (!is_said(process, &words[i]))
			continue;
		snprintf(text[n++], FAKE_LOAD_PROCESS_ARG, "%s=%u",
			 words[i].key,
			 process_word(process, &words[i]) / words[i].scale);
		/*
		 * Arguments that say where the load runs come before those that
		 * say how it works.
		 */
		if (i == 0 && process->mig == FAKE_NO_MIG)
			format_memory(process->mem, text[n++]);
		if (words[i].offset == offsetof(struct fake_load_process, mig))
			format_memory(process->mem, text[n++]);
		if (works &&
		    words[i].offset ==
			offsetof(struct fake_load_process, wave.util_permille))
			snprintf(text[n++], FAKE_LOAD_PROCESS_ARG, "period=%gs",
				 (double)process->wave.period_ns / 1e9);
	}
	return format_scenario(process, n, text);
}

/* Parses one "key=value" argument. */
static int parse_process_arg(const char *arg, struct fake_load_process *process)
{
	const char *value = strchr(arg, '=');
	uint64_t number;
	size_t len = value ? (size_t)(value - arg) : 0;

	if (!len)
		return GK_ERR_INVALID;
	if (!strncmp(arg, "period=", 7))
		return gk_parse_duration(value + 1, &process->wave.period_ns);
	if (!strncmp(arg, "name=", 5))
		return gk_str_copy(process->name, sizeof process->name,
				   value + 1) < sizeof process->name
			   ? 0
			   : GK_ERR_RANGE;
	if (gk_parse_size(value + 1, &number))
		return GK_ERR_INVALID;
	for (size_t i = 0; i < TIMES; i++)
		if (!strncmp(arg, times[i].key, strlen(times[i].key)))
			return memcpy((char *)process + times[i].offset,
				      &number, sizeof number),
			       0;
	if (!strncmp(arg, "mem=", 4)) {
		process->mem = number;
		return 0;
	}
	for (size_t i = 0; i < WORDS; i++) {
		uint32_t word = (uint32_t)number * words[i].scale;

		if (strlen(words[i].key) != len ||
		    strncmp(arg, words[i].key, len))
			continue;
		memcpy((char *)process + words[i].offset, &word, sizeof word);
		return 0;
	}
	return GK_ERR_INVALID;
}

static int parse_process(int argc, char **argv,
			 struct fake_load_process *ret_process)
{
	struct fake_load_process process = {.mig = FAKE_NO_MIG};

	for (unsigned k = GKF_WAVE_IDLE; k <= GKF_WAVE_INFER; k++)
		if (argc > 1 && !strcmp(argv[1], kind_names[k]))
			process.wave.kind = k;
	if (process.wave.kind == GKF_WAVE_NONE)
		return GK_ERR_INVALID;
	for (int i = 2; i < argc; i++)
		if (parse_process_arg(argv[i], &process))
			return GK_ERR_INVALID;
	*ret_process = process;
	return 0;
}

static int start_process(struct gkf_machine *m,
			 const struct fake_load_process *process,
			 unsigned *ret_slot)
{
	uint32_t instance = GKF_NO_INSTANCE;
	struct gkf_mig_ci ci;
	int err = 0;

	/*
	 * A scenario's loads get their MIG devices from a step of the scenario.
	 */
	if (!process->wave.load && process->mig != FAKE_NO_MIG &&
	    process->gpu < gkf_device_count(m)) {
		err = gkf_mig_by_index(m, process->gpu, process->mig, &ci);
		if (!err)
			instance = GKF_INSTANCE(ci.gi, ci.id);
	}
	if (!err)
		err =
		    gkf_attach_instance(m, process->gpu, instance, GKF_COMPUTE,
					&process->wave, ret_slot);

	if (err)
		return fake_failure("load on GPU %u: cannot attach: %s",
				    process->gpu, gk_strerror(err));
	err = gkf_books_charge(m, *ret_slot, process->mem);
	if (err) {
		gkf_detach(m, *ret_slot);
		return fake_failure(
		    "load on GPU %u: %.1f GiB: %s; lower mem=", process->gpu,
		    (double)process->mem / (double)GIB, gk_strerror(err));
	}
	return 0;
}

/* Tells the launcher that this process has attached. */
static int tell_ready(void)
{
	const char *text = getenv(FAKE_READY_FD);
	int64_t fd;

	if (!text || gk_parse_int(text, &fd))
		return 0;
	unsetenv(FAKE_READY_FD);
	if (write((int)fd, "r", 1) != 1)
		return fake_failure("the launcher is gone");
	close((int)fd);
	return 0;
}

/*
 * Waits for a signal or, for a scenario's load, until one second after the
 * load's end. In that second the load is no longer visible, but its process
 * must stay attached: the utilization of the last second is computed from
 * attached processes.
 */
static void hold_load(struct gkf_machine *m, const struct gkf_wave *wave)
{
	uint64_t end_ns = (wave->stop_bin + GKF_BINS_PER_S + 1) * GKF_BIN_NS;

	if (!wave->load || wave->stop_bin >= GKF_SCENARIO_FOREVER) {
		fake_signals_wait();
		return;
	}
	for (;;) {
		uint64_t left = gkf_real_until(m, end_ns);

		if (!left || fake_signals_wait_for(
				 left < LOOK_AGAIN_NS ? left : LOOK_AGAIN_NS))
			return;
	}
}

int fake_load_main(int argc, char **argv)
{
	struct gkf_machine *m;
	struct fake_load_process process;
	unsigned slot;
	int code;

	fake_signals_hold();
	prctl(PR_SET_NAME, FAKE_LOAD_NAME);
	if (parse_process(argc, argv, &process))
		return fake_usage(FAKE_LOAD_NAME " is started by `gpukit fake "
						 "load`, not by hand");
	code = fake_open(NULL, &m);
	if (code)
		return code;
	code = start_process(m, &process, &slot);
	if (!code)
		code = tell_ready();
	if (!code) {
		hold_load(m, &process.wave);
		gkf_detach(m, slot);
	}
	gkf_machine_close(m);
	return code;
}
