/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_text.h - parses and prints faults: "lost", "pcie=1x4", "xid=48",
 * "timeout=200ms", "xid=31@1/0" (in compute instance 0 of GPU instance 1). For
 * the command; clients of a machine never read text.
 */
#ifndef GKF_FAULT_TEXT_H
#define GKF_FAULT_TEXT_H

#include "machine/file/fault_kinds.h"

#include <stdbool.h>
#include <stddef.h>

struct gkf_machine;

#define GKF_FAULT_TEXT_MAX 256

/* A fault of a GPU and its argument, or an Xid. */
struct gkf_breakage {
	bool is_xid;
	unsigned xid;
	/* Instance of an Xid; GKF_NO_INSTANCE: the whole GPU. */
	uint32_t instance;
	enum gkf_fault fault;
	uint64_t argument;
};

/*
 * Parses "NAME[=ARGUMENT]". GK_ERR_NOT_FOUND: no such fault; GK_ERR_INVALID: an
 * invalid argument; ret_allowed (GKF_FAULT_TEXT_MAX) then says what is allowed.
 */
int gkf_fault_parse(const char *text, struct gkf_breakage *ret_breakage,
		    char *ret_allowed);

/* Calls gkf_xid() or gkf_fault_begin(). */
int gkf_break(struct gkf_machine *m, unsigned device,
	      const struct gkf_breakage *breakage);

/* Prints an active fault of a device in that form: "pcie=1x4". */
void gkf_fault_print(struct gkf_machine *m, unsigned device,
		     enum gkf_fault fault, char *ret_text, size_t cap);

#endif
