/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_keys.h - the tables of keys and words in a snapshot's JSON, for the code
 * that writes JSON and the code that reads it.
 */
#ifndef GK_FORMAT_JSON_KEYS_H
#define GK_FORMAT_JSON_KEYS_H

#include <gpukit/gpukit.h>

/* Incremented when a key changes its meaning or is removed. */
#define GK_JSON_SCHEMA 1

/* The names of the bits of gk_process_type. */
#define GK_JSON_TYPES 3
extern const char *const gk_json_types[GK_JSON_TYPES];

/* The names of the tiers whose age is part of the JSON, by enum gk_tier. */
#define GK_JSON_TIERS (GK_TIER_DETAIL + 1)
extern const char *const gk_json_tiers[GK_JSON_TIERS];

/* The key of a gk_value, and the place of this gk_value in its struct. */
struct gk_json_value {
	const char *key;
	enum gk_unit unit;
	size_t at; /* offset of the gk_value */
};

/* The values of struct gk_host. */
#define GK_JSON_HOST_VALUES 8
extern const struct gk_json_value gk_json_host_values[GK_JSON_HOST_VALUES];

static inline struct gk_value *gk_json_value_at(const struct gk_host *host,
						const struct gk_json_value *row)
{
	return (struct gk_value *)((uintptr_t)host + row->at);
}

#endif
