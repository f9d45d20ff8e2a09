/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - sizes and kinds that the policy, the ledger and the preloaded
 * library share. Device numbers are NVML's, among the GPUs that the group's
 * processes (a container) see; the <i> of HAMi's variables is the same number.
 * See preload/devices.c.
 */
#ifndef GKL_LIMITS_H
#define GKL_LIMITS_H

enum {
	GKL_DEVICES = 16,     /* as many as HAMi's region has */
	GKL_PROCESSES = 1024, /* also as many as HAMi's region has */
	GKL_UUID = 96,        /* bytes of a UUID as text, with its NUL */
};

/* Kinds of device memory in reports. */
enum gkl_kind {
	GKL_CONTEXT, /* the context itself */
	GKL_MODULE,  /* code and its variables */
	GKL_DATA,    /* cuMemAlloc() and similar calls */
	GKL_ARRAY,   /* arrays and mipmapped arrays */
	GKL_MANAGED,
	GKL_VIRTUAL, /* cuMemCreate */
	GKL_POOL,    /* pools of cuMemAllocAsync */
	GKL_GRAPH,   /* memory nodes of graphs */
	GKL_EXTERNAL,
	GKL_EXPORTED, /* memory of an ended process that others hold */
	/* The kinds below are reserved for calls in progress. */
	GKL_PENDING,
	GKL_LOADING, /* upper bounds for code and contexts */
	GKL_KINDS
};

#endif
