/* hostname.c - a text of the file that changes while others read it. */
#include "machine/store/hostname.h"
#include "base/err.h"
#include "machine/file/numbers.h"
#include "machine/file/system_state.h"
#include "machine/store/lock.h"
#include "machine/store/view.h"

#include <stdatomic.h>
#include <string.h>

#define WORDS (GKF_TEXT_MAX / 8)

static void read_text(const struct gkf_text *text, char ret_text[GKF_TEXT_MAX])
{
	uint64_t seq, word;

	do {
		seq = atomic_load_explicit(&text->seq, memory_order_acquire);
		for (unsigned i = 0; i < WORDS; i++) {
			word = atomic_load_explicit(&text->word[seq % 2][i],
						    memory_order_relaxed);
			memcpy(ret_text + 8 * i, &word, 8);
		}
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load_explicit(&text->seq, memory_order_relaxed) != seq);
	ret_text[GKF_TEXT_MAX - 1] = '\0';
}

static int write_text(struct gkf_machine *m, struct gkf_text *text,
		      const char *to)
{
	uint64_t words[WORDS] = {0}, seq;
	size_t len = strnlen(to, GKF_TEXT_MAX);
	int r;

	if (len == GKF_TEXT_MAX)
		return GK_ERR_RANGE;
	memcpy(words, to, len);
	r = gkf_lock(m);
	if (r)
		return r;
	seq = atomic_load(&text->seq);
	atomic_thread_fence(memory_order_release);
	for (unsigned i = 0; i < WORDS; i++)
		atomic_store_explicit(&text->word[(seq + 1) % 2][i], words[i],
				      memory_order_relaxed);
	atomic_store_explicit(&text->seq, seq + 1, memory_order_release);
	gkf_unlock(m);
	return 0;
}

void gkf_hostname(const struct gkf_machine *m, unsigned device,
		  char ret_name[GKF_TEXT_MAX])
{
	read_text(&m->file->device[device].hostname, ret_name);
}

int gkf_hostname_set(struct gkf_machine *m, unsigned device, const char *name)
{
	return write_text(m, &m->file->device[device].hostname, name);
}
