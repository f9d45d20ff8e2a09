/*
 * secret_name.h - which names have a secret as their value: "HF_TOKEN",
 * "--api-key". For secret.c alone.
 */
#ifndef GK_BASE_SECRET_NAME_H
#define GK_BASE_SECRET_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The kind of a secret's name, for gk_secret_plain(); -1: it is no such name.
 * assigned: a sign stands behind it. inside: it does not begin its text, so
 * that its first part is not the first.
 */
int gk_secret_name(const char *name, size_t len, bool assigned, bool inside);

/* Whether a value is too plain to be the secret of such a name. */
bool gk_secret_plain(const char *value, size_t len, int how);

#endif
