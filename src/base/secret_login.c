/* SPDX-License-Identifier: Apache-2.0 */
/* secret_login.c - owns the table of programs and their password options. */
#include "base/secret_login.h"
#include "base/array.h"

#include <ctype.h>
#include <string.h>

enum {
	NEXT = 1,     /* "-p x" and "-vp x" */
	ATTACHED = 2, /* -px */
	EITHER = NEXT | ATTACHED,
};

#define OPTIONS_MAX 4

static const struct gk_login {
	const char *programs; /* separated and surrounded by blanks */
	struct option {
		const char *name;
		char sign;
		unsigned where;
	} options[OPTIONS_MAX];
} logins[] = {
    {" curl ",
     {{"-u", ':', EITHER},
      {"--user", ':', NEXT},
      {"-U", ':', EITHER},
      {"--proxy-user", ':', NEXT}}},
    {" http https xh xhs ", {{"-a", ':', NEXT}}},
    {" mysql mysqladmin mysqlcheck mysqldump mysqlimport mysqlpump mysqlshow "
     "mysqlslap mariadb mariadb-admin mariadb-check mariadb-dump "
     "mariadb-import mariadb-show ",
     {{"-p", 0, ATTACHED}}},
    {" mongo mongosh mongodump mongoexport mongoimport mongorestore mongostat ",
     {{"-p", 0, EITHER}}},
    {" redis-cli valkey-cli ", {{"-a", 0, NEXT}}},
    {" sshpass ", {{"-p", 0, EITHER}}},
    {" ldapadd ldapdelete ldapmodify ldappasswd ldapsearch ldapwhoami ",
     {{"-w", 0, EITHER}}},
    {" smbclient ", {{"-U", '%', EITHER}}},
};

static bool is_listed(const char *programs, const char *name, size_t len)
{
	for (const char *at = programs + 1; *at; at += strcspn(at, " ") + 1)
		if (!strncmp(at, name, len) && at[len] == ' ')
			return true;
	return false;
}

const struct gk_login *gk_login_find(const char *word, size_t len)
{
	const char *name = word + len;

	while (name > word && name[-1] != '/')
		name--;
	len -= (size_t)(name - word);
	for (size_t i = 0; len && i < COUNT(logins); i++)
		if (is_listed(logins[i].programs, name, len))
			return &logins[i];
	return NULL;
}

/*
 * Whether the word is a dash followed by letters, and the last letter is the
 * option, like u in "-sSu".
 */
static bool is_cluster(const char *word, size_t len, char letter)
{
	for (size_t i = 1; i < len; i++)
		if (!isalpha((unsigned char)word[i]))
			return false;
	return len > 1 && word[0] == '-' && word[len - 1] == letter;
}

/*
 * Returns the offset of the option's value in the word; 0 if the word is not
 * this option.
 */
static size_t value_of(const struct option *o, const char *word, size_t len)
{
	size_t n = strlen(o->name);
	bool begins = len >= n && !strncmp(word, o->name, n);

	if (o->where & ATTACHED && begins && len > n)
		return n;
	if (!(o->where & NEXT))
		return 0;
	return (begins && len == n) ||
		       (n == 2 && is_cluster(word, len, o->name[1]))
		   ? len
		   : 0;
}

bool gk_login_option(const struct gk_login *login, const char *word, size_t len,
		     size_t *ret_at, char *ret_sign)
{
	for (size_t i = 0; i < OPTIONS_MAX && login->options[i].name; i++) {
		size_t at = value_of(&login->options[i], word, len);

		if (!at)
			continue;
		*ret_at = at;
		*ret_sign = login->options[i].sign;
		return true;
	}
	return false;
}
