/*
 * limits.h - sizes and kinds that the policy, the ledger and the preloaded
 * library share. Devices are numbered as NVML numbers those that the processes
 * of the group see (a container's), which is what HAMi's `_<i>` mean; see
 * gkl_devices.
 */
#ifndef GKL_LIMITS_H
#define GKL_LIMITS_H

enum {
	GKL_DEVICES = 16,     /* as many as HAMi's region has */
	GKL_PROCESSES = 1024, /* the same */
	GKL_UUID = 96,        /* bytes of a UUID as text, with its NUL */
};

/* Kinds of device memory that are told apart in reports. */
enum gkl_kind {
	GKL_CONTEXT, /* what a context takes by itself */
	GKL_MODULE,  /* code and its variables */
	GKL_DATA,    /* cuMemAlloc and its like */
	GKL_ARRAY,   /* arrays and mipmapped arrays */
	GKL_MANAGED,
	GKL_VIRTUAL, /* cuMemCreate */
	GKL_POOL,    /* pools of cuMemAllocAsync */
	GKL_GRAPH,   /* memory nodes of graphs */
	GKL_EXTERNAL,
	GKL_PENDING, /* the last: reserved for a call that is under way */
	GKL_KINDS
};

#endif
