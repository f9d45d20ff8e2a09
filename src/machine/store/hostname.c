/* SPDX-License-Identifier: Apache-2.0 */
/* hostname.c - reads and sets the host name of a device, a text in the file. */
#include "machine/store/hostname.h"
#include "base/assert.h"
#include "base/err.h"
#include "base/pair.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/system_state.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <stdatomic.h>
#include <string.h>

static int write_text(struct gkf_machine *m, struct gkf_text *text,
		      const char *to)
{
	uint64_t words[GKF_TEXT_MAX / 8] = {0};
	size_t len = strnlen(to, GKF_TEXT_MAX);
	int r;

	if (len == GKF_TEXT_MAX)
		return GK_ERR_RANGE;
	memcpy(words, to, len);
	r = gkf_lock(m);
	if (r)
		return r;
	gk_pair_write(&text->seq, text->word, words, sizeof words);
	gkf_unlock(m);
	return 0;
}

void gkf_hostname(const struct gkf_machine *m, unsigned device,
		  char ret_name[GKF_TEXT_MAX])
{
	const struct gkf_text *text = &m->file->device[device].hostname;
	uint64_t words[GKF_TEXT_MAX / 8];

	GK_ASSERT(device < m->device_count);
	gk_pair_read(&text->seq, text->word, words, sizeof words);
	memcpy(ret_name, words, sizeof words);
	ret_name[GKF_TEXT_MAX - 1] = '\0';
}

int gkf_hostname_set(struct gkf_machine *m, unsigned device, const char *name)
{
	return write_text(m, &m->file->device[device].hostname, name);
}
