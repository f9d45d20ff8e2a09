/* SPDX-License-Identifier: Apache-2.0 */
/* truncated_open_test.c - truncates a machine file while it is being opened. */
#include "base/err.h"
#include "machine/fixture.h"
#include "machine/store/gate.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"

#include <sys/mman.h>
#include <sys/stat.h>

static off_t left = -1; /* the next mapped file is cut to this size */

void *__real_mmap(void *at, size_t size, int prot, int flags, int fd,
		  off_t offset);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd,
		  off_t offset);

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd,
		  off_t offset)
{
	void *mapped = __real_mmap(at, size, prot, flags, fd, offset);

	if (fd >= 0 && left >= 0 && ftruncate(fd, left))
		abort();
	if (fd >= 0)
		left = -1;
	return mapped;
}

/* A missing part that opening does not read is reported by the first read. */
static void it_is_refused_or_lost_and_nobody_dies(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	int r;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct gkf_machine *m = NULL;
		struct fixture fx;
		struct stat st;

		fixture_open(&fx, 2);
		assert_int_equal(stat(fx.path, &st), 0);
		left = (off_t[]){0, page, st.st_size / 2, st.st_size - page}[i];
		r = gkf_machine_open(fx.path, &m);
		assert_int_equal(left, -1);
		if (i < 2 || r)
			assert_int_equal(r, GK_ERR_CORRUPT);
		else
			assert_false(gkf_machine_is_whole(m));
		gkf_machine_close(m);
		fixture_close(&fx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_is_refused_or_lost_and_nobody_dies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
