/* container.c - the container of a process, by the name of its cgroup. */
#include "core/procfs.h"

#include <ctype.h>
#include <string.h>

/* Ids of Docker, containerd, CRI-O and Podman are SHA-256 in hex. */
#define ID_LEN 64

/* Where container managers put the name when it is no such id, and what they
 * add behind it. */
static const struct {
	const char *before, *after;
} named[] = {
    {"/lxc/", ""},
    {"/lxc.payload.", ""},
    {"/lxc.payload/", ""},
    {"/machine.slice/machine-", ".scope"},
    {"/machine.slice/systemd-nspawn@", ".service"},
};

static size_t hex_run(const char *text)
{
	size_t n = 0;

	while (isxdigit((unsigned char)text[n]))
		n++;
	return n;
}

/* The last id in the text: containers in containers are nested left to right.
 */
static const char *find_id(const char *text)
{
	const char *found = NULL;

	while (*text) {
		size_t n = hex_run(text);

		if (n == ID_LEN)
			found = text;
		text += n ? n : 1;
	}
	return found;
}

/* Length of the name at the start of text; 0: it does not end as it should. */
static size_t name_len(const char *text, const char *after)
{
	size_t len = strcspn(text, "/\n"), tail = strlen(after);

	if (len <= tail || strncmp(text + len - tail, after, tail))
		return 0;
	return len - tail;
}

static const char *find_named(const char *text, size_t *ret_len)
{
	for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
		const char *at = strstr(text, named[i].before);
		size_t len = 0;

		if (at)
			len = name_len(at += strlen(named[i].before),
				       named[i].after);
		if (!len)
			continue;
		*ret_len = len;
		return at;
	}
	return NULL;
}

const char *gk_container_id(const char *cgroup, size_t *ret_len)
{
	const char *id = find_id(cgroup);

	if (id) {
		*ret_len = ID_LEN;
		return id;
	}
	return find_named(cgroup, ret_len);
}
