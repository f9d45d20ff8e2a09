/*
 * sim.h - made-up processes that launch kernels through the true throttle, on
 * made-up GPUs in made-up time. Nothing sleeps, and one thread runs at a time:
 * what comes out depends on the seed alone.
 *
 * A GPU does the kernels of a process's streams beside each other, and gives
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
	uint64_t function; /* what is launched */
	uint64_t ns;
	unsigned meeting; /* how many meet; 0: it waits for nobody */
};

/* In a process: its launches and its rests. */
void sim_launch(const struct sim_kernel *kernel);
void sim_pause(unsigned stream, uint64_t ns); /* in it, the GPU rests */
void sim_wait(unsigned stream);               /* until the stream is empty */
void sim_rest(uint64_t ns);
uint64_t sim_now(void);
uint64_t sim_random(uint64_t below);

/* Before the run. */
void sim_begin(uint64_t seed);
void sim_limit(unsigned gpu, unsigned percent);
void sim_elastic(bool others_want); /* at any moment */
void sim_process(unsigned gpu, void (*program)(const void *arg),
		 const void *arg);

/* Until that moment; processes that live on are left where they are. */
void sim_run(uint64_t until_ns);
void sim_kill(unsigned process); /* it never runs again; its kernels vanish */

/* How long the GPU was busy so far; launches of a process that have ended. */
uint64_t sim_busy(unsigned gpu);
double sim_share(uint64_t from,
		 uint64_t to); /* of the first; runs until then */
uint64_t sim_ended(unsigned process);
void sim_end(void);

#endif
