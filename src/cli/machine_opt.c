/* SPDX-License-Identifier: Apache-2.0 */
/* machine_opt.c - parses the options for reading a machine. */
#include "cli/machine_opt.h"
#include "base/clock.h"
#include "cli/arg.h"

#include <gpukit/gpukit.h>

enum { KEY_PCIE = 0x7101, KEY_TIMEOUT, KEY_NVML };

#define PATIENCE                                                               \
	{                                                                      \
		"timeout", KEY_TIMEOUT, "SEC", 0,                              \
		    "How long to wait for a GPU that does not answer (1)", 5   \
	}
#define LIBRARY                                                                \
	{                                                                      \
		"nvml", KEY_NVML, "PATH", 0,                                   \
		    "Driver library to load (libnvidia-ml.so.1)", 5            \
	}

static const struct argp_option options[] = {PATIENCE, LIBRARY, {0}};

static const struct argp_option options_pcie[] = {
    {"pcie", KEY_PCIE, 0, 0, "Also PCIe traffic, which takes 40 ms per GPU", 5},
    PATIENCE,
    LIBRARY,
    {0},
};

static error_t parse_machine_option(int key, char *arg,
				    struct argp_state *state)
{
	struct gk_options *machine = state->input;

	switch (key) {
	case KEY_PCIE:
		machine->with |= GK_WITH_PCIE;
		return 0;
	case KEY_TIMEOUT:
		machine->timeout_ns =
		    gk_arg_duration(state, "--timeout", arg, GK_NS_PER_MS);
		return 0;
	case KEY_NVML:
		/* dlopen("") would return the program itself. */
		if (!*arg)
			argp_error(state, "--nvml must be a path, not ''");
		machine->nvml_path = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp gk_machine_argp = {.options = options,
				     .parser = parse_machine_option};

const struct argp gk_machine_pcie_argp = {.options = options_pcie,
					  .parser = parse_machine_option};
