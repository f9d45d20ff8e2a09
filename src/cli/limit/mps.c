/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mps.c - sets the limits of the driver's own Multi-Process Service (MPS). MPS
 * clients request these limits by environment variables, and they apply to each
 * process separately; see docs/LIMIT.md.
 */
#include "cli/cmd.h"
#include "cli/command.h"
#include "cli/limit/limit.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CONTROL "nvidia-cuda-mps-control"
#define PIPES   "/tmp/nvidia-mps" /* the directory that CUDA uses by default */
#define GPUS    "/proc/driver/nvidia/gpus"

static const char *pipe_directory(void)
{
	const char *given = getenv("CUDA_MPS_PIPE_DIRECTORY");

	return given && *given ? given : PIPES;
}

/*
 * Whether the daemon listens on its socket. The check does not disturb the
 * daemon: connecting a datagram socket sends nothing, and fails with EPROTOTYPE
 * if the peer's socket is of another type.
 */
static bool daemon_listens(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool listens;

	if (fd < 0)
		return false;
	snprintf(address.sun_path, sizeof address.sun_path, "%s/control",
		 pipe_directory());
	listens = !connect(fd, (struct sockaddr *)&address, sizeof address) ||
		  errno == EPROTOTYPE;
	close(fd);
	return listens;
}

static int find_missing(void)
{
	char path[PATH_MAX];

	if (getenv("GPUKIT_MACHINE"))
		return limit_failure("--backend mps: a made-up machine has no "
				     "MPS; use --backend hooks");
	if (daemon_listens())
		return 0;
	if (!gk_command_find(CONTROL, path, sizeof path))
		return limit_failure("--backend mps: no daemon listens in %s, "
				     "and there is no " CONTROL
				     ", which comes with NVIDIA's driver; use "
				     "--backend hooks",
				     pipe_directory());
	return limit_failure("--backend mps: no daemon listens in %s; start "
			     "one: " CONTROL " -d",
			     pipe_directory());
}

static unsigned count_gpus(void)
{
	DIR *dir = opendir(GPUS);
	unsigned count = 0;

	if (!dir)
		return 0;
	for (const struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

/*
 * Sets the variable, such as "0=4096M,1=2048M". A size for all GPUs applies to
 * each GPU that exists.
 */
static int set_memory(const struct limit_each *memory)
{
	unsigned gpus = memory->for_all ? count_gpus() : GKL_DEVICES;
	struct gk_buf value = {0};
	int failed = 0;

	if (!gpus)
		return limit_failure("--memory: " GPUS " lists no GPU; name "
				     "them: --memory 0=SIZE,1=SIZE");
	for (unsigned i = 0; i < gpus && i < GKL_DEVICES; i++)
		if (memory->given[i] && memory->value[i])
			gk_buf_printf(&value, "%s%u=%" PRIu64 "M",
				      value.len ? "," : "", i,
				      memory->value[i] >> 20);
	if (value.len)
		failed =
		    value.failed ||
		    setenv("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", value.data, 1);
	gk_buf_free(&value);
	return failed ? limit_failure("out of memory") : 0;
}

static int set_number(const char *variable, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, value);
	return setenv(variable, text, 1) ? limit_failure("out of memory") : 0;
}

/* An MPS client can only request one share, which applies to all GPUs. */
static int set_compute(const struct limit_each *compute)
{
	for (unsigned i = 1; i < GKL_DEVICES; i++)
		if (compute->given[i] != compute->given[0] ||
		    compute->value[i] != compute->value[0])
			return limit_usage("--compute: MPS has one share for "
					   "all GPUs of a process");
	return compute->given[0] && compute->value[0]
		   ? set_number("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
				compute->value[0])
		   : 0;
}

static int refuse_others(const struct limit_run *run)
{
	if (run->group || run->wish.rule >= 0 || run->wish.contexts_free >= 0 ||
	    run->wish.oversubscribe >= 0)
		return limit_usage(
		    "--backend mps limits each process separately: it excludes "
		    "--group, --policy, --contexts and --oversubscribe");
	return 0;
}

int limit_become_under_mps(const struct limit_run *run)
{
	int code = refuse_others(run);

	if (!code)
		code = find_missing();
	if (!code && limit_each_is_given(&run->wish.memory))
		code = set_memory(&run->wish.memory);
	if (!code)
		code = set_compute(&run->wish.compute);
	if (!code && run->wish.priority >= 0)
		code = set_number("CUDA_MPS_CLIENT_PRIORITY",
				  (uint64_t)run->wish.priority);
	return code ? code : gk_command_become("limit", run->command);
}
