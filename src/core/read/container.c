/* SPDX-License-Identifier: Apache-2.0 */
/* container.c - finds the container and pod of a process by its cgroup. */
#include "core/read/procfs.h"
#include "base/array.h"

#include <ctype.h>
#include <string.h>

/* Ids of Docker, containerd, CRI-O and Podman are SHA-256 in hex. */
#define ID_LEN 64

/* The text before and after a container's name, for managers that use names
 * instead of ids. */
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

/* The last id in the text: it belongs to the innermost container. */
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

/* The length of a name without the suffix `after`; 0 if it does not end with
 * it. */
static size_t name_len(const char *text, const char *after)
{
	size_t len = strcspn(text, "/\n"), tail = strlen(after);

	if (len <= tail || strncmp(text + len - tail, after, tail))
		return 0;
	return len - tail;
}

static const char *find_named(const char *text, size_t *ret_len)
{
	for (size_t i = 0; i < COUNT(named); i++) {
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

/*
 * The length of a pod's uid. The uid is a UUID (with '_' instead of '-' in
 * names made by systemd), or 32 hex digits for a pod that the node itself
 * starts.
 */
static size_t uid_len(const char *text)
{
	size_t len = strspn(text, "0123456789abcdef-_");

	if (len == 36 && text[8] == text[13] && strchr("-_", text[8]))
		return len;
	return len == 32 && hex_run(text) == len ? len : 0;
}

size_t gk_pod_uid(const char *cgroup, char dst[GK_POD_UID_MAX])
{
	const char *at = strstr(cgroup, "kubepods");
	size_t len = 0;

	for (; at && !len; at = strstr(at + 1, "pod")) {
		if (strncmp(at, "pod", 3) || !strchr("/-", at[-1]))
			continue;
		len = uid_len(at + 3);
		memcpy(dst, at + 3, len);
	}
	for (size_t i = 0; i < len; i++)
		if (dst[i] == '_')
			dst[i] = '-';
	dst[len] = '\0';
	return len;
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
