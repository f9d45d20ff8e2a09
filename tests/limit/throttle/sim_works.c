/* SPDX-License-Identifier: Apache-2.0 */
/* sim_works.c - checks what a simulated process has learned about its work. */
#include "sim.h"

#include "limit/work.h"
#include "unit.h"

#include <dlfcn.h>

void sim_check_works(void *module)
{
	const struct gkl_work_table *works = dlsym(module, "judge_works");

	assert_non_null(works);
	assert_true(works->entry[0].key || !works->entry[0].time);
}
