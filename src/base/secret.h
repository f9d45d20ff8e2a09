/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - recognises passwords, tokens and keys in environments and command
 * lines, and covers them.
 *
 * It judges by names and forms. So it misses a secret with an innocent name,
 * and may cover text that is not secret.
 */
#ifndef GK_BASE_SECRET_H
#define GK_BASE_SECRET_H

#include "base/str.h"

#define GK_SECRET_COVER "********"

/* Whether the value of an environment variable looks secret. */
bool gk_secret_variable(const char *name, const char *value);

/* Appends a text with its secrets covered. */
void gk_secret_text(struct gk_buf *out, const char *text, size_t len);

/*
 * Appends arguments, each followed by a NUL as in /proc/PID/cmdline, and covers
 * their secrets, for example the argument that follows --password.
 */
void gk_secret_arguments(struct gk_buf *out, const char *args, size_t len);

#endif
