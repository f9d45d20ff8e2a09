/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_name.h - recognises names of secrets: "HF_TOKEN", "--api-key". For
 * secret.c only.
 */
#ifndef GK_BASE_SECRET_NAME_H
#define GK_BASE_SECRET_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the flags of a name for gk_secret_plain(), or -1 if it is not the
 * name of a secret. assigned: = or : follows the name. inside: more text
 * precedes the name, so its first part may not be the first part of the whole
 * name.
 */
int gk_secret_name(const char *name, size_t len, bool assigned, bool inside);

/* Whether a value is too plain to be a secret. `how`: the flags of its name. */
bool gk_secret_plain(const char *value, size_t len, int how);

#endif
