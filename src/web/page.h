/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - the files of the page, embedded in the binary. */
#ifndef GK_WEB_PAGE_H
#define GK_WEB_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct gk_web_file {
	const char *type, *body;
	size_t len;
};

/* Finds the file for a path; false if there is none. */
bool gk_web_file(const char *path, struct gk_web_file *ret_file);

#endif
