/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_find.c - finds scenarios by name or path; see scenario_yaml.h. */
#include "base/err.h"
#include "machine/words/scenario_yaml.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_scenario_path(const char *name)
{
	size_t len = strlen(name);

	return strchr(name, '/') ||
	       (len > 5 && !strcmp(name + len - 5, ".yaml"));
}

static int is_scenario(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && entry->d_name[0] != '.' &&
	       !strcmp(entry->d_name + len - 5, ".yaml");
}

void gkf_scenario_list(const char *const *dirs, struct gk_buf *paths)
{
	for (; *dirs; dirs++) {
		struct dirent **entries;
		int n = scandir(*dirs, &entries, is_scenario, alphasort);

		for (int i = 0; i < n; i++) {
			gk_buf_printf(paths, "%s/%s", *dirs,
				      entries[i]->d_name);
			gk_buf_add(paths, "", 1);
			free(entries[i]);
		}
		if (n >= 0)
			free(entries);
	}
}

/* Adds the names of all scenarios: "a, b, c". */
static void list_names(const char *const *dirs, struct gk_buf *names)
{
	struct gk_buf paths = {0};

	gkf_scenario_list(dirs, &paths);
	for (size_t at = 0; at < paths.len; at += strlen(paths.data + at) + 1) {
		const char *name = strrchr(paths.data + at, '/') + 1;

		gk_buf_printf(names, "%s%.*s", names->len ? ", " : "",
			      (int)strlen(name) - 5, name);
	}
	gk_buf_free(&paths);
}

int gkf_scenario_find(const char *const *dirs, const char *name, char *ret_path,
		      size_t path_cap, char *ret_message, size_t cap)
{
	struct gk_buf names = {0}, text = {0};

	if (is_scenario_path(name) &&
	    gk_str_copy(ret_path, path_cap, name) < path_cap)
		return 0;
	for (const char *const *dir = dirs; !is_scenario_path(name) && *dir;
	     dir++)
		if (*name &&
		    (size_t)snprintf(ret_path, path_cap, "%s/%s.yaml", *dir,
				     name) < path_cap &&
		    !access(ret_path, R_OK))
			return 0;
	list_names(dirs, &names);
	gk_buf_printf(&text,
		      "no scenario '%.200s'; there are %s, or give the path "
		      "of a .yaml file",
		      name, names.data ? names.data : "none");
	if (cap)
		gk_str_clean(ret_message, cap, text.data ? text.data : "",
			     text.len);
	gk_buf_free(&names);
	gk_buf_free(&text);
	return GK_ERR_NOT_FOUND;
}
