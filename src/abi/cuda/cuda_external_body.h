/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of the structs for external memory and semaphores, which are the same
 * in the driver and in the runtime. In CUDA 12 some structs of the runtime lack
 * the reserved members, so the macros take these members as an argument.
 */
#ifndef GPUKIT_ABI_CUDA_EXTERNAL_BODY_H
#define GPUKIT_ABI_CUDA_EXTERNAL_BODY_H

/*
 * nvsci: the name of the member that points to an object of NvSciBuf or
 * NvSciSync.
 */
#define CUDA_EXTERNAL_HANDLE(nvsci)                                            \
	union {                                                                \
		int fd;                                                        \
		struct {                                                       \
			void *handle;                                          \
			const void *name;                                      \
		} win32;                                                       \
		const void *nvsci;                                             \
	} handle

/*
 * `room` stands for the reserved members, which follow the members that all
 * versions have.
 */
#define CUDA_EXTERNAL_SIGNAL(room)                                             \
	CUDA_EXTERNAL_PARAMS(unsigned long long key;, room)
#define CUDA_EXTERNAL_WAIT(room)                                               \
	CUDA_EXTERNAL_PARAMS(unsigned long long key; unsigned int timeoutMs;   \
			     , room)
#define CUDA_EXTERNAL_PARAMS(key, room)                                        \
	struct {                                                               \
		struct {                                                       \
			unsigned long long value;                              \
		} fence;                                                       \
		union {                                                        \
			void *fence;                                           \
			unsigned long long reserved;                           \
		} nvSciSync;                                                   \
		struct {                                                       \
			key                                                    \
		} keyedMutex;                                                  \
		room                                                           \
	} params

#endif
