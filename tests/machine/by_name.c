/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_name.c - finds functions of the machine by name for Python tests:
 * libgpukit-fake.so hides those that the drop-in libraries do not need.
 */
#include "base/export.h"
#include "machine/model/link.h"
#include "machine/model/smoothing.h"
#include "machine/store/process/books.h"
#include "machine/store/coverage.h"
#include "machine/store/process/ledger.h"
#include "machine/trouble/machine.h"

#include <stddef.h>
#include <string.h>

typedef void function(void);

#define FUNCTION(name)                                                         \
	{                                                                      \
#name, (function *)name                                        \
	}
static const struct {
	const char *name;
	function *at;
} functions[] = {
    FUNCTION(gkf_attach),         FUNCTION(gkf_attach_instance),
    FUNCTION(gkf_books_charge),   FUNCTION(gkf_link_set_error),
    FUNCTION(gkf_link_set_state), FUNCTION(gkf_link_set_threshold),
    FUNCTION(gkf_machine_close),  FUNCTION(gkf_machine_open),
    FUNCTION(gkf_refuse_named),   FUNCTION(gkf_smoothing_set),
};

GKF_API function *test_function(const char *name);

/* NULL: not in the table. */
function *test_function(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].at;
	return NULL;
}
