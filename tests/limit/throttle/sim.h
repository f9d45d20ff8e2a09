/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - simulates processes that launch kernels through the real throttle on
 * simulated GPUs in simulated time. Nothing sleeps, and one thread runs at a
 * time: the result depends on the seed alone.
 *
 * A GPU runs the kernels of a process's streams concurrently and gives
 * processes slices of 2 ms in turn. Kernels of one `meeting` wait, busy, until
 * all of them have begun.
 */
#ifndef THROTTLE_SIM_H
#define THROTTLE_SIM_H

#include <stdbool.h>
#include <stdint.h>

enum { SIM_GPUS = 4, SIM_PROCESSES = 8, SIM_STREAMS = 4 };

struct sim_kernel {
	unsigned stream;
	uint64_t function; /* the kernel that is launched */
	uint64_t ns;
	unsigned meeting; /* how many meet; 0: it waits for none */
};

/* Called in a process: its launches and its rests. */
void sim_launch(const struct sim_kernel *kernel);
void sim_pause(unsigned stream, uint64_t ns); /* the GPU rests meanwhile */
void sim_wait(unsigned stream);               /* until the stream is empty */
void sim_rest(uint64_t ns);
uint64_t sim_now(void);
uint64_t sim_random(uint64_t below);

/* Called before the run. */
void sim_begin(uint64_t seed);
void sim_limit(unsigned gpu, unsigned percent);
void sim_elastic(bool others_want); /* may be called at any moment */
void sim_process(unsigned gpu, void (*program)(const void *arg),
		 const void *arg);

/*
 * Runs until that moment; processes that are still alive stay where they are.
 */
void sim_run(uint64_t until_ns);
void sim_kill(unsigned process); /* it never runs again; its kernels vanish */

/*
 * How long the GPU was busy so far; the launches of a process that have ended.
 */
uint64_t sim_busy(unsigned gpu);
double sim_share(uint64_t from,
		 uint64_t to); /* of the first GPU; runs until `to` */
uint64_t sim_ended(unsigned process);
void sim_end(void);

/*
 * Of sim_end(), for the module of each process: key 0 is of no work, so no time
 * may have been learned under it.
 */
void sim_check_works(void *module);

#endif
