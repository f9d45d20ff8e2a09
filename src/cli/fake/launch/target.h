/*
 * target.h - where a load process can be: on a GPU, or on one of its MIG
 * devices.
 */
#ifndef GK_CLI_FAKE_TARGET_H
#define GK_CLI_FAKE_TARGET_H

#include "cli/fake/fake.h"
#include "machine/file/numbers.h"

/* The k-th target of a GPU: 0 is the GPU itself, then its MIG devices. */
#define FAKE_TARGETS (1 + GKF_MIG_MAX)

#define FAKE_NO_MIG UINT32_MAX

struct fake_target {
	unsigned gpu;
	unsigned mig;      /* index, or FAKE_NO_MIG */
	uint64_t room_mib; /* that processes can have */
};

/*
 * The k-th target of a GPU. That of a GPU that is split is the MIG device which
 * a process comes into. An exit code, told.
 */
int fake_target_find(struct gkf_machine *m, unsigned gpu, unsigned k,
		     struct fake_target *ret_target);

/* Bytes that are free there. */
uint64_t fake_target_free(struct gkf_machine *m,
			  const struct fake_target *target);

#endif
