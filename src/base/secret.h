/*
 * secret.h - what looks like a password, a token or a key in environments and
 * command lines, and covering it up. It judges by names and forms: it misses a
 * secret that stands under an innocent name, and may cover what is none.
 */
#ifndef GK_BASE_SECRET_H
#define GK_BASE_SECRET_H

#include "base/str.h"

#define GK_SECRET_COVER "********"

/* Whether the value of a variable is nobody's business. */
bool gk_secret_variable(const char *name, const char *value);

/* Adds a text with what is secret in it covered. */
void gk_secret_text(struct gk_buf *out, const char *text, size_t len);

/*
 * Adds arguments, each with a NUL behind it as /proc/PID/cmdline has them, with
 * what is secret covered: also an argument that follows --password.
 */
void gk_secret_arguments(struct gk_buf *out, const char *args, size_t len);

#endif
