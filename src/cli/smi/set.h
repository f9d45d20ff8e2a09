/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.h - the options of `gpukit smi` that change a GPU, and how they are
 * carried out.
 */
#ifndef GK_CLI_SMI_SET_H
#define GK_CLI_SMI_SET_H

#include "cli/smi/gpus.h"

/*
 * Reads what a setter sets, or sets it. A function that sets may write further
 * words, such as the former value; it returns NOT_SUPPORTED if the GPU has no
 * such thing. INVALID_ARGUMENT means that the GPU refuses the value, and
 * FREQ_NOT_SUPPORTED a combination of values.
 */
typedef nvmlReturn_t smi_getter(const struct smi_gpus *gpus,
				const struct smi_gpu *gpu, unsigned *ret_value);
typedef nvmlReturn_t smi_set_function(const struct smi_gpus *gpus,
				      const struct smi_gpu *gpu,
				      struct smi_setting *setting);

enum smi_setting_kind {
	SMI_NOTHING, /* no argument */
	SMI_CHOICE,  /* a number, or its word */
	SMI_NUMBER,
	SMI_TEXT,   /* up to 63 bytes */
	SMI_WATTS,  /* in a: milliwatts */
	SMI_PAIR,   /* two numbers of MHz */
	SMI_CLOCKS, /* one or two clocks: MHz or a word */
};

struct smi_setter {
	const char *brief, *full;
	enum smi_setting_kind kind;
	const char *choices; /* of SMI_CHOICE, from 0 on, by commas; the first
			      * of words with / between them is printed */
	smi_getter *now;     /* NULL: it is always set */
	smi_set_function *set;
	const char *name; /* what it does, such as "set ECC mode" */
	unsigned flags;
	const char *help;
};

/* All setters. The last one has no function. */
extern const struct smi_setter smi_setters[];

/* The functions of the table. */
smi_getter smi_get_persistence, smi_get_ecc, smi_get_compute_mode,
    smi_get_accounting;
smi_set_function smi_set_persistence, smi_set_ecc, smi_reset_ecc,
    smi_set_compute_mode, smi_set_gom, smi_set_virt, smi_set_gpu_clocks,
    smi_reset_gpu_clocks, smi_set_memory_clocks, smi_reset_memory_clocks,
    smi_set_nothing, smi_set_app_clocks, smi_reset_app_clocks,
    smi_restrict_app_clocks, smi_set_boost, smi_restrict_boost, smi_set_power,
    smi_set_accounting, smi_clear_accounts, smi_set_target, smi_set_mig,
    smi_set_dram_encryption, smi_get_hostname, smi_set_hostname;

/*
 * Parses the argument of a setter; NULL if it has none. Returns false if the
 * argument is not of its kind.
 */
bool smi_parse_setting(const struct smi_setter *setter, const char *arg,
		       struct smi_setting *ret_setting);

#endif
