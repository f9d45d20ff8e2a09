/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_fuzz.c - checks scenarios of any bytes, which compile into ordered
 * steps or are refused in one line.
 */
#include "fuzz.h"
#include "machine/file/scenario_state.h"
#include "machine/store/scenario_table.h"
#include "machine/words/scenario_load.h"
#include "machine/words/scenario_yaml.h"
#include "machine/words/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Checks that steps are in order, name existing GPUs, and have texts that end.
 */
static void check(const struct gkf_scenario *s)
{
	struct gkf_scenario_table table = gkf_scenario_table(s);

	if (table.count > GKF_STEPS_MAX ||
	    table.text_size > GKF_STEP_TEXTS_MAX ||
	    (table.text_size && table.texts[table.text_size - 1]))
		abort();
	for (unsigned i = 0; i < table.count; i++) {
		const struct gkf_step *step = &table.steps[i];

		if (step->kind >= GKF_STEP_KINDS ||
		    (i && step->bin < step[-1].bin) ||
		    (step->device >= s->device_count &&
		     step->device != GKF_STEP_NO_DEVICE) ||
		    (step->text && step->text >= table.text_size))
			abort();
	}
	for (unsigned i = 0; i < s->load_count; i++)
		if (s->loads[i].device >= s->device_count ||
		    s->loads[i].wave.stop_bin <= s->loads[i].wave.start_bin)
			abort();
}

/* Machines with a few GPUs, whose profiles are in the fuzzer's directory. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gkf_scenario_options options = {.profiles = "profiles",
					       .gpus = "h100:2,t4:1",
					       .warm_up_ns = 1000000000};
	char path[64], message[GKF_SPEC_MESSAGE_MAX] = "";
	int fd = memfd_create("scenario", MFD_CLOEXEC);
	struct gkf_scenario scenario;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!gkf_scenario_compile(path, &options, &scenario, message,
				  sizeof message)) {
		check(&scenario);
		gkf_scenario_free(&scenario);
	} else if (!*message || strchr(message, '\n')) {
		abort();
	}
	close(fd);
	return 0;
}
