/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gadget.h - finds a return instruction in a given object, for
 * lookup_as_caller() of lookup.h.
 */
#ifndef GKL_PRELOAD_GADGET_H
#define GKL_PRELOAD_GADGET_H

/*
 * Returns a return instruction of the object that contains `caller`; NULL:
 * none.
 */
const void *gadget_of(const void *caller);

#endif
