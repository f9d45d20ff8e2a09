/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c - finds pages of the manual. */
#include "cli/manual/pages.h"
#include "cli/manual/manual.h"

#include <string.h>

void pages_each(void (*visit)(void *data, const struct gk_manual_page *page,
			      const char *summary),
		void *data)
{
	const struct gk_manual_page *page;

	for (page = gk_general_pages; page->name; page++)
		visit(data, page, page->summary);
	for (const struct gk_verb_pages *of = gk_verb_pages; of->verb; of++)
		for (page = of->pages; page->name; page++)
			visit(data, page,
			      page->summary ? page->summary
					    : of->verb->summary);
}

struct wanted {
	const char *name;
	size_t len;
	const struct gk_manual_page *found;
};

static void compare_page(void *data, const struct gk_manual_page *page,
			 const char *summary)
{
	struct wanted *wanted = data;

	(void)summary;
	if (strlen(page->name) == wanted->len &&
	    !strncmp(page->name, wanted->name, wanted->len))
		wanted->found = page;
}

const struct gk_manual_page *pages_find(const char *name, size_t len)
{
	struct wanted wanted = {name, len, NULL};

	pages_each(compare_page, &wanted);
	return wanted.found;
}

bool pages_below(const struct gk_manual_page *page,
		 const struct gk_manual_page *above)
{
	size_t len = strlen(above->name);

	return len && !strncmp(page->name, above->name, len) &&
	       page->name[len] == ' ';
}

const char *pages_last_word(const struct gk_manual_page *page)
{
	const char *blank = strrchr(page->name, ' ');

	return blank ? blank + 1 : page->name;
}

void pages_doc(const struct gk_manual_page *page, const char **ret_text,
	       size_t *ret_len, const char **ret_more)
{
	const char *doc = page->argp ? page->argp->doc : page->doc;
	size_t len;

	doc = doc ? doc : "";
	len = strcspn(doc, "\v");
	*ret_text = doc;
	*ret_len = len;
	*ret_more = doc[len] ? doc + len + 1 : "";
}

const char *pages_usage(const struct gk_manual_page *page)
{
	const char *usage = page->argp ? page->argp->args_doc : page->synopsis;

	return usage ? usage : "";
}
