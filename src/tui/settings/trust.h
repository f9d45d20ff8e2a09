/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - checks that only this user can have written the config file. Its
 * alerts.command runs with this user's rights, but after sudo or su, HOME may
 * be another user's.
 */
#ifndef GK_TUI_TRUST_H
#define GK_TUI_TRUST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether only this user and root can have written a file. fd is the open file;
 * path is its name, which may be a symbolic link. The file, its directory and
 * the link's directory must belong to this user or root, and others must have
 * no write permission. If the result is false, `why` gets a line that says what
 * is wrong and what to do.
 */
bool tui_trusts(const char *path, int fd, char *why, size_t cap);

#endif
