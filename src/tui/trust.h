/*
 * trust.h - whether the config file is this user's own word. A program that
 * it names runs with the rights of whoever looks at the GPUs, who after sudo
 * or su may still have the HOME of another user.
 */
#ifndef GK_TUI_TRUST_H
#define GK_TUI_TRUST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether nobody but this user and root can have written the file: it is open
 * as fd, and path is its name, or a link's. It, its directory and, with a
 * link, those of both must belong to one of these, and not be open to others
 * for writing. If false, a line in why says what is open, and the cure.
 */
bool tui_trusts(const char *path, int fd, char *why, size_t cap);

#endif
