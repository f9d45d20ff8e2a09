/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_find.c - finds profiles by id, alias or path and follows `inherits`.
 */
#include "base/err.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/words/profile_facts.h"
#include "machine/words/profile_yaml.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 8 /* levels of `inherits` */

/* A file being read, and the file that inherits from it. */
struct link {
	const struct link *child; /* the file that inherits from this one */
	const char *dir;
	char path[PATH_MAX];
	unsigned depth;
	/* Line of the key `inherits` while the profile that it names is being
	 * read. */
	unsigned line;
	char *message;
	size_t cap;
};

static bool is_profile_path(const char *name)
{
	size_t len = strlen(name);

	return strchr(name, '/') ||
	       (len > 5 && !strcmp(name + len - 5, ".yaml"));
}

static int is_profile(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && entry->d_name[0] != '.' &&
	       !strcmp(entry->d_name + len - 5, ".yaml");
}

/* Calls call() for each profile of dir, sorted, until it returns nonzero. */
static int each_file(const char *dir,
		     int (*call)(void *data, const char *dir, const char *name),
		     void *data)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, is_profile, alphasort), found = 0;

	for (int i = 0; i < n; i++) {
		if (!found)
			found = call(data, dir, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return found;
}

static int add_id(void *data, const char *dir, const char *name)
{
	struct gk_buf *ids = data;

	(void)dir;
	if (ids->len)
		gk_buf_puts(ids, ", ");
	gk_buf_add(ids, name, strlen(name) - 5);
	return 0;
}

void gkf_profile_list(const char *dir, struct gk_buf *ids)
{
	each_file(dir, add_id, ids);
}

struct search {
	const char *alias;
	char *path; /* PATH_MAX bytes */
};

static int no_parent(void *data, const char *name, unsigned line,
		     struct gkf_profile *ret_parent,
		     struct gkf_facts *ret_facts)
{
	(void)data, (void)name, (void)line, (void)ret_parent, (void)ret_facts;
	return 0;
}

/* Whether a file has the alias; false on errors, which do not matter here. */
static int has_alias(void *data, const char *dir, const char *name)
{
	struct search *search = data;
	struct gk_buf aliases = {0};
	struct gkf_profile profile;
	struct gkf_facts facts;
	char path[PATH_MAX], message[256], word[GKF_NAME_MAX + 2];
	int found;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >=
		sizeof path ||
	    (size_t)snprintf(word, sizeof word, "\n%s\n", search->alias) >=
		sizeof word)
		return 0;
	gkf_profile_read(path, no_parent, NULL, &aliases, &profile, &facts,
			 message, sizeof message);
	found = aliases.data && strstr(aliases.data, word);
	if (found)
		memcpy(search->path, path, sizeof path);
	gk_buf_free(&aliases);
	return found;
}

/*
 * Writes a message of one line; if `inherits` is being followed, it begins with
 * the line of that key.
 */
static int __attribute__((format(printf, 2, 3)))
fail(const struct link *link, const char *format, ...)
{
	struct gk_buf text = {0};
	char detail[GKF_PROFILE_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(detail, sizeof detail, format, args);
	va_end(args);
	if (link->child)
		gk_buf_printf(&text, "%s:%u: inherits: ", link->child->path,
			      link->child->line);
	gk_buf_puts(&text, detail);
	if (text.data && link->cap)
		gk_str_clean(link->message, link->cap, text.data, text.len);
	gk_buf_free(&text);
	return GK_ERR_INVALID;
}

static int not_found(const struct link *link, const char *name)
{
	struct gk_buf ids = {0};

	gkf_profile_list(link->dir, &ids);
	fail(link,
	     "no profile '%s' in %s; there are %s, or give the path of a "
	     ".yaml file",
	     name, link->dir, ids.data ? ids.data : "none");
	gk_buf_free(&ids);
	return GK_ERR_NOT_FOUND;
}

/*
 * The length of the directory to which a path is relative: the directory of the
 * file that contains the path. 0: none.
 */
static int base_dir_len(const struct link *link, const char *name)
{
	const char *slash;

	if (*name == '/' || !link->child)
		return 0;
	slash = strrchr(link->child->path, '/');
	return slash ? (int)(slash - link->child->path + 1) : 0;
}

static int locate_profile(struct link *link, const char *name)
{
	struct search search = {name, link->path};
	FILE *f;

	if (is_profile_path(name)) {
		if ((size_t)snprintf(link->path, sizeof link->path, "%.*s%s",
				     base_dir_len(link, name),
				     link->child ? link->child->path : "",
				     name) >= sizeof link->path)
			return not_found(link, name);
		return 0;
	}
	if (!*name ||
	    (size_t)snprintf(link->path, sizeof link->path, "%s/%s.yaml",
			     link->dir, name) >= sizeof link->path)
		return not_found(link, name);
	f = fopen(link->path, "re");
	if (f)
		return fclose(f), 0;
	return each_file(link->dir, has_alias, &search) ? 0
							: not_found(link, name);
}

static bool is_same_file(const char *a, const char *b)
{
	char real_a[PATH_MAX], real_b[PATH_MAX];

	return realpath(a, real_a) && realpath(b, real_b) &&
	       !strcmp(real_a, real_b);
}

static int check_cycle(const struct link *link)
{
	for (const struct link *l = link->child; l; l = l->child) {
		if (!is_same_file(l->path, link->path))
			continue;
		return fail(link,
			    "'%s' inherits from this file in turn; a profile "
			    "must not inherit from itself",
			    link->path);
	}
	if (link->depth > DEPTH_MAX)
		return fail(link, "too deep; at most %d profiles in a row",
			    DEPTH_MAX);
	return 0;
}

static int load_profile(const struct link *child, const char *dir,
			const char *name, struct gkf_profile *ret_profile,
			struct gkf_facts *ret_facts, char *message, size_t cap);

static int load_parent(void *data, const char *name, unsigned line,
		       struct gkf_profile *ret_parent,
		       struct gkf_facts *ret_facts)
{
	struct link *child = data;

	child->line = line;
	return load_profile(child, child->dir, name, ret_parent, ret_facts,
			    child->message, child->cap);
}

static int load_profile(const struct link *child, const char *dir,
			const char *name, struct gkf_profile *ret_profile,
			struct gkf_facts *ret_facts, char *message, size_t cap)
{
	struct link link = {.child = child,
			    .dir = dir,
			    .depth = child ? child->depth + 1 : 0,
			    .message = message,
			    .cap = cap};
	int err = locate_profile(&link, name);

	if (!err)
		err = check_cycle(&link);
	return err ? err
		   : gkf_profile_read(link.path, load_parent, &link, NULL,
				      ret_profile, ret_facts, message, cap);
}

int gkf_profile_facts(const char *dir, const char *id_or_path,
		      struct gkf_profile *ret_profile,
		      struct gkf_facts *ret_facts, char *ret_message,
		      size_t cap)
{
	return load_profile(NULL, dir, id_or_path, ret_profile, ret_facts,
			    ret_message, cap);
}

int gkf_profile_load(const char *dir, const char *id_or_path,
		     struct gkf_profile *ret_profile, char *ret_message,
		     size_t cap)
{
	struct gkf_facts facts;

	return gkf_profile_facts(dir, id_or_path, ret_profile, &facts,
				 ret_message, cap);
}
