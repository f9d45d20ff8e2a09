/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - how people name options and GPUs. */
#ifndef GK_CLI_SMI_NAMES_H
#define GK_CLI_SMI_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a word is the option, alone or followed by =value. */
bool smi_is_option(const char *word, const char *name, const char **ret_arg);

/* Parses decimal digits, and nothing else, up to a number. */
bool smi_parse_number(const char *text, uint64_t max, uint64_t *ret_number);

/*
 * Parses 00000000:83:00.0, or the shorter 0000:83:00.0 and 83:00.0: domain,
 * bus, device, function.
 */
bool smi_parse_bus_id(const char *text, unsigned ret[4]);

/* Whether a list consists of numbers with commas between them. */
bool smi_is_numbers(const char *list);

/*
 * Whether an id (an index, a UUID or a PCI bus id of any length) names this
 * GPU; whether any id of a list does. Nothing is named by an empty id.
 */
bool smi_is_named_by(unsigned index, const char *uuid, const char *bus_id,
		     const char *id);
bool smi_names(const char *ids, unsigned index, const char *uuid,
	       const char *bus_id);

#endif
