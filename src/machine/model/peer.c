/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c - decides which GPUs are peers; see peer.h. */
#include "machine/model/peer.h"
#include "base/assert.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/model/link.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/model/topology.h"
#include "machine/store/board.h"

#include <string.h>

bool gkf_peer_split(struct gkf_machine *m, unsigned a, unsigned b)
{
	GK_ASSERT(a < gkf_device_count(m) && b < gkf_device_count(m) && a != b);
	return (gkf_mig_mode(m, a) | gkf_mig_mode(m, b)) & GKF_MIG_CURRENT;
}

/* GPUs on an NVSwitch need the fabric, whose state Hopper and later report. */
static bool fabric_is_up(struct gkf_machine *m, unsigned device)
{
	int64_t state;

	return !gkf_topology(m)->seat[device].fabric ||
	       !gkf_value_get(m, device, GKF_V_FABRIC_STATE, &state) ||
	       state == GKF_FABRIC_COMPLETED;
}

bool gkf_peer_nvlink(struct gkf_machine *m, unsigned a, unsigned b)
{
	return gkf_links_between(m, a, b) && fabric_is_up(m, a) &&
	       fabric_is_up(m, b);
}

/*
 * Data-centre boards of one architecture on one NUMA node are peers over PCIe:
 * in this model nothing forwards peer traffic between nodes. Consumer boards
 * are peers over NVLink alone (`nvidia-smi topo -p2p`, as published, shows GNS
 * for them).
 */
enum gkf_peer gkf_peer_pcie(const struct gkf_machine *m, unsigned a, unsigned b)
{
	const struct gkf_profile *pa = &gkf_board(m, a)->profile;
	const struct gkf_profile *pb = &gkf_board(m, b)->profile;

	if (gkf_is_consumer(pa) || gkf_is_consumer(pb))
		return GKF_PEER_CONSUMER;
	if (strcmp(pa->architecture, pb->architecture) != 0)
		return GKF_PEER_MIXED;
	return gkf_topology_distance(gkf_topology(m), a, b) == GKF_SAME_MACHINE
		   ? GKF_PEER_FAR
		   : GKF_PEER_OK;
}
