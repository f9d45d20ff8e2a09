/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_login.h - knows the programs that take a password by an option whose
 * name does not reveal it: "curl -u ana:hunter2". For secret.c only.
 */
#ifndef GK_BASE_SECRET_LOGIN_H
#define GK_BASE_SECRET_LOGIN_H

#include <stdbool.h>
#include <stddef.h>

/* The password options of a group of programs. */
struct gk_login;

/*
 * Returns the row of a program, given its name or path; NULL if there is no row
 * for it.
 */
const struct gk_login *gk_login_find(const char *word, size_t len);

/*
 * Whether a word is a password option of the program. *ret_at is the offset of
 * the value in the word, or the length of the word if the next word is the
 * value. If *ret_sign is not 0, only the part of the value after the first such
 * character is secret.
 */
bool gk_login_option(const struct gk_login *login, const char *word, size_t len,
		     size_t *ret_at, char *ret_sign);

#endif
