/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - embeds the page's files. */
#include "web/page.h"

#include "base/array.h"

#include <string.h>

#define HTML   "text/html; charset=utf-8"
#define CSS    "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define IMAGE  "image/svg+xml"

/* name is the linker's symbol, file the name in PAGE_DIR. */
#define EMBED(name, file)                                                      \
	__asm__(".section .rodata\n" #name ":\n"                               \
		".incbin \"" PAGE_DIR "/" file "\"\n" #name "_end:\n"          \
		".byte 0\n"                                                    \
		".previous\n");                                                \
	extern const char name[] __attribute__((visibility("hidden")));        \
	extern const char name##_end[] __attribute__((visibility("hidden")));

EMBED(gk_page_html, "page.html")
EMBED(gk_page_css, "page.css")
EMBED(gk_page_page, "page.js")
EMBED(gk_page_lane, "lane.js")
EMBED(gk_page_details, "details.js")
EMBED(gk_page_processes, "processes.js")
EMBED(gk_page_filter, "filter.js")
EMBED(gk_page_posix, "posix.js")
EMBED(gk_page_hosts, "hosts.js")
EMBED(gk_page_draw, "draw.js")
EMBED(gk_page_words, "words.js")
EMBED(gk_page_icon, "icon.svg")

#define FILE(path, type, name)                                                 \
	{                                                                      \
		path, type, name, name##_end                                   \
	}

bool gk_web_file(const char *path, struct gk_web_file *ret_file)
{
	static const struct {
		const char *path, *type, *body, *end;
	} files[] = {
	    FILE("/", HTML, gk_page_html),
	    FILE("/page.css", CSS, gk_page_css),
	    FILE("/page.js", SCRIPT, gk_page_page),
	    FILE("/lane.js", SCRIPT, gk_page_lane),
	    FILE("/details.js", SCRIPT, gk_page_details),
	    FILE("/processes.js", SCRIPT, gk_page_processes),
	    FILE("/filter.js", SCRIPT, gk_page_filter),
	    FILE("/posix.js", SCRIPT, gk_page_posix),
	    FILE("/hosts.js", SCRIPT, gk_page_hosts),
	    FILE("/draw.js", SCRIPT, gk_page_draw),
	    FILE("/words.js", SCRIPT, gk_page_words),
	    FILE("/icon.svg", IMAGE, gk_page_icon),
	};

	for (size_t i = 0; i < COUNT(files); i++)
		if (!strcmp(files[i].path, path)) {
			*ret_file = (struct gk_web_file){
			    files[i].type, files[i].body,
			    (size_t)(files[i].end - files[i].body)};
			return true;
		}
	return false;
}
