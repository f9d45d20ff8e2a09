/* container.c - the container of a process, by the name of its cgroup. */
#include "core/procfs.h"

#include <ctype.h>
#include <string.h>

/* Ids of Docker, containerd, CRI-O and Podman are SHA-256 in hex. */
#define ID_LEN 64

/* Where container managers put the name when it is no such id. */
static const char *const named[] = {"/lxc/", "/lxc.payload.", "/lxc.payload/",
				    "/machine.slice/"};

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

static const char *find_named(const char *text, size_t *ret_len)
{
	for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
		const char *at = strstr(text, named[i]);

		if (!at)
			continue;
		at += strlen(named[i]);
		*ret_len = strcspn(at, "/\n");
		if (*ret_len)
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
