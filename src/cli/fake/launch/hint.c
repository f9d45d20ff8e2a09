/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hint.c - warns a user who starts a program that cannot run on a made-up
 * machine. Without the warning, the user would see only an error of NVIDIA's
 * runtime that gives no reason.
 */
#include "cli/command.h"
#include "cli/fake/doctor/doctor.h"
#include "cli/fake/fake.h"

#include <limits.h>

/* Larger programs are not examined. */
#define SIZE_MAX_LOOKED (256UL << 20)

/*
 * Returns a problem that keeps the program from running on any made-up machine,
 * or NULL.
 */
static const char *trouble_of(const struct doctor *doctor)
{
	if (doctor->runtime.nvidia_static)
		return "contains NVIDIA's own CUDA runtime, which works only "
		       "with NVIDIA's own driver";
	for (unsigned i = 0; i < doctor->advice_count; i++)
		if (doctor->advice[i] == &doctor_no_ptx)
			return "has kernels only as machine code, which no CPU "
			       "can run";
	return NULL;
}

/*
 * Passes compute capability 0, which no GPU has, so that no kernel is judged.
 */
static const char *find_trouble(const char *path)
{
	struct bytes all = doctor_map(path);
	const char *trouble = NULL;
	struct doctor doctor;

	if (!all.data)
		return NULL;
	if (all.size <= SIZE_MAX_LOOKED &&
	    !doctor_look(path, all, 0, &doctor)) {
		trouble = trouble_of(&doctor);
		doctor_free(&doctor);
	}
	doctor_unmap(all);
	return trouble;
}

void fake_hint(const char *command)
{
	const char *trouble = NULL;
	char path[PATH_MAX];

	if (gk_command_find(command, path, sizeof path))
		trouble = find_trouble(path);
	if (trouble)
		fake_tell("%s %s; `gpukit fake doctor %s` says what to do",
			  command, trouble, path);
}
