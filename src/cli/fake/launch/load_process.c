/*
 * load_process.c - a load process: attached to one GPU with some memory and a
 * wave, so that monitors find it in /proc.
 */
#include "cli/fake/load_process.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "machine/file/numbers.h"
#include "machine/file/wave_state.h"
#include "machine/model/mig.h"
#include "machine/store/board.h"
#include "machine/store/books.h"
#include "machine/store/clock.h"
#include "machine/store/ledger.h"
#include "machine/store/machine.h"
#include "machine/words/scenario_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The clock may have been set while a load waited for its end. */
#define LOOK_AGAIN_NS (500 * GK_NS_PER_MS)

static const char *const kind_names[] = {
    [GKF_WAVE_TRAIN] = "train",
    [GKF_WAVE_INFER] = "infer",
    [GKF_WAVE_IDLE] = "idle",
};

/* In the greatest unit that says it exactly. */
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

/* Arguments that are left out when they are 0. */
static const struct word {
	const char *key;
	size_t offset;
	unsigned scale;
	bool always, working; /* said of every load, of those that work */
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
    {"seed", AT(wave.seed), 1, true, true},
    {"load", AT(wave.load), 1, false, false},
#undef AT
};
#define WORDS (sizeof words / sizeof *words)

/* Times are longer than a word: bins of a scenario. */
static const struct {
	const char *key;
	size_t offset;
} times[] = {
    {"start=", offsetof(struct fake_load_process, wave.start_bin)},
    {"stop=", offsetof(struct fake_load_process, wave.stop_bin)},
};
#define TIMES (sizeof times / sizeof *times)

static uint32_t job_word(const struct fake_load_process *job,
			 const struct word *word)
{
	uint32_t value;

	memcpy(&value, (const char *)job + word->offset, sizeof value);
	return value;
}

static bool is_said(const struct fake_load_process *job,
		    const struct word *word)
{
	uint32_t value = job_word(job, word);

	if (word->working && job->wave.kind == GKF_WAVE_IDLE)
		return false;
	if (word->offset == offsetof(struct fake_load_process, mig))
		return value != FAKE_NO_MIG;
	return word->always || value;
}

/* Formats the arguments that a scenario adds. */
static int
format_scenario(const struct fake_load_process *job, int n,
		char text[FAKE_LOAD_PROCESS_ARGS][FAKE_LOAD_PROCESS_ARG])
{
	uint64_t bin;

	if (!job->wave.load)
		return n;
	for (size_t i = 0; i < TIMES; i++) {
		memcpy(&bin, (const char *)job + times[i].offset, sizeof bin);
		snprintf(text[n++], FAKE_LOAD_PROCESS_ARG, "%s%llu",
			 times[i].key, (unsigned long long)bin);
	}
	snprintf(text[n++], FAKE_LOAD_PROCESS_ARG, "job=%s", job->name);
	return n;
}

int fake_load_process_format(
    const struct fake_load_process *job,
    char text[FAKE_LOAD_PROCESS_ARGS][FAKE_LOAD_PROCESS_ARG])
{
	bool works = job->wave.kind != GKF_WAVE_IDLE;
	int n = 0;

	snprintf(text[n++], FAKE_LOAD_PROCESS_ARG, FAKE_LOAD_NAME);
	snprintf(text[n++], FAKE_LOAD_PROCESS_ARG, "%s",
		 kind_names[job->wave.kind]);
	for (size_t i = 0; i < WORDS; i++) {
		if (!is_said(job, &words[i]))
			continue;
		snprintf(text[n++], FAKE_LOAD_PROCESS_ARG, "%s=%u",
			 words[i].key,
			 job_word(job, &words[i]) / words[i].scale);
		/* Where it is stands before how it works. */
		if (i == 0 && job->mig == FAKE_NO_MIG)
			format_memory(job->mem, text[n++]);
		if (words[i].offset == offsetof(struct fake_load_process, mig))
			format_memory(job->mem, text[n++]);
		if (works &&
		    words[i].offset ==
			offsetof(struct fake_load_process, wave.util_permille))
			snprintf(text[n++], FAKE_LOAD_PROCESS_ARG, "period=%gs",
				 (double)job->wave.period_ns / 1e9);
	}
	return format_scenario(job, n, text);
}

