/* SPDX-License-Identifier: Apache-2.0 */
/* tell.c - prints messages of nvidia-smi that several options share. */
#include "cli/smi/tell.h"
#include "base/array.h"
#include "cli/smi/smi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- arguments ---- */

/* Prints the error to standard output, as nvidia-smi does. */
int smi_refuse_arguments(void)
{
	puts("Invalid combination of input arguments. Please run 'nvidia-smi "
	     "-h' for help.\n");
	return SMI_INVALID;
}

static int refuse_option(const char *word, const char *why)
{
	printf("ERROR: Option %s is %s. Please run 'nvidia-smi -h' for "
	       "help.\n",
	       word, why);
	return SMI_UNKNOWN;
}

int smi_refuse_unknown(const char *word)
{
	return refuse_option(word, "not recognized");
}

int smi_refuse_missing(const char *word)
{
	return refuse_option(word, "missing its value");
}

/* ---- the driver ---- */

static const struct {
	int nvml, status;
	const char *text;
} refusals[] = {
    {4, SMI_NOT_PERMITTED,
     "Failed to initialize NVML: Insufficient Permissions"},
    {9, SMI_NO_DRIVER,
     "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA "
     "driver. Make sure that the latest NVIDIA driver is installed and "
     "running.\n"},
    {15, 15, "Failed to initialize NVML: GPU is lost"},
    {17, 17,
     "Failed to initialize NVML: GPU access blocked by the operating "
     "system"},
    {18, 18, "Failed to initialize NVML: Driver/library version mismatch"},
};

/*
 * Points to `gpukit doctor`, unless the command was started as nvidia-smi: then
 * it prints only what nvidia-smi prints.
 */
static void point_to_doctor(void)
{
	if (strcmp(program_invocation_short_name, "nvidia-smi") != 0)
		fputs("gpukit smi: see `gpukit doctor`\n", stderr);
}

int smi_tell_open_error(int err, int nvml)
{
	point_to_doctor();
	if (err == GK_ERR_NO_DRIVER) {
		puts("NVIDIA-SMI couldn't find libnvidia-ml.so library in your "
		     "system. Please make sure that the NVIDIA Display Driver "
		     "is properly installed and present in your system.\n"
		     "Please also try adding directory that contains "
		     "libnvidia-ml.so to your system PATH.\n");
		return SMI_NO_LIBRARY;
	}
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		if (refusals[i].nvml != nvml)
			continue;
		puts(refusals[i].text);
		return refusals[i].status;
	}
	puts("Failed to initialize NVML: Unknown Error");
	return SMI_UNKNOWN;
}

int smi_none_found(void)
{
	puts("No devices were found");
	return SMI_NOT_FOUND;
}

/*
 * The statuses are NVML's own numbers, except the one for interrupts, which is
 * 10 according to nvidia-smi(1). All other return codes become 255.
 */
int smi_status_of(nvmlReturn_t answer)
{
	static const nvmlReturn_t own[] = {
	    NVML_SUCCESS,
	    NVML_ERROR_INVALID_ARGUMENT,
	    NVML_ERROR_NOT_SUPPORTED,
	    NVML_ERROR_NO_PERMISSION,
	    NVML_ERROR_NOT_FOUND,
	    NVML_ERROR_INSUFFICIENT_POWER,
	    NVML_ERROR_DRIVER_NOT_LOADED,
	    NVML_ERROR_LIBRARY_NOT_FOUND,
	    NVML_ERROR_FUNCTION_NOT_FOUND,
	    NVML_ERROR_CORRUPTED_INFOROM,
	    NVML_ERROR_GPU_IS_LOST,
	};

	for (size_t i = 0; i < COUNT(own); i++)
		if (own[i] == answer)
			return (int)answer;
	return answer == NVML_ERROR_IRQ_ISSUE ? SMI_INTERRUPTS : SMI_UNKNOWN;
}

/* ---- changes ---- */

int smi_all_done(void)
{
	puts("All done.");
	return SMI_OK;
}

int smi_terminate(int status)
{
	puts("Terminating early due to previous errors.");
	return status;
}
