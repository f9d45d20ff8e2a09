/*
 * driver.h - the driver as this runtime speaks to it: pointers that
 * cuGetProcAddress gave, in two sets that differ in what stream 0 means.
 */
#ifndef GKF_CUDART_DRIVER_H
#define GKF_CUDART_DRIVER_H

#include "abi/cuda_abi.h"

/* A function that the driver is too old for answers 36, never NULL. */
struct driver {
#define DRIVER(symbol, base) __typeof__(symbol) *symbol;
#include "fronts/cudart/driver.def"
#undef DRIVER
};

enum driver_set { LEGACY, PER_THREAD, DRIVER_SETS };

/* Both are filled before cudart_state says so, and never change. */
extern struct driver cudart_driver[DRIVER_SETS];

/*
 * Opens libcuda.so.1, once. Its version as cuDriverGetVersion tells it, or 0
 * if there is no driver.
 */
int driver_version(void);

/* Around a fork: nobody is in the middle of opening it. */
void driver_hold(void);
void driver_release(void);

/* Fills both sets and calls cuInit. Only with a driver_version(). */
CUresult driver_start(void);

/* Counts a call that this runtime refuses, where the driver has a way. */
void driver_refused(const char *symbol);

#endif
