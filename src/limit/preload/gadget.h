/*
 * gadget.h - an instruction in a given object that returns.
 */
#ifndef GKL_PRELOAD_GADGET_H
#define GKL_PRELOAD_GADGET_H

/* In the object that holds `caller`; NULL: there is none. */
const void *gadget_of(const void *caller);

#endif
