/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.c - owns the table of names of refused functions and features; see
 * coverage.h. The table only grows and needs no lock: a key claims an entry,
 * and all processes then write the same content into it.
 */
#include "machine/store/coverage.h"
#include "base/assert.h"
#include "base/mix.h"
#include "base/str.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/work_state.h"
#include "machine/store/view.h"

#include <pthread.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define WORDS (GKF_REFUSED_MAX / 8)

static char caller_name[GKF_CALLER_MAX];

static void name_caller(void)
{
	char text[GKF_CALLER_MAX + 2];
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	gk_str_copy(caller_name, sizeof caller_name, *text ? text : "?");
}

const char *gkf_caller(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, name_caller);
	return caller_name;
}

void gkf_cuda_refuse(struct gkf_machine *m, unsigned row)
{
	if (row >= GKF_CUDA_FUNCTIONS_MAX)
		return;
	atomic_fetch_add(&m->file->cuda_refused[row], 1);
	gkf_refusal_count(m, GKF_REFUSED_CUDA + row, gkf_caller());
}

static uint64_t key_of_name(const uint64_t name[WORDS], enum gkf_named kind)
{
	uint64_t key = gkf_mix(kind + 1);

	for (int i = 0; i < WORDS; i++)
		key = gkf_mix(key ^ name[i]);
	return key | 1; /* 0 marks a free entry */
}

/*
 * The index of a key's entry, which is added if there is none. GKF_NAMES_MAX:
 * the table is full.
 */
static unsigned find_name(struct gkf_name *table, uint64_t key)
{
	for (unsigned i = 0; i < GKF_NAMES_MAX; i++) {
		unsigned at = (unsigned)((key + i) % GKF_NAMES_MAX);
		uint64_t found = atomic_load(&table[at].key);

		if (found == key ||
		    (!found && atomic_compare_exchange_strong(&table[at].key,
							      &found, key)) ||
		    found == key)
			return at;
	}
	return GKF_NAMES_MAX;
}

void gkf_refuse_named(struct gkf_machine *m, enum gkf_named kind,
		      const char *name)
{
	struct gkf_name *table = m->file->named;
	uint64_t words[WORDS] = {0};
	unsigned at;

	GK_ASSERT((unsigned)kind < GKF_NAMED_KINDS);
	memcpy(words, name, strnlen(name, sizeof words - 1));
	at = find_name(table, key_of_name(words, kind));
	if (at == GKF_NAMES_MAX) {
		atomic_fetch_add(&m->file->refusals.lost, 1);
		return;
	}
	if (!atomic_load(&table[at].kind)) {
		for (int i = 0; i < WORDS; i++)
			atomic_store(&table[at].name[i], words[i]);
		atomic_store(&table[at].kind, (uint64_t)kind + 1);
	}
	atomic_fetch_add(&table[at].count, 1);
	gkf_refusal_count(m, GKF_REFUSED_NAMED + at, gkf_caller());
}

bool gkf_named_read(struct gkf_machine *m, unsigned index,
		    struct gkf_named_count *ret_named)
{
	struct gkf_name *from = &m->file->named[index % GKF_NAMES_MAX];
	uint64_t kind = atomic_load(&from->kind), words[WORDS];

	ret_named->count = atomic_load(&from->count);
	if (!kind || kind > GKF_NAMED_KINDS || !ret_named->count)
		return false;
	ret_named->kind = (enum gkf_named)(kind - 1);
	for (int i = 0; i < WORDS; i++)
		words[i] = atomic_load(&from->name[i]);
	memcpy(ret_named->name, words, sizeof words);
	ret_named->name[GKF_REFUSED_MAX - 1] = '\0';
	return true;
}
