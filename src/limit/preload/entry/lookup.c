/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.c - looks up names that may be the driver's, as the caller would. */
#include "limit/preload/entry/lookup.h"

#include "base/log.h"
#include "limit/preload/entry/driver.h"
#include "limit/preload/entry/gadget.h"
#include "limit/preload/entry/libc.h"
#include "limit/preload/entry/object.h"

#include <stddef.h>
#include <stdbool.h>

void *lookup_next_dlsym(void)
{
	return libc_next("dlsym");
}

void *lookup_next_dlvsym(void)
{
	return libc_next("dlvsym");
}

static void *call_function(const struct lookup *lookup)
{
	void *volatile found; /* keeps the call from becoming a jump */

	if (lookup->version)
		found = ((__typeof__(dlvsym) *)lookup->function)(
		    lookup->handle, lookup->name, lookup->version);
	else
		found = ((__typeof__(dlsym) *)lookup->function)(lookup->handle,
								lookup->name);
	return found;
}

/* With a real handle, the result does not depend on the caller. */
static void *find_symbol(const struct lookup *lookup, const void *caller)
{
	const void *gadget = NULL;

	if (lookup->handle == RTLD_DEFAULT || lookup->handle == RTLD_NEXT)
		gadget =
		    lookup_returns_are_checked() ? NULL : gadget_of(caller);
	return gadget ? lookup_as_caller(lookup, gadget)
		      : call_function(lookup);
}

/*
 * Whether the caller is a library that replaces dlsym as we do, and is looking
 * up the function that it replaces.
 */
static bool is_replacer(const void *caller)
{
	struct object asking, next;

	return object_at(caller, &asking) &&
	       object_at(lookup_next_dlsym(), &next) &&
	       asking.dynamic == next.dynamic;
}

/* If `found` is the C library's own dlsym or dlvsym, returns ours instead. */
static void *swap_own(void *found, const void *caller)
{
	void *ours = found == (void *)libc()->dlsym    ? (void *)dlsym
		     : found == (void *)libc()->dlvsym ? (void *)dlvsym
						       : NULL;

	return ours && !is_replacer(caller) ? ours : found;
}

static void *swap_symbol(const char *name, void *found, const void *caller)
{
	void *swapped = name[0] == 'd' ? swap_own(found, caller)
				       : driver_swap_found(found, name);

	gk_log(GK_LOG_DEBUG, "limit: dlsym of %s: %s", name,
	       swapped == found ? "not hooked" : "hooked");
	return swapped;
}

static void *look_up(const struct lookup *lookup, const void *caller)
{
	void *found = find_symbol(lookup, caller);

	return found ? swap_symbol(lookup->name, found, caller) : NULL;
}

void *lookup_dlsym(void *handle, const char *name, const void *caller)
{
	struct lookup lookup = {handle, name, NULL, lookup_next_dlsym()};

	return look_up(&lookup, caller);
}

void *lookup_dlvsym(void *handle, const char *name, const char *version,
		    const void *caller)
{
	struct lookup lookup = {handle, name, version, lookup_next_dlvsym()};

	return look_up(&lookup, caller);
}

void *lookup_default(const char *name, const void *caller)
{
	struct lookup lookup = {RTLD_DEFAULT, name, NULL, lookup_next_dlsym()};

	return find_symbol(&lookup, caller);
}
