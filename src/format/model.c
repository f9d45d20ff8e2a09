/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - shortens the names of GPU models to few columns. */
#include "format/model.h"

#include "format/width.h"

#include <stdio.h>
#include <string.h>

static const char *const makers[] = {"NVIDIA ", "GeForce ", "Tesla ", NULL};

/*
 * Words that only name the form factor. They are dropped at level 1, the memory
 * size at level 2.
 */
static const char *const forms[] = {"SXM", "PCI", "HBM", "NVL", NULL};

static const char *bare_name(const char *name)
{
	for (int i = 0; makers[i]; i++)
		if (!strncmp(name, makers[i], strlen(makers[i])))
			name += strlen(makers[i]);
	return name;
}

static bool is_dropped(const char *word, size_t len, int level)
{
	for (int i = 0; level > 0 && forms[i]; i++)
		if (!strncmp(word, forms[i], strlen(forms[i])))
			return true;
	if (level > 1 && len > 2 && !strncmp(word + len - 2, "GB", 2))
		return true;
	return level > 2 && len == 3 &&
	       (!strncmp(word, "RTX", 3) || !strncmp(word, "GTX", 3));
}

/* Writes a name without the words that are dropped at the given level. */
static void name_at(const char *name, int level, char dst[GK_NAME_MAX])
{
	size_t len = 0;

	*dst = '\0';
	name = bare_name(name);
	while (*name) {
		size_t word = strcspn(name, " -");

		if (!is_dropped(name, word, level) || (!len && !name[word]))
			len += (size_t)snprintf(dst + len, GK_NAME_MAX - len,
						"%s%.*s",
						!len              ? ""
						: name[-1] == '-' ? "-"
								  : " ",
						(int)word, name);
		name += word + (name[word] != '\0');
	}
}

/* Whether names shortened to a level still differ for different models. */
static bool tells_apart(const struct gk_snapshot *snap, int level)
{
	char a[GK_NAME_MAX], b[GK_NAME_MAX];

	for (size_t i = 0; i < snap->device_count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct gk_device *x = &snap->devices[i];
			const struct gk_device *y = &snap->devices[k];

			if (x->mig_index >= 0 || y->mig_index >= 0 ||
			    !strcmp(x->name, y->name))
				continue;
			name_at(x->name, level, a);
			name_at(y->name, level, b);
			if (!strcmp(a, b))
				return false;
		}
	return true;
}

char *gk_short_model(const struct gk_snapshot *snap, const struct gk_device *d,
		     int width, char dst[GK_NAME_MAX])
{
	for (int level = 0; level <= 3; level++) {
		if (level && !tells_apart(snap, level))
			break;
		name_at(d->name, level, dst);
		if ((int)gk_columns(dst, strlen(dst)) <= width)
			break;
	}
	return dst;
}

bool gk_one_model(const struct gk_snapshot *snap)
{
	const char *name = NULL;

	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];

		if (d->mig_index >= 0)
			continue;
		if (name && strcmp(name, d->name) != 0)
			return false;
		name = d->name;
	}
	return name != NULL;
}
