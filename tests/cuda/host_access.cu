/* SPDX-License-Identifier: Apache-2.0 */
/* host_access.cu - checks that the host faults when it reads device memory. */
#include "runtime.h"

#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	volatile char *at;
	int status;
	pid_t child = fork();

	if (!child) {
		OK(cudaMalloc((void **)&at, 4096));
		OK(cudaMemset((void *)at, 1, 4096));
		OK(cudaDeviceSynchronize());
		_exit(at[10]);
	}
	waitpid(child, &status, 0);
	if (!WIFSIGNALED(status))
		WRONG("device memory was read by the host: status %d", status);
	REQUIRE(WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
	return 0;
}
