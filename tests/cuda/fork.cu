/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.cu - checks that a child of a process that uses CUDA may not use it, but
 * a child from before may.
 */
#include "runtime.h"

#include <sys/wait.h>
#include <unistd.h>

static int ended(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

int main(void)
{
	int go[2], count;
	void *at;
	pid_t before, after;
	char c = 0;

	if (pipe(go))
		WRONG("no pipe");
	before = fork();
	if (!before) {
		/* When the parent is already at work. */
		if (read(go[0], &c, 1) != 1)
			_exit(2);
		OK(cudaMalloc(&at, 1000));
		OK(cudaMemset(at, 1, 1000));
		OK(cudaDeviceSynchronize());
		_exit(0);
	}
	OK(cudaMalloc(&at, 1000));
	after = fork();
	if (!after) {
		EXPECT(cudaGetDeviceCount(&count),
		       cudaErrorInitializationError);
		EXPECT(cudaMalloc(&at, 1000), cudaErrorInitializationError);
		EXPECT(cudaDeviceSynchronize(), cudaErrorInitializationError);
		_exit(0);
	}
	EQUAL(ended(after), 0);
	if (write(go[1], &c, 1) != 1)
		WRONG("no child to tell");
	EQUAL(ended(before), 0);
	OK(cudaMemset(at, 0, 1000));
	OK(cudaDeviceSynchronize());
	OK(cudaFree(at));
	return 0;
}
