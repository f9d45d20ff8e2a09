/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_keys.h - reads mappings of a scenario file by tables of keys, and
 * the kinds of values that keys have.
 */
#ifndef GKF_SCENARIO_KEYS_H
#define GKF_SCENARIO_KEYS_H

#include "machine/file/scenario_state.h"
#include "yaml/yaml.h"

#include <stdbool.h>
#include <stddef.h>

struct gkf_build;

typedef int gkf_key_read(struct gkf_build *b, const yaml_node_t *node);

struct gkf_key {
	const char *name;
	gkf_key_read *read;
	/*
	 * Called instead of `read`: for the value, or for each item of a list.
	 */
	gkf_key_read *item;
	bool required;
};

/*
 * Finds the value of each key, NULL if the key is missing; refuses other keys.
 */
int gkf_keys_find(struct gkf_build *b, const char *what,
		  const yaml_node_t *mapping, const struct gkf_key *keys,
		  size_t count, const yaml_node_t **ret_at);

/* Calls `item` for a single item, or for each item of a list. */
int gkf_key_each(struct gkf_build *b, const yaml_node_t *node,
		 gkf_key_read *item);

int gkf_key_text(struct gkf_build *b, const char *key, const yaml_node_t *node,
		 char *ret_text, size_t cap);
int gkf_key_integer(struct gkf_build *b, const char *key,
		    const yaml_node_t *node, int64_t min, int64_t max,
		    int64_t *ret_value);
int gkf_key_bool(struct gkf_build *b, const char *key, const yaml_node_t *node,
		 bool *ret_value);

/* Reads a time in bins, rounded down; refuses a time below least_bins. */
int gkf_key_time(struct gkf_build *b, const char *key, const yaml_node_t *node,
		 uint64_t least_bins, uint64_t *ret_bins);

/* Reads one of the words name(0), name(1)... up to NULL. */
int gkf_key_word(struct gkf_build *b, const char *key, const yaml_node_t *node,
		 const char *(*name)(unsigned), unsigned *ret_index);

/*
 * Fail with the message that a word is not the name of a value, or of a fault.
 */
int gkf_key_no_value(struct gkf_build *b, const yaml_node_t *node);
int gkf_key_no_fault(struct gkf_build *b, const yaml_node_t *node);

/* Refuses a step that names no GPU. */
int gkf_key_gpus(struct gkf_build *b, const yaml_node_t *node, const char *key);

/* Loops over the GPUs of the step until `err`, an int of the caller, is set. */
#define GKF_FOR_GPUS(b, d)                                                     \
	for (unsigned d = 0; !err && d < (b)->s.device_count; d++)             \
		if ((b)->gpus >> d & 1)

/* Adds a step for each GPU of the step being read. */
int gkf_key_step_all(struct gkf_build *b, const yaml_node_t *node,
		     const char *key, enum gkf_step_kind kind, uint32_t number,
		     int64_t argument, const char *text);

/* Keys that begin or end faults. */
gkf_key_read gkf_key_fail, gkf_key_xid, gkf_key_clear, gkf_key_reset,
    gkf_key_ecc;

/*
 * gkf_key_rule reads a rule that makes a single function fail: {function: ...,
 * answer: ...}. gkf_key_rule_clear() removes the rules of a function (NULL: of
 * all functions). GK_ERR_NOT_FOUND: no such function.
 */
gkf_key_read gkf_key_rule;
int gkf_key_rule_clear(struct gkf_build *b, const char *name);

/*
 * The key `loads`, which lists the loads that run from the start, and `steps`.
 */
gkf_key_read gkf_loads_read, gkf_steps_read;

#endif
