/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - reads certificates and passwords. */
#include "base/memory.h"
#include "cli/cmd.h"
#include "cli/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX ((off_t)1 << 20)

static char *refuse_served_file(const char *verb, const char *path,
				const char *why)
{
	gk_serve_failure(verb, "%s: %s", path, why);
	return NULL;
}

static char *read_sized(int fd, size_t size)
{
	char *text = malloc(size + 1);
	size_t len = 0;
	ssize_t n = 1;

	while (text && n > 0 && len < size) {
		n = read(fd, text + len, size - len);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			len += (size_t)n;
	}
	if (text)
		text[len] = '\0';
	return text;
}

char *gk_serve_read(const char *verb, const char *path, bool secret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *why = NULL;
	char *text = NULL;
	struct stat st;

	if (fd < 0)
		return refuse_served_file(verb, path, strerror(errno));
	if (fstat(fd, &st) < 0)
		why = strerror(errno);
	else if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		why = "not a regular file of at most 1 MiB";
	else if (secret && st.st_mode & (S_IRWXG | S_IRWXO))
		why = "others may read it; chmod 600";
	else
		text = read_sized(fd, (size_t)st.st_size);
	if (!text)
		refuse_served_file(verb, path, why ? why : "out of memory");
	close(fd);
	return text;
}

void gk_serve_forget(char *text)
{
	if (text)
		gk_wipe(text, strlen(text));
	free(text);
}

static bool add_login(struct gk_serve_users *users, char *line)
{
	char *colon = strchr(line, ':');
	void *more =
	    realloc(users->user, (users->count + 1) * sizeof *users->user);

	if (more)
		users->user = more;
	if (!more || !colon || colon == line || !colon[1])
		return false;
	*colon = '\0';
	users->user[users->count].name = line;
	users->user[users->count++].password = colon + 1;
	return true;
}

int gk_serve_users_read(const char *verb, const char *path,
			struct gk_serve_users *ret_users)
{
	struct gk_serve_users users = {.text = gk_serve_read(verb, path, true)};
	char *line, *rest = users.text;

	if (!users.text)
		return GK_EXIT_FAILURE;
	while ((line = strsep(&rest, "\n"))) {
		line[strcspn(line, "\r")] = '\0';
		if (*line && *line != '#' && !add_login(&users, line)) {
			refuse_served_file(verb, path,
					   "each line must be USER:PASSWORD");
			gk_serve_users_free(&users);
			return GK_EXIT_FAILURE;
		}
	}
	if (!users.count) {
		refuse_served_file(verb, path, "it contains no USER:PASSWORD");
		gk_serve_users_free(&users);
		return GK_EXIT_FAILURE;
	}
	*ret_users = users;
	return 0;
}

void gk_serve_users_free(struct gk_serve_users *users)
{
	for (size_t i = 0; i < users->count; i++)
		gk_wipe(users->user[i].password,
			strlen(users->user[i].password));
	free(users->user);
	free(users->text);
	*users = (struct gk_serve_users){0};
}

/* Compares in a time that depends only on `given`, not on the secret. */
static unsigned differ_in_text(const char *own, const char *given)
{
	size_t len = strlen(own), i = 0;
	unsigned char difference = 0;

	do
		difference |=
		    (unsigned char)(own[len ? i % (len + 1) : 0] ^ given[i]);
	while (given[i++]);
	return difference | (i - 1 != len);
}

bool gk_serve_users_allow(const struct gk_serve_users *users, const char *name,
			  const char *password)
{
	unsigned allowed = 0;

	for (size_t i = 0; i < users->count; i++)
		allowed |= !(differ_in_text(users->user[i].name, name) |
			     differ_in_text(users->user[i].password, password));
	return allowed;
}
