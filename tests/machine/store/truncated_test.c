/* Programs that handle SIGBUS themselves, on a machine. */
#include "machine/fixture.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

static sigjmp_buf out;

static void jump_out(int number)
{
	(void)number;
	siglongjmp(out, 1);
}

/* A page of a file that is not there any more. */
static volatile char *page_of_nothing(void)
{
	int fd = memfd_create("nothing", MFD_CLOEXEC);
	void *page;

	if (fd < 0 || ftruncate(fd, 4096))
		return NULL;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return page == MAP_FAILED || ftruncate(fd, 0) ? NULL : page;
}

/* How many of three it caught. */
static int catch_three(void)
{
	volatile char *page = page_of_nothing();
	volatile int caught = 0;

	for (volatile int i = 0; page && i < 3; i++) {
		if (sigsetjmp(out, 1))
			caught++;
		else
			*page = 1;
	}
	return caught;
}

static void who_leaves_its_handler_by_a_jump_may_do_so_again(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		struct fixture fx;

		signal(SIGBUS, jump_out);
		fixture_open(&fx, 1);
		pid = catch_three();
		fixture_close(&fx);
		_exit(pid);
	}
	fixture_await(pid, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(who_leaves_its_handler_by_a_jump_may_do_so_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
