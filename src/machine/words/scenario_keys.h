/*
 * scenario_keys.h - mappings of a scenario file as tables of keys, and the
 * kinds of values that keys have.
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
	gkf_key_read *item; /* instead of read: of one, or of a list of them */
	bool required;
};

/* Each key's value in ret_at, NULL without; refuses all other keys. */
int gkf_keys_find(struct gkf_build *b, const char *what,
		  const yaml_node_t *mapping, const struct gkf_key *keys,
		  size_t count, const yaml_node_t **ret_at);

/* One item, or each of a list. */
int gkf_key_each(struct gkf_build *b, const yaml_node_t *node,
		 gkf_key_read *item);

int gkf_key_text(struct gkf_build *b, const char *key, const yaml_node_t *node,
		 char *ret_text, size_t cap);
int gkf_key_integer(struct gkf_build *b, const char *key,
		    const yaml_node_t *node, int64_t min, int64_t max,
		    int64_t *ret_value);
int gkf_key_bool(struct gkf_build *b, const char *key, const yaml_node_t *node,
		 bool *ret_value);

/* A time in whole bins, rounded down; no shorter than some: 0, or one. */
int gkf_key_time(struct gkf_build *b, const char *key, const yaml_node_t *node,
		 uint64_t least_bins, uint64_t *ret_bins);

/* One of the words that name() gives until it says NULL. */
int gkf_key_word(struct gkf_build *b, const char *key, const yaml_node_t *node,
		 const char *(*name)(unsigned), unsigned *ret_index);

/* Tell that it names no value, or nothing that can fail or be cleared. */
int gkf_key_no_value(struct gkf_build *b, const yaml_node_t *node);
int gkf_key_no_fault(struct gkf_build *b, const yaml_node_t *node);

/* Refuses a step that names no GPU. */
int gkf_key_gpus(struct gkf_build *b, const yaml_node_t *node, const char *key);

/* With an int err: each GPU that the step names, until one fails. */
#define GKF_FOR_GPUS(b, d)                                                     \
	for (unsigned d = 0; !err && d < (b)->s.device_count; d++)             \
		if ((b)->gpus >> d & 1)

/* The same step for each GPU of the step that is read. */
int gkf_key_step_all(struct gkf_build *b, const yaml_node_t *node,
		     const char *key, enum gkf_step_kind kind, uint32_t number,
		     int64_t argument, const char *text);

/* Keys that make something fail or mend it. */
gkf_key_read gkf_key_fail, gkf_key_xid, gkf_key_clear, gkf_key_reset,
    gkf_key_ecc;

/*
 * Rules by which single functions fail: {function: ..., answer: ...}; taking
 * them back by function (NULL: all), GK_ERR_NOT_FOUND when it is no function.
 */
gkf_key_read gkf_key_rule;
int gkf_key_rule_clear(struct gkf_build *b, const char *name);

/* The loads at the start, and the steps, of a file. */
gkf_key_read gkf_loads_read, gkf_steps_read;

#endif
