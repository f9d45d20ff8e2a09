/* SPDX-License-Identifier: Apache-2.0 */
/* linked.c - is linked with the driver and prints a device's memory. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

int cuInit(unsigned int flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemGetInfo_v2(size_t *free, size_t *total);

int main(int argc, char **argv)
{
	size_t free = 0, total = 0;
	void *context = NULL;
	char line[8];

	printf("%d ", cuInit(0));
	printf("%d ", cuDevicePrimaryCtxRetain(&context, 0));
	printf("%d\n", cuCtxSetCurrent(context));
	fflush(stdout);
	/* Waits until it is told to continue. */
	if (argc > 1 && argv[1][0] && !fgets(line, sizeof line, stdin))
		return 1;
	printf("%d ", cuMemGetInfo_v2(&free, &total));
	printf("%d\n", total > 0 && free < total);
	return 0;
}
