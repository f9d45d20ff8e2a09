/*
 * json_keys.h - keys and words of the JSON of a snapshot that are rows of a
 * table, for who writes it and for who reads it again.
 */
#ifndef GK_FORMAT_JSON_KEYS_H
#define GK_FORMAT_JSON_KEYS_H

#include <gpukit/gpukit.h>

#define GK_JSON_SCHEMA 1 /* raised when a key changes its meaning or goes */

/* What a process does: the name of each bit of gk_process_type. */
#define GK_JSON_TYPES 3
extern const char *const gk_json_types[GK_JSON_TYPES];

/* The tiers whose ages are told, by enum gk_tier. */
#define GK_JSON_TIERS (GK_TIER_DETAIL + 1)
extern const char *const gk_json_tiers[GK_JSON_TIERS];

/* A value of a struct. */
struct gk_json_value {
	const char *key;
	enum gk_unit unit;
	size_t at; /* offset of its gk_value */
};

/* Those of struct gk_host. */
#define GK_JSON_HOST_VALUES 8
extern const struct gk_json_value gk_json_host_values[GK_JSON_HOST_VALUES];

static inline struct gk_value *gk_json_value_at(const struct gk_host *host,
						const struct gk_json_value *row)
{
	return (struct gk_value *)((uintptr_t)host + row->at);
}

#endif
