/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - the tables of options of `gpukit smi`, of its monitors and of
 * topo. Functions return 0, or an exit status after a message.
 */
#ifndef GK_CLI_SMI_OPTIONS_H
#define GK_CLI_SMI_OPTIONS_H

#include "cli/smi/smi.h"

struct smi_option {
	const char *brief, *full; /* both include the dashes, and may be NULL */
	enum { BARE, WITH_ARG, MAYBE_ARG } arg;
	int (*take)(struct smi *smi, const char *arg);
};

/* Each table ends with an entry without a function. */
extern const struct smi_option smi_options[], smi_mon_options[],
    smi_topo_options[];

/*
 * Sets what to print. Refuses the option if an earlier option has set something
 * else to print.
 */
int smi_choose_mode(struct smi *smi, enum smi_mode mode);

/* Chooses a function that calls the driver directly. */
int smi_choose_direct(struct smi *smi, smi_direct *direct);

#endif
