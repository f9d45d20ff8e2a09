/* SPDX-License-Identifier: Apache-2.0 */
/* emptied.c - allocates memory that the kernel zeroes in a forked child. */
#include "machine/store/emptied.h"
#include "base/err.h"

#include <sys/mman.h>

int gkf_emptied_new(struct gkf_emptied **ret)
{
	size_t size = sizeof(struct gkf_emptied);
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return GK_ERR_NOMEM;
	if (madvise(at, size, MADV_WIPEONFORK)) {
		munmap(at, size);
		return GK_ERR_NOMEM;
	}
	*ret = at;
	return 0;
}

void gkf_emptied_free(struct gkf_emptied *emptied)
{
	if (emptied)
		munmap(emptied, sizeof *emptied);
}
