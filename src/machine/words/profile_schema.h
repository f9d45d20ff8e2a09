/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_schema.h - the keys of a profile file and their allowed values.
 */
#ifndef GKF_PROFILE_SCHEMA_H
#define GKF_PROFILE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GKF_FIELDS_MAX 128

enum gkf_field_kind {
	GKF_FIELD_TEXT,     /* stored in a char array of the profile */
	GKF_FIELD_INTEGER,  /* stored in an int64_t of the profile */
	GKF_FIELD_INHERITS, /* read before all others */
	GKF_FIELD_SOURCE,   /* see profile_facts.h */
	GKF_FIELD_YEAR,     /* an integer that the machine does not need */
	GKF_FIELD_ALIASES,
};

struct gkf_field {
	const char *key;
	enum gkf_field_kind kind;
	size_t offset, size;
	int64_t min, max;         /* range of an integer */
	const char *const *words; /* the only texts allowed; NULL: any */
	bool optional;            /* if not an integer: may be missing */
	bool may_be_none;         /* `none` means an empty text */
	const char *help;
};

extern const struct gkf_field gkf_fields[];
extern const size_t gkf_field_count; /* at most GKF_FIELDS_MAX */

/* The index of a key in gkf_fields, or -1. */
int gkf_field_find(const char *key);

/* The key that was probably meant by a mistyped one, or NULL. */
const char *gkf_field_like(const char *key);

/*
 * Whether a key may be missing even without `inherits`, because its value is
 * not known for every board, or is not for the profile to decide. Returns the
 * integer that a missing key stands for; 0 for other kinds.
 */
bool gkf_field_may_be_missing(const struct gkf_field *field,
			      int64_t *ret_value);

/* Describes in words the values that a key takes. */
void gkf_field_describe(const struct gkf_field *field, char *text, size_t cap);

#endif
