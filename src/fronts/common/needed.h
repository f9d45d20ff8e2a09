/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needed.h - third-party libraries with which our libraries compute, and the
 * text to show if one is not installed.
 */
#ifndef GKF_NEEDED_H
#define GKF_NEEDED_H

enum needed_id {
#define NEEDED(id, ...) NEEDED_##id,
#include "fronts/common/needed.def"
#undef NEEDED
	NEEDED_COUNT
};

/* The text that says how to install a library's package. */
#define NEEDED_GET(package)                                                    \
	"apt install " package                                                 \
	", or the package of your system that has this file"

struct needed {
	const char *file, *inside, *get, *users;
};

static const struct needed needed_libraries[NEEDED_COUNT] = {
#define NEEDED(id, file, inside, package, users)                               \
	{file, inside, NEEDED_GET(package), users},
#include "fronts/common/needed.def"
#undef NEEDED
};

/*
 * Opens a library for one of ours, without exposing its symbols to the program.
 * If it is not installed, opens our own library with the same functions. If
 * that is missing, too, returns NULL, and dlerror() says why.
 */
void *needed_open(enum needed_id id);

/* How the reason begins if a call is refused for a missing library: "libcufft
 * needs libfftw3.so.3...". */
#define NEEDED_MARK "needs "
#endif
