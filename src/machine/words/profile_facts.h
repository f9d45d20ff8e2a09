/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_facts.h - which values a profile has, and where each comes from.
 */
#ifndef GKF_PROFILE_FACTS_H
#define GKF_PROFILE_FACTS_H

#include "machine/words/profile_schema.h"
#include "yaml/yaml.h"

/* Where a value comes from; sources that somebody can look up come first. */
enum gkf_source {
	GKF_SOURCE_CAPTURE,    /* printed by a tool on such a board */
	GKF_SOURCE_DOCUMENT,   /* NVIDIA's own text or source code */
	GKF_SOURCE_LIST,       /* a public list that people keep */
	GKF_SOURCE_REMEMBERED, /* known, but no text at hand says so */
	GKF_SOURCE_ESTIMATED,  /* ours; plausible, not measured */
	GKF_SOURCE_NONE,       /* no source names the key */
};

#define GKF_SOURCES GKF_SOURCE_NONE

struct gkf_facts {
	int64_t year; /* year of the board's release; 0: not known */
	/* By index in gkf_fields. */
	bool given[GKF_FIELDS_MAX];
	uint8_t origin[GKF_FIELDS_MAX]; /* enum gkf_source */
};

/* The word for an origin in a profile, such as "capture". */
const char *gkf_source_name(enum gkf_source origin);

/* Sets all origins to GKF_SOURCE_NONE, and that no value is given. */
void gkf_facts_clear(struct gkf_facts *facts);

/* The number of values that are given. */
unsigned gkf_facts_given(const struct gkf_facts *facts);

/* The number of given values that have one of the first three origins. */
unsigned gkf_facts_sourced(const struct gkf_facts *facts);

/*
 * Reads the value of `source`: a text, or a list of texts and mappings. A
 * mapping has one key that is the word for an origin, with a text that names
 * the source, and `keys`, a list of the profile's keys whose values it gives.
 * Returns 0, or an error after gk_yaml_fail().
 */
int gkf_facts_read(struct gk_yaml *yaml, const struct gkf_field *field,
		   const yaml_node_t *source, struct gkf_facts *facts);

#endif
