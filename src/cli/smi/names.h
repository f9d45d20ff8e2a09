/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - how users name options and GPUs. */
#ifndef GK_CLI_SMI_NAMES_H
#define GK_CLI_SMI_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether a word is the option `name`, either alone or followed by =value. The
 * value is stored in *ret_arg (NULL: none).
 */
bool smi_is_option(const char *word, const char *name, const char **ret_arg);

/* Parses a number of decimal digits only, at most `max`. */
bool smi_parse_number(const char *text, uint64_t max, uint64_t *ret_number);

/*
 * Parses a PCI bus id, 00000000:83:00.0 or the shorter 0000:83:00.0 and
 * 83:00.0, into domain, bus, device and function.
 */
bool smi_parse_bus_id(const char *text, unsigned ret[4]);

/* Whether a list contains only numbers, separated by commas. */
bool smi_is_numbers(const char *list);

/*
 * smi_is_named_by() returns whether an id (an index, a UUID, or a PCI bus id of
 * any length) names this GPU; smi_names(), whether any id in a list does. An
 * empty id names nothing.
 */
bool smi_is_named_by(unsigned index, const char *uuid, const char *bus_id,
		     const char *id);
bool smi_names(const char *ids, unsigned index, const char *uuid,
	       const char *bus_id);

#endif
