/* SPDX-License-Identifier: Apache-2.0 */
/* gate_new.h - makes the gate of a machine that is being opened. */
#ifndef GKF_GATE_NEW_H
#define GKF_GATE_NEW_H

struct gkf_gate;
struct gkf_machine;

/*
 * The caller frees it with free(). NULL: out of memory. The machine's locks
 * must exist.
 */
struct gkf_gate *gkf_gate_new(struct gkf_machine *m);

#endif
