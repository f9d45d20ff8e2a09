/*
 * procwords.h - what a process calls itself, kept from one snapshot to the
 * next: owner, command line, container and pod change seldom, and reading
 * them costs three files. Internal to procfs.c.
 */
#ifndef GK_CORE_PROCWORDS_H
#define GK_CORE_PROCWORDS_H

#include <gpukit/gpukit.h>

#include "core/arena.h"

/* Zero: nothing is known. One block of memory, of whoever holds this. */
struct gk_procwords {
	struct gk_procwords_block *block;
	uint64_t read_ns; /* when */
};

void gk_procwords_free(struct gk_procwords *words);

/*
 * Writes what is known into p, whose pid and name are set; strings go into
 * the arena. False: nothing is known of a process of that name, or it is time
 * to read it again.
 */
bool gk_procwords_give(const struct gk_procwords *words, uint64_t now_ns,
		       struct gk_arena *arena, struct gk_process *p);

/* Keeps what was read into p. Without memory nothing is known. */
void gk_procwords_keep(struct gk_procwords *words, uint64_t now_ns,
		       const struct gk_process *p);

#endif
