/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_state.c - computes how long a launch has run, and records why it ended.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "ptx/interp/program.h"

#include <string.h>

uint64_t gkf_run_awake_ns(const struct gkf_run *run)
{
	return gk_mono_ns() - run->start_ns - run->slept_ns;
}

void gkf_run_fail(struct gkf_warp *w, const struct gkf_op *op, unsigned lane,
		  enum gkf_ptx_end end, uint64_t address)
{
	struct gkf_run *run = w->run;
	const uint32_t *size = run->launch->block;
	uint32_t thread = w->index * GKF_LANES + lane;

	GK_ASSERT(end != GKF_PTX_DONE && lane < GKF_LANES);
	w->limit = 0;
	if (run->end != GKF_PTX_DONE)
		return;
	run->end = end;
	run->report->function = w->frame->code->source->name;
	run->report->line = op ? op->line : 0;
	run->report->address = address;
	memcpy(run->report->block, w->block->at, sizeof w->block->at);
	run->report->thread[0] = thread % size[0];
	run->report->thread[1] = thread / size[0] % size[1];
	run->report->thread[2] = thread / size[0] / size[1];
}
