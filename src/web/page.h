/* page.h - the files of the page, which lie in the command itself. */
#ifndef GK_WEB_PAGE_H
#define GK_WEB_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct gk_web_file {
	const char *type, *body;
	size_t len;
};

/* The file of a path; false: there is none. */
bool gk_web_file(const char *path, struct gk_web_file *ret_file);

#endif
