/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - finds pages of the manual. */
#ifndef GK_CLI_MANUAL_PAGES_H
#define GK_CLI_MANUAL_PAGES_H

#include "cli/page.h"

/* Calls visit() for each page of each verb and of gpukit itself. */
void pages_each(void (*visit)(void *data, const struct gk_manual_page *page,
			      const char *summary),
		void *data);

/* Returns the page with a name, such as "fake ctl", or NULL. */
const struct gk_manual_page *pages_find(const char *name, size_t len);

/* Whether a page is a subcommand of the page `above`. */
bool pages_below(const struct gk_manual_page *page,
		 const struct gk_manual_page *above);

/* Returns the last word of a page's name. */
const char *pages_last_word(const struct gk_manual_page *page);

/*
 * Returns the parts of the page's --help text: *ret_text, of *ret_len bytes,
 * comes before the options, and *ret_more after them.
 */
void pages_doc(const struct gk_manual_page *page, const char **ret_text,
	       size_t *ret_len, const char **ret_more);

/* Returns the page's usages, one per line. */
const char *pages_usage(const struct gk_manual_page *page);

#endif
