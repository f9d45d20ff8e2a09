/* SPDX-License-Identifier: Apache-2.0 */
/* manual.c - the pages of `gpukit fake` in the manual, and its completion. */
#include "cli/fake/manual.h"
#include "base/array.h"
#include "cli/fake/fake.h"
#include "cli/fake/options.h"
#include "cli/where.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

/* Adds the names of files NAME.yaml in a directory. */
static void add_yaml_names(struct gk_completion *answer, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);
		char name[256];

		if (len < 6 || strcmp(entry->d_name + len - 5, ".yaml") != 0)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)len - 5,
			 entry->d_name);
		gk_complete_word(answer, name, NULL);
	}
	if (dir)
		closedir(dir);
}

static void add_models(struct gk_completion *answer)
{
	char path[PATH_MAX];

	gk_complete_list(answer, ',');
	gk_complete_word(answer, "none", "no GPU");
	if (!gk_where_profiles(path, sizeof path))
		add_yaml_names(answer, path);
}

static void add_machines(struct gk_completion *answer)
{
	struct fake_machine *machines;
	unsigned count = fake_machines(&machines);

	for (unsigned i = 0; i < count; i++)
		gk_complete_word(answer, machines[i].name, "a machine");
	free(machines);
}

/* Adds each generation that fake_drivers() lists in "470, 535, 580". */
static void add_drivers(struct gk_completion *answer)
{
	char words[256], *next = words, *word;

	snprintf(words, sizeof words, "%s", fake_drivers());
	while ((word = strsep(&next, ", ")))
		if (*word)
			gk_complete_word(answer, word, NULL);
}

static void add_loads(struct gk_completion *answer)
{
	gk_complete_words(answer, "train,infer,idle", ',');
}

/* ---- completion ---- */

static const struct {
	const char *option;
	void (*add)(struct gk_completion *answer);
} by_option[] = {
    {"--gpus", add_models},   {"--driver", add_drivers},
    {"--load", add_loads},    {"--scenario", fake_scenario_names},
    {"--name", add_machines},
};

static void complete_fake(struct gk_completion *answer,
			  const struct gk_cursor *q)
{
	for (size_t i = 0; q->option && i < COUNT(by_option); i++)
		if (!strcmp(q->option, by_option[i].option))
			by_option[i].add(answer);
}

static void complete_join(struct gk_completion *answer,
			  const struct gk_cursor *q)
{
	complete_fake(answer, q);
	if (!q->option && !q->arg_count)
		add_machines(answer);
}

static void complete_load(struct gk_completion *answer,
			  const struct gk_cursor *q)
{
	complete_fake(answer, q);
	if (!q->option)
		add_loads(answer);
}

static void complete_ctl(struct gk_completion *answer,
			 const struct gk_cursor *q)
{
	complete_fake(answer, q);
	if (!q->option)
		fake_ctl_words(answer, q);
}

static void complete_scenario(struct gk_completion *answer,
			      const struct gk_cursor *q)
{
	if (q->option)
		return;
	if (!q->arg_count) {
		gk_complete_word(answer, "ls", "lists scenarios");
		gk_complete_word(answer, "show", "shows what happens in one");
		gk_complete_word(answer, "check", "checks files");
	} else if (!strcmp(q->args[0], "show")) {
		fake_scenario_names(answer);
	}
}

/* ---- pages ---- */

#define MACHINE "GPUKIT_MACHINE\tThe machine, unless an option names it.\n"

