/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct.h - the functions of `gpukit smi` that call the driver directly,
 * without a snapshot, and their subcommands. Each function returns an exit
 * status, after a message on failure.
 */
#ifndef GK_CLI_SMI_DIRECT_H
#define GK_CLI_SMI_DIRECT_H

#include "cli/smi/smi.h"

#include <stddef.h>

smi_direct smi_set, smi_reset, smi_led;
smi_direct smi_mig_gi_profiles, smi_mig_gi_places, smi_mig_gis,
    smi_mig_ci_profiles, smi_mig_ci_places, smi_mig_cis, smi_mig_create_gis,
    smi_mig_create_cis, smi_mig_destroy_gis, smi_mig_destroy_cis;

smi_direct smi_nvlink_status, smi_nvlink_capabilities, smi_nvlink_errors,
    smi_nvlink_pci, smi_nvlink_remote, smi_nvlink_throughput,
    smi_nvlink_reset_errors, smi_nvlink_unsupported;
smi_direct smi_near_cpu, smi_near_numa, smi_near_path, smi_near_gpus;
smi_direct smi_p2p, smi_excluded, smi_drain_modify, smi_drain_query,
    smi_drain_remove;
smi_direct smi_cc_feature, smi_cc_ready, smi_cc_set_ready;
smi_direct smi_encoder_sessions, smi_fbc_sessions;

enum smi_kind { SMI_DOES, SMI_SETS, SMI_TAKES, SMI_MAY };

struct smi_verb_option {
	const char *brief, *full;
	enum smi_kind kind;
	size_t member; /* offset of the member in struct smi; 0: none */
	smi_direct *run;
};

/* A subcommand. `options` ends with an entry without a name. */
struct smi_verb {
	const char *name;
	const struct smi_verb_option *options;
	const struct gk_option_line *lines;
	smi_direct *run; /* used if no option chooses a function; may be NULL */
};

/*
 * If a word is a subcommand that gpukit does not support but answers, chooses
 * it and returns it; otherwise returns NULL.
 */
const struct smi_verb *smi_take_feature(struct smi *smi, const char *word);

/* All other subcommands. Ends with an entry without a name. */
extern const struct smi_verb smi_verbs[];

/*
 * Parses the words after a subcommand's name. Returns 0, or an exit status
 * after a message.
 */
int smi_parse_verb(struct smi *smi, const struct smi_verb *verb, char **words);

#endif
