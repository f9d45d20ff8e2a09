/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - is the program of duplicate names: it and its libraries (linked,
 * loaded locally, loaded globally, and needed by a loaded one) define the same
 * names, and each looks them up in every way. It prints what it found, which
 * must be the same whatever is preloaded. Arguments: libraries to load globally
 * first.
 */
#include "object.h"

#include <stdlib.h>

void look_first(void);
void look_second(void);

static void *open_library(const char *path, int mode)
{
	void *handle = dlopen(path, RTLD_NOW | mode);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return handle;
}

static void look_in(void *library, const char *function)
{
	void (*look)(void);

	*(void **)&look = dlsym(library, function);
	look();
}

int main(int argc, char **argv)
{
	void *plugin, *deep;

	setbuf(stdout, NULL);
	for (int i = 1; i < argc; i++)
		open_library(argv[i], RTLD_GLOBAL);
	look_around();
	look_first();
	look_second();
	plugin = open_library("libplugin.so", RTLD_LOCAL);
	look_in(plugin, "look_plugin");
	look_in(plugin, "look_needed");
	deep = open_library("libdeep.so", RTLD_LOCAL | RTLD_DEEPBIND);
	look_in(deep, "look_deep");
	look_by("program", dlopen(NULL, RTLD_LAZY));
	look_by("plugin", plugin);
	look_by("deep", deep);
	look_in(open_library("libglobal.so", RTLD_GLOBAL), "look_global");
	look_around();
	look_first();
	look_in(plugin, "look_plugin");
	return 0;
}
