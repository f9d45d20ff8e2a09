/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mix.h - derives well-distributed bits from a number (the finaliser of
 * SplitMix64, a public-domain generator by Sebastiano Vigna), for seeds, UUIDs
 * and noise.
 */
#ifndef GKF_MIX_H
#define GKF_MIX_H

#include <stdint.h>

static inline uint64_t gkf_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

#endif
