/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.c - prints why this process gets no GPU work. */
#include "limit/preload/report/refusal.h"
#include "base/log.h"
#include "limit/preload/limited.h"
#include "limit/reason.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	static atomic_bool said;
	char why[420];
	va_list args;

	if (atomic_exchange(&said, true))
		return;
	va_start(args, format);
	vsnprintf(why, sizeof why, format, args);
	va_end(args);
	gk_log_tell("libvgpu: GPU work is refused: %s", why);
}

static void say_damage(const struct gkl_group *group)
{
	say("the %s of %s was truncated; remove it when its programs have "
	    "ended",
	    gkl_policy_is_damaged(group->policy) ? "policy" : "ledger",
	    group->path);
}

void refusal_broken(void)
{
	const struct gkl_group *group = limited();
	const char *reason = gkl_reason();

	if (group)
		say_damage(group);
	else
		say("%s", reason ? reason : "out of memory");
}

void refusal_no_number(void)
{
	say("the number of a GPU is unknown, and so is its limit; give "
	    "the container NVML (NVIDIA_DRIVER_CAPABILITIES=utility,compute)");
}

void refusal_no_slot(void)
{
	say("the ledger of %s has no slot for process %d: %d processes have "
	    "one, or /proc does not say who it is",
	    limited()->path, (int)getpid(), GKL_PROCESSES);
}

void refusal_no_context(int device, uint64_t needed)
{
	uint64_t limit = limited_memory(device);

	if (limit && limit < needed)
		say("the memory limit of GPU %d, %llu MiB, is less than one "
		    "context needs, %llu MiB",
		    device, (unsigned long long)(limit >> 20),
		    (unsigned long long)((needed + (1 << 20) - 1) >> 20));
}
