/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c - opens a machine for a verb and closes it again, with a message for
 * each failure.
 */
#include "cli/open.h"
#include "cli/cmd.h"
#include "cli/fake/fake.h"
#include "format/names.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Ends every message about the driver. */
#define DOCTOR "; see `gpukit doctor`"

/* Advice for specific values of nvmlReturn_t. */
static const struct {
	int code;
	const char *advice;
} advices[] = {
    {4, "ask for access to /dev/nvidia*"},
    {9, "load it with `sudo modprobe nvidia`"},
    {17, "give the container or the cgroup access to /dev/nvidia*"},
    {18, "reboot, or reload the kernel module, after a driver update"},
};

const char *gk_cli_machine_advice(char *text, size_t cap)
{
	char path[PATH_MAX];
	struct gkf_machine *m;
	int err = gkf_machine_open(NULL, &m);

	if (!err) {
		gkf_machine_close(m);
		return NULL;
	}
	if (err == GK_ERR_PERMISSION &&
	    !gkf_machine_path(NULL, path, sizeof path)) {
		fake_whose(path, text, cap);
		return text;
	}
	return "GPUKIT_MACHINE is not a machine of this gpukit; `gpukit fake "
	       "ctl ls` lists the machines";
}

static const char *advice_for(int nvml, char *text, size_t cap)
{
	const char *advice =
	    getenv("GPUKIT_MACHINE") ? gk_cli_machine_advice(text, cap) : NULL;

	if (advice)
		return advice;
	for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
		if (advices[i].code == nvml)
			return advices[i].advice;
	return "see `dmesg | grep -i nvrm`";
}

char *gk_cli_why(char dst[GK_CLI_WHY_MAX], const char *verb,
		 const struct gk_options *options, int err, int nvml)
{
	char text[FAKE_MESSAGE_MAX];
	const char *library =
	    options->nvml_path ? options->nvml_path : "libnvidia-ml.so.1";

	if (err == GK_ERR_NO_DRIVER)
		snprintf(dst, GK_CLI_WHY_MAX,
			 "no NVIDIA driver: cannot load %s; to try "
			 "a made-up machine: gpukit fake -- gpukit %s" DOCTOR,
			 library, verb);
	else if (err == GK_ERR_DRIVER)
		snprintf(dst, GK_CLI_WHY_MAX,
			 "the NVIDIA driver refuses: %s (%d); %s" DOCTOR,
			 gk_nvml_text(nvml), nvml,
			 advice_for(nvml, text, sizeof text));
	else if (err == GK_ERR_TIMEOUT)
		snprintf(dst, GK_CLI_WHY_MAX,
			 "the NVIDIA driver does not answer; %s" DOCTOR,
			 advice_for(nvml, text, sizeof text));
	else
		snprintf(dst, GK_CLI_WHY_MAX, "cannot open the driver: %s",
			 gk_strerror(err));
	return dst;
}

void gk_cli_explain(const char *verb, const struct gk_options *options, int err,
		    int nvml)
{
	char why[GK_CLI_WHY_MAX];

	fprintf(stderr, "gpukit %s: %s\n", verb,
		gk_cli_why(why, verb, options, err, nvml));
}

int gk_cli_open(const char *verb, const struct gk_options *options,
		struct gk **ret_gk)
{
	int nvml = 0;
	int err = gk_open(options, &nvml, ret_gk);

	if (!err)
		return GK_EXIT_OK;
	gk_cli_explain(verb, options, err, nvml);
	return GK_EXIT_FAILURE;
}

/*
 * Whether the machine's file was truncated. Its GPUs then seem to be lost,
 * although no fault was injected.
 */
static bool is_truncated(char *ret_path, size_t cap)
{
	struct stat st;

	return getenv("GPUKIT_MACHINE") &&
	       !gkf_machine_path(NULL, ret_path, cap) && !stat(ret_path, &st) &&
	       S_ISREG(st.st_mode) &&
	       (size_t)st.st_size < gkf_machine_least_size();
}

int gk_cli_close(struct gk *gk, int status)
{
	char path[PATH_MAX];

	if (is_truncated(path, sizeof path)) {
		fprintf(stderr,
			"gpukit: the file of machine %s was truncated while in "
			"use: its GPUs are lost; remove it and create the "
			"machine again\n",
			path);
		status = status ? status : GK_EXIT_FAILURE;
	}
	if (gk_close(gk) == GK_ERR_TIMEOUT) {
		fflush(NULL);
		_exit(status);
	}
	return status;
}