/* Reads one "key=value" of the child's arguments. */
static int parse_job_arg(const char *arg, struct fake_load_process *job)
{
	const char *value = strchr(arg, '=');
	uint64_t number;
	size_t len = value ? (size_t)(value - arg) : 0;

	if (!len)
		return GK_ERR_INVALID;
	if (!strncmp(arg, "period=", 7))
		return gk_parse_duration(value + 1, &job->wave.period_ns);
	if (!strncmp(arg, "job=", 4))
		return gk_str_copy(job->name, sizeof job->name, value + 1) <
			       sizeof job->name
			   ? 0
			   : GK_ERR_RANGE;
	if (gk_parse_size(value + 1, &number))
		return GK_ERR_INVALID;
	for (size_t i = 0; i < TIMES; i++)
		if (!strncmp(arg, times[i].key, strlen(times[i].key)))
			return memcpy((char *)job + times[i].offset, &number,
				      sizeof number),
			       0;
	if (!strncmp(arg, "mem=", 4)) {
		job->mem = number;
		return 0;
	}
	for (size_t i = 0; i < WORDS; i++) {
		uint32_t word = (uint32_t)number * words[i].scale;

		if (strlen(words[i].key) != len ||
		    strncmp(arg, words[i].key, len))
			continue;
		memcpy((char *)job + words[i].offset, &word, sizeof word);
		return 0;
	}
	return GK_ERR_INVALID;
}

static int parse_job(int argc, char **argv, struct fake_load_process *ret_job)
{
	struct fake_load_process job = {.mig = FAKE_NO_MIG};

	for (unsigned k = GKF_WAVE_IDLE; k <= GKF_WAVE_INFER; k++)
		if (argc > 1 && !strcmp(argv[1], kind_names[k]))
			job.wave.kind = k;
	if (job.wave.kind == GKF_WAVE_NONE)
		return GK_ERR_INVALID;
	for (int i = 2; i < argc; i++)
		if (parse_job_arg(argv[i], &job))
			return GK_ERR_INVALID;
	*ret_job = job;
	return 0;
}

static int start_job(struct gkf_machine *m, const struct fake_load_process *job,
		     unsigned *ret_slot)
{
	uint32_t instance = GKF_NO_INSTANCE;
	struct gkf_mig_ci ci;
	int err = 0;

	/* A step of the scenario puts its loads into MIG devices. */
	if (!job->wave.load && job->mig != FAKE_NO_MIG &&
	    job->gpu < gkf_device_count(m)) {
		err = gkf_mig_by_index(m, job->gpu, job->mig, &ci);
		if (!err)
			instance = GKF_INSTANCE(ci.gi, ci.id);
	}
	if (!err)
		err = gkf_attach_instance(m, job->gpu, instance, GKF_COMPUTE,
					  &job->wave, ret_slot);

	if (err)
		return fake_failure("load on GPU %u: cannot attach: %s",
				    job->gpu, gk_strerror(err));
	err = gkf_books_charge(m, *ret_slot, job->mem);
	if (err) {
		gkf_detach(m, *ret_slot);
		return fake_failure(
		    "load on GPU %u: %.1f GiB: %s; lower mem=", job->gpu,
		    (double)job->mem / (double)GIB, gk_strerror(err));
	}
	return 0;
}

/* Tells the launcher that this process is attached. */
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
 * Until a signal comes, or the time of a scenario's load has been over for a
 * second: nobody sees the load any more, but how GPUs were shared in the last
 * second is reckoned from those that are attached.
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
	struct fake_load_process job;
	unsigned slot;
	int code;

	fake_signals_hold();
	prctl(PR_SET_NAME, FAKE_LOAD_NAME);
	if (parse_job(argc, argv, &job))
		return fake_usage(FAKE_LOAD_NAME " is started by `gpukit fake "
						 "load`, not by hand");
	code = fake_open(NULL, &m);
	if (code)
		return code;
	code = start_job(m, &job, &slot);
	if (!code)
		code = tell_ready();
	if (!code) {
		hold_load(m, &job.wave);
		gkf_detach(m, slot);
	}
	gkf_machine_close(m);
	return code;
}
