/*
 * environ.h - the environment of a process: read, sorted, with values that
 * look secret covered up.
 */
#ifndef GK_TUI_ENVIRON_H
#define GK_TUI_ENVIRON_H

#include "base/str.h"
#include "tui/signal.h"

struct tui_variable {
	const char *key; /* printable UTF-8, as the value */
	const char *value;
	bool secret;
};

struct tui_environ {
	struct tui_tag who;
	struct gk_buf title; /* "4242 (ana@GPU 0: Compute): python3 train.py" */
	struct tui_variable *list; /* by key */
	size_t count;
	struct gk_buf text; /* what list points into */
	int error;          /* why there is nothing; 0: read */
	size_t selected;
	bool unmasked;
};

/*
 * Reads the environment of e->who, as it was when its program started, in
 * place of one read before. Zero *e to start. proc is an open /proc. 0 or a
 * gk_err, which e->error says as well: GK_ERR_NOT_FOUND when another process
 * has its pid.
 */
int tui_environ_read(struct tui_environ *e, int proc);
void tui_environ_free(struct tui_environ *e);

/* The value as it is shown: covered while it is secret. */
const char *tui_environ_value(const struct tui_environ *e, size_t at);

#endif
