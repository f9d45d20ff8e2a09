/* SPDX-License-Identifier: Apache-2.0 */
/* memory_info.c - asks NVML for the memory of a device as older programs do. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW), *device = NULL;
	int (*init)(void), (*handle)(unsigned int, void **);
	int (*info)(void *, unsigned long long *);
	unsigned long long memory[3];

	if (!nvml)
		return 1;
	*(void **)&init = dlsym(nvml, "nvmlInit_v2");
	*(void **)&handle = dlsym(nvml, "nvmlDeviceGetHandleByIndex_v2");
	*(void **)&info = dlsym(nvml, "nvmlDeviceGetMemoryInfo");
	if (init() || handle(0, &device) || info(device, memory))
		return 1;
	printf("%llu\n", memory[0]);
	return 0;
}
