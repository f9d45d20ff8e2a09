/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - where a load process runs: on a GPU, or on one of its MIG devices.
 */
#ifndef GK_CLI_FAKE_TARGET_H
#define GK_CLI_FAKE_TARGET_H

#include "cli/fake/fake.h"
#include "machine/file/numbers.h"

/*
 * The number of targets of a GPU: 0 is the GPU itself, the others its MIG
 * devices.
 */
#define FAKE_TARGETS (1 + GKF_MIG_MAX)

#define FAKE_NO_MIG UINT32_MAX

struct fake_target {
	unsigned gpu;
	unsigned mig;      /* index, or FAKE_NO_MIG */
	uint64_t room_mib; /* memory of the target that processes can use */
};

/*
 * Finds the k-th target of a GPU. If the GPU is split, target 0 is the MIG
 * device that processes use by default. Returns 0, or an exit code after a
 * message.
 */
int fake_target_find(struct gkf_machine *m, unsigned gpu, unsigned k,
		     struct fake_target *ret_target);

/* Returns the free bytes of a target. */
uint64_t fake_target_free(struct gkf_machine *m,
			  const struct fake_target *target);

#endif
