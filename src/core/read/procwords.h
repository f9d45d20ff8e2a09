/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procwords.h - keeps the owner, command line, container and pod of a process
 * for later snapshots: they rarely change, and reading them means reading three
 * files. Internal to procfs.c.
 */
#ifndef GK_CORE_PROCWORDS_H
#define GK_CORE_PROCWORDS_H

#include <gpukit/gpukit.h>

#include "core/arena.h"

/* The texts of a process, in a block that this struct owns. Zeros: none. */
struct gk_procwords {
	struct gk_procwords_block *block;
	uint64_t read_ns; /* when the texts were read */
};

void gk_procwords_free(struct gk_procwords *words);

/*
 * Copies the texts to p, whose pid and name are set; the strings are in the
 * arena. Returns false if none are kept for a process of that name, or if they
 * are due to be read again.
 */
bool gk_procwords_give(const struct gk_procwords *words, uint64_t now_ns,
		       struct gk_arena *arena, struct gk_process *p);

/* Keeps the texts of `p`; if memory runs out, keeps none. */
void gk_procwords_keep(struct gk_procwords *words, uint64_t now_ns,
		       const struct gk_process *p);

#endif
