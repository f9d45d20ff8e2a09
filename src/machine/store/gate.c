/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - finds the words of the gate in the file. */
#include "machine/store/gate.h"
#include "machine/file/file.h"
#include "machine/file/value.h"
#include "machine/store/gate_new.h"
#include "machine/store/locks.h"
#include "machine/store/view.h"

#include <stdlib.h>

const struct gkf_gate *gkf_gate(const struct gkf_machine *m)
{
	return m->gate;
}

struct gkf_gate *gkf_gate_new(struct gkf_machine *m)
{
	struct gkf_file *f = m->file;
	struct gkf_gate *gate =
	    malloc(sizeof *gate + m->device_count * sizeof *gate->device);

	if (!gate)
		return NULL;
	*gate = (struct gkf_gate){
	    .calls = f->calls,
	    .refused = f->refused,
	    .cuda_calls = f->cuda_calls,
	    .extra_ns = f->extra_ns,
	    .latency = &f->latency,
	    .rules = &f->rules.count,
	    .next_step_ns = &f->scenario.next_ns,
	    .booked_ns = &f->driver_busy_ns,
	    .last = gkf_locks_word(m->locks, GKF_LOCK_WRITERS),
	    .damaged = &m->damaged,
	};
	for (unsigned i = 0; i < m->device_count; i++)
		gate->device[i] = (struct gkf_gate_device){
		    .faults = &f->device[i].fault.active,
		    .strike = &f->device[i].fault.strike,
		    .mig_mode = &f->device[i].mig.mode,
		    .removed = &f->device[i].set[GKF_V_REMOVED],
		    .excluded = &f->device[i].set[GKF_V_EXCLUDED],
		};
	return gate;
}
