/*
 * secret_login.h - programs that take a password by an option whose name does
 * not say so: "curl -u ana:hunter2". For secret.c alone.
 */
#ifndef GK_BASE_SECRET_LOGIN_H
#define GK_BASE_SECRET_LOGIN_H

#include <stdbool.h>
#include <stddef.h>

/* How some programs are given passwords. */
struct gk_login;

/*
 * The row of a word that is a program or the path to one; NULL: it is no such.
 */
const struct gk_login *gk_login_find(const char *word, size_t len);

/*
 * Whether a word is such an option. *ret_at: where in the word its value
 * begins; its length: the value is the next word. *ret_sign: the secret is
 * behind the first such sign of the value; 0: all of it is.
 */
bool gk_login_option(const struct gk_login *login, const char *word, size_t len,
		     size_t *ret_at, char *ret_sign);

#endif
