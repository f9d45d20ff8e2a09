/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - the load of `gpukit limit verify`: it does known work under a
 * limit and reports how much it was granted.
 */
#ifndef GK_CLI_LIMIT_VERIFY_H
#define GK_CLI_LIMIT_VERIFY_H

#include <inttypes.h>

/*
 * Runs the load. It is a process of its own, started as `gpukit limit
 * verify-load BUS-ID SECONDS`. Allocates memory of a GPU until it is refused
 * ("held PID BYTES"), waits for a line on stdin, frees the memory, and keeps
 * the GPU busy for `seconds` ("busy NS of NS in LAUNCHES"). Prints these lines
 * to stdout for the parent process. Returns an exit code.
 */
#define LIMIT_VERIFY_LOAD "verify-load"
int limit_verify_load(const char *bus_id, uint64_t seconds);

#define LIMIT_VERIFY_HELD " held %d %" SCNu64
#define LIMIT_VERIFY_BUSY " busy %" SCNu64 " of %" SCNu64 " in %" SCNu64

#endif
