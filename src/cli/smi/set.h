/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.h - the options of `gpukit smi` that change a GPU, and the functions that
 * do it.
 */
#ifndef GK_CLI_SMI_SET_H
#define GK_CLI_SMI_SET_H

#include "cli/smi/gpus.h"

/*
 * A smi_getter reads the present value of a setting; a smi_set_function changes
 * the setting, and may write further words into it, such as the former value. A
 * smi_set_function returns NOT_SUPPORTED if the GPU does not have the setting,
 * INVALID_ARGUMENT if the GPU refuses the value, and FREQ_NOT_SUPPORTED if the
 * GPU refuses the combination of values.
 */
typedef nvmlReturn_t smi_getter(const struct smi_gpus *gpus,
				const struct smi_gpu *gpu, unsigned *ret_value);
typedef nvmlReturn_t smi_set_function(const struct smi_gpus *gpus,
				      const struct smi_gpu *gpu,
				      struct smi_setting *setting);

enum smi_setting_kind {
	SMI_NOTHING, /* takes no argument */
	SMI_CHOICE,  /* a number, or the word for it */
	SMI_NUMBER,
	SMI_TEXT,   /* up to 63 bytes */
	SMI_WATTS,  /* stored in `a` as milliwatts */
	SMI_PAIR,   /* two clocks in MHz */
	SMI_CLOCKS, /* one or two clocks, each in MHz or as a word */
};

struct smi_setter {
	const char *brief, *full;
	enum smi_setting_kind kind;
	/*
	 * For SMI_CHOICE: the words for the numbers 0, 1, ..., separated by
	 * commas. A number may have several words, separated by a slash; the
	 * first is printed.
	 */
	const char *choices;
	smi_getter *now; /* reads the present value; NULL: always set */
	smi_set_function *set;
	const char *name; /* the action, such as "set ECC mode" */
	unsigned flags;
	const char *help;
};

/* All setters. Ends with an entry without a function. */
extern const struct smi_setter smi_setters[];

/* The functions that smi_setters refers to. */
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
 * Parses the argument of a setter (NULL: none). Returns false if it is not
 * valid for this kind of setting.
 */
bool smi_parse_setting(const struct smi_setter *setter, const char *arg,
		       struct smi_setting *ret_setting);

#endif
