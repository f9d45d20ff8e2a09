/* SPDX-License-Identifier: Apache-2.0 */
/* spin.h - a kernel that takes longer with more rounds. */
#ifndef CUDA_SPIN_H
#define CUDA_SPIN_H

#include "runtime.h"

static __global__ void spin(unsigned *to, unsigned rounds)
{
	unsigned x = 1;

	for (unsigned i = 0; i < rounds; i++)
		x = x * 1664525u + 1013904223u;
	*to = x;
}

static double spin_seconds(unsigned *to, unsigned rounds)
{
	double began = now();

	spin<<<1, 1>>>(to, rounds);
	LAUNCHED();
	OK(cudaDeviceSynchronize());
	return now() - began;
}

/*
 * How many rounds take at least 150 ms on this GPU, whichever it is, doubled.
 */
static unsigned spin_rounds(unsigned *to)
{
	unsigned rounds = 1000;

	while (spin_seconds(to, rounds) < 0.15 ||
	       spin_seconds(to, rounds) < 0.15)
		rounds *= 2;
	return rounds;
}

#endif
