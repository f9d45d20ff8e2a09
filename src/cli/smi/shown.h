/* SPDX-License-Identifier: Apache-2.0 */
/* shown.h - chooses which GPUs of a snapshot are shown. */
#ifndef GK_CLI_SMI_SHOWN_H
#define GK_CLI_SMI_SHOWN_H

#include "cli/smi/lost.h"
#include "cli/smi/smi.h"

/*
 * The GPUs that had no handle at the start, and the lines shown instead of
 * them.
 */
struct smi_shown {
	bool looked;
	struct smi_lost_gpus lost;
	char lines[SMI_LOST_MAX][SMI_LOST_LINE];
	struct gk_smi_absent absent[SMI_LOST_MAX + 1];
};

/*
 * Chooses the GPUs to show. Appends their indices to ret_list, which stays
 * empty if the whole snapshot is shown. Appends lines about lost GPUs to the
 * output, or puts them into shown->absent if they belong between the lines of
 * other GPUs. Returns 0, or an exit status after a message.
 */
int smi_choose_shown(struct smi_shown *shown, const struct smi *smi,
		     struct gk_nvml *nvml, const struct gk_snapshot *snap,
		     struct gk_buf *out, struct gk_buf *ret_list);

#endif