const struct gk_manual_page fake_pages[] = {
    {
	.name = "fake",
	.argp = &fake_argp,
	.command = GK_COMMAND_IS_ARGUMENT,
	.text =
	    "CMD sees the machine through libraries with the names of "
	    "NVIDIA's: "
	    "NVML, the CUDA driver and runtime, cuBLAS and others. Its values "
	    "follow the load of real processes. Kernels run on the CPU, from "
	    "their PTX. A program that is statically linked with NVIDIA's CUDA "
	    "runtime refuses a made-up driver, by design.\n\n"
	    "The machine ends with CMD, and all processes that `--load` "
	    "started "
	    "with it.",
	.exit_status = "that of CMD\tUnless one of the following applies.\n"
		       "1\tThe machine cannot be created.\n"
		       "2\tAn option is wrong.\n"
		       "3\tCalls were refused, with --refusals=error.\n"
		       "126\tCMD cannot be run.\n"
		       "127\tCMD was not found.\n"
		       "128 + N\tSignal N ended CMD.\n",
	.environment =
	    "GPUKIT_PROFILES\tA directory of profiles, instead of gpukit's.\n"
	    "GPUKIT_SCENARIOS\tA directory of scenarios, instead of gpukit's.\n"
	    "GPUKIT_LOG\tWhat the libraries log: warn names each refused call "
	    "at once.\n"
	    "GPUKIT_TRUST\tThe uid of a user whose machines, shared for "
	    "writing, this program uses as its own.\n"
	    "GPUKIT_MACHINE, LD_LIBRARY_PATH, LD_AUDIT, PATH, PYTHONPATH\tSet "
	    "for CMD, so that it uses the machine.\n",
	.files = "PREFIX/share/gpukit/profiles\tThe models of GPUs.\n"
		 "PREFIX/share/gpukit/scenarios\tThe scenarios.\n"
		 "~/.local/share/gpukit/scenarios\tScenarios of yours.\n"
		 "/dev/shm/gpukit-UID\tThe machines of a user.\n"
		 "/dev/shm/gpukit-shared-UID\tThose that other users see.\n",
	.examples =
	    "gpukit fake -- nvidia-smi\tShow a machine of eight A100s.\n"
	    "gpukit fake --gpus h100:4,t4:2 --load train:0-3,mem=60GiB -- "
	    "gpukit top\tShow six GPUs, four of which are busy.\n"
	    "gpukit fake --gpus none -- pytest\tTest on a machine without "
	    "GPUs.\n"
	    "gpukit fake --scenario dying-gpu --speed 60 -- gpukit top\tWatch "
	    "a "
	    "GPU die, sixty times as fast.\n"
	    "gpukit fake --mig 0=3g.40gb+1g.10gb -- nvidia-smi -L\tSplit a "
	    "GPU.\n",
	.see = "nvidia-smi(1)",
	.complete = complete_fake,
    },
    {
	.name = "fake ctl",
	.summary = "shows and changes a running made-up machine",
	.argp = &fake_ctl_argp,
	.exit_status = "0\tSuccess.\n"
		       "1\tFailure, such as no machine.\n"
		       "2\tWrong usage.\n",
	.environment = MACHINE,
	.examples =
	    "gpukit fake ctl ls\tList the machines.\n"
	    "gpukit fake ctl set 3 temperature=95\tHeat a GPU.\n"
	    "gpukit fake ctl fail 2 lost\tLose a GPU.\n"
	    "gpukit fake ctl fail nvmlDeviceGetPowerUsage=NVML_ERROR_UNKNOWN "
	    "times=3\tLet a function fail three times.\n"
	    "gpukit fake ctl clear all\tRepair everything.\n"
	    "gpukit fake ctl clock step 10m\tMove the clock on.\n",
	.complete = complete_ctl,
    },
    {
	.name = "fake load",
	.summary = "puts load on a running made-up machine",
	.argp = &fake_load_argp,
	.exit_status = "0\tSuccess.\n"
		       "1\tFailure, such as no machine.\n"
		       "2\tWrong usage.\n",
	.environment = MACHINE,
	.examples =
	    "gpukit fake load train:0-3,mem=8GiB,util=90\tTrain on four "
	    "GPUs.\n"
	    "gpukit fake load idle:6,mem=4GiB\tHold memory and do "
	    "nothing.\n",
	.complete = complete_load,
    },
    {
	.name = "fake join",
	.summary = "runs a command on an existing made-up machine",
	.argp = &fake_join_argp,
	.command = GK_COMMAND_AFTER_DASHES,
	.exit_status = "that of CMD\tUnless one of the following applies.\n"
		       "1\tFailure, such as no machine.\n"
		       "2\tAn option is wrong.\n"
		       "126\tCMD cannot be run.\n"
		       "127\tCMD was not found.\n",
	.environment = MACHINE "SHELL\tThe command, if none is given.\n",
	.examples = "gpukit fake join\tOpen a shell on the only machine.\n"
		    "gpukit fake join lab -- nvidia-smi\tShow the machine "
		    "lab.\n",
	.complete = complete_join,
    },
    {
	.name = "fake scenario",
	.summary = "lists, shows and checks scenarios",
	.argp = &fake_scenario_argp,
	.environment = "GPUKIT_SCENARIOS\tA directory of scenarios, instead of "
		       "gpukit's.\n",
	.files = "PREFIX/share/gpukit/scenarios\tThe scenarios.\n"
		 "~/.local/share/gpukit/scenarios\tScenarios of yours.\n",
	.examples =
	    "gpukit fake scenario ls\tList all scenarios.\n"
	    "gpukit fake scenario show dying-gpu\tShow what happens, and "
	    "when.\n"
	    "gpukit fake scenario check ./mine.yaml\tCheck a file.\n",
	.complete = complete_scenario,
    },
    {
	.name = "fake doctor",
	.summary = "says whether programs will run on a made-up machine",
	.argp = &fake_doctor_argp,
	.examples =
	    "gpukit fake doctor ./a.out\tCheck a program.\n"
	    "gpukit fake doctor --python .venv/bin/python\tCheck the PyTorch "
	    "of "
	    "a virtual environment.\n"
	    "gpukit fake doctor --libraries\tSee which other libraries are "
	    "missing.\n",
	.complete = complete_fake,
    },
    {
	.name = "fake models",
	.summary = "lists the models of GPUs that a machine can have",
	.argp = &fake_models_argp,
	.exit_status = "0\tSuccess.\n"
		       "1\tA profile has an error, or there is none.\n"
		       "2\tWrong usage.\n",
	.environment =
	    "GPUKIT_PROFILES\tA directory of profiles, instead of gpukit's.\n",
	.files = "PREFIX/share/gpukit/profiles\tThe models of GPUs.\n",
	.examples =
	    "gpukit fake models\tList all models.\n"
	    "gpukit fake models --json\tWith the source of each value.\n",
	.complete = complete_fake,
    },
    {.name = NULL},
};
