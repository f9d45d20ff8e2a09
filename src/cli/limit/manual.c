/* SPDX-License-Identifier: Apache-2.0 */
/* manual.c - the pages of `gpukit limit` in the manual, and its completion. */
#include "cli/limit/limit.h"

#include <string.h>

/* Completes an option or the first argument with the names of all groups. */
static void complete_group(struct gk_completion *answer,
			   const struct gk_cursor *q)
{
	struct limit_views views;

	if (q->option ? strcmp(q->option, "--group") != 0 : q->arg_count > 0)
		return;
	if (limit_views_read(NULL, &views))
		return;
	for (size_t i = 0; i < views.count; i++)
		gk_complete_word(answer, views.all[i].name, "a group");
	limit_views_free(&views);
}

static void complete_run(struct gk_completion *answer,
			 const struct gk_cursor *q)
{
	if (q->option)
		complete_group(answer, q);
}

#define WITHIN(verb, which, what)                                              \
	{                                                                      \
		.name = "limit " verb, .summary = what, .within = true,        \
		.argp = &limit_argps[which], .complete = complete_group        \
	}

const struct gk_manual_page limit_pages[] = {
    {
	.name = "limit",
	.argp = &limit_argp,
	.command = GK_COMMAND_IS_ARGUMENT,
	.text =
	    "A group is a set of programs that share the limits. Its memory is "
	    "granted before a program gets it, so that no race exceeds the "
	    "limit; an allocation beyond it fails as on a GPU of that size. "
	    "Shares of time are enforced by delaying launches. No root and no "
	    "daemon are needed. Limits bind programs that do not evade them; "
	    "they are no protection against hostile ones.",
	.environment =
	    "GPUKIT_LIMIT_GROUP\tThe group of this shell and its programs; set "
	    "for CMD.\n"
	    "GPUKIT_LOG\tWhat the preloaded library logs; off suppresses even "
	    "the message that GPU work is refused.\n"
	    "CUDA_DEVICE_MEMORY_LIMIT, CUDA_DEVICE_SM_LIMIT\tLimits in the "
	    "words of HAMi, for containers that preload the library "
	    "themselves.\n",
	.files = "PREFIX/lib/gpukit/libvgpu.so\tThe library that is "
		 "preloaded.\n"
		 "/dev/shm\tThe groups' limits and ledgers.\n",
	.examples =
	    "gpukit limit --memory 4GiB --compute 50 -- python train.py\tRun a "
	    "program within 4 GiB and half of the time of each GPU.\n"
	    "gpukit limit --group team --memory 50% -- bash\tOpen a shell "
	    "whose "
	    "programs share half of the memory.\n"
	    "gpukit limit set team --compute 20\tChange a running group.\n"
	    "gpukit limit top\tShow all groups, live.\n",
	.complete = complete_run,
    },
    WITHIN("ls", LIMIT_LS, "lists groups"),
    WITHIN("show", LIMIT_SHOW, "shows a group"),
    WITHIN("top", LIMIT_TOP, "shows groups, live"),
    WITHIN("set", LIMIT_SET, "changes the limits of a group"),
    WITHIN("suspend", LIMIT_SUSPEND, "holds back a group's work"),
    WITHIN("resume", LIMIT_RESUME, "continues a group's work"),
    WITHIN("rm", LIMIT_RM, "removes a group"),
    WITHIN("audit", LIMIT_AUDIT, "compares a ledger with the driver"),
    WITHIN("verify", LIMIT_VERIFY, "tests that limits are enforced"),
    {
	.name = "limit doctor",
	.summary = "says whether a process is limited",
	.within = true,
	.argp = &limit_argps[LIMIT_DOCTOR],
    },
    {.name = NULL},
};
