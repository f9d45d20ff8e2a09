/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procwords.c - keeps the owner, command line, container and pod of processes.
 */
#include "core/read/procwords.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* After this time the texts of a process are read again, because it may have
 * changed its arguments, or called exec() under the same name. A few ms that
 * depend on the pid are added, so that the processes are not all due in the
 * same snapshot. */
#define AGE_MAX (5 * GK_NS_PER_S)
#define STAGGER (100 * GK_NS_PER_MS)

/* The texts in a block, each ended by a NUL. The arguments follow them; they
 * may contain any bytes. */
enum { NAME, USER, COMMAND, CONTAINER, POD, TEXTS };

struct gk_procwords_block {
	uid_t uid;
	size_t args_len;
	size_t at[TEXTS + 1]; /* the last one is the offset of the arguments */
	char bytes[];
};

void gk_procwords_free(struct gk_procwords *words)
{
	free(words->block);
	*words = (struct gk_procwords){0};
}

bool gk_procwords_give(const struct gk_procwords *words, uint64_t now_ns,
		       struct gk_arena *arena, struct gk_process *p)
{
	const struct gk_procwords_block *block = words->block;
	const char *copy;
	uint64_t most = AGE_MAX + (unsigned)p->pid % 16 * STAGGER;

	if (!block || now_ns - words->read_ns > most ||
	    strcmp(block->bytes + block->at[NAME], p->name) != 0)
		return false;
	copy = gk_arena_copy(arena, block->bytes,
			     block->at[TEXTS] + block->args_len);
	if (!copy)
		return false;
	p->uid = block->uid;
	p->user = copy + block->at[USER];
	p->command = copy + block->at[COMMAND];
	p->container = copy + block->at[CONTAINER];
	p->pod = copy + block->at[POD];
	p->args = copy + block->at[TEXTS];
	p->args_len = block->args_len;
	return true;
}

void gk_procwords_keep(struct gk_procwords *words, uint64_t now_ns,
		       const struct gk_process *p)
{
	const char *const texts[TEXTS] = {
	    [NAME] = p->name,       [USER] = p->user,
	    [COMMAND] = p->command, [CONTAINER] = p->container,
	    [POD] = p->pod,
	};
	struct gk_procwords_block *block;
	size_t at[TEXTS + 1] = {0};

	for (int i = 0; i < TEXTS; i++)
		at[i + 1] = at[i] + strlen(texts[i]) + 1;
	gk_procwords_free(words);
	block = malloc(sizeof *block + at[TEXTS] + p->args_len);
	if (!block)
		return;
	block->uid = p->uid;
	block->args_len = p->args_len;
	memcpy(block->at, at, sizeof at);
	for (int i = 0; i < TEXTS; i++)
		memcpy(block->bytes + at[i], texts[i], at[i + 1] - at[i]);
	if (p->args_len)
		memcpy(block->bytes + at[TEXTS], p->args, p->args_len);
	*words = (struct gk_procwords){block, now_ns};
}
