/* gate_new.h - makes the gate of a machine that is being opened. */
#ifndef GKF_GATE_NEW_H
#define GKF_GATE_NEW_H

struct gkf_gate;
struct gkf_machine;

/* For free(); NULL: there is no memory. Its locks must be there. */
struct gkf_gate *gkf_gate_new(struct gkf_machine *m);

#endif
