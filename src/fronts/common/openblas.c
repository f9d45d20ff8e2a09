/* openblas.c - opens OpenBLAS, whose names nobody else shall see. */
#include "fronts/common/openblas.h"

#include "base/log.h"

#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>

#define LIBRARY "libopenblas.so.0"

/* Its threads start in here: the program's signals are not theirs. */
void *openblas_open(const char *library)
{
	sigset_t all, before;
	void *opened;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	opened = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!opened)
		gk_log(GK_LOG_ERROR,
		       "%s needs " LIBRARY
		       " (Debian: libopenblas0-pthread): %s",
		       library, dlerror());
	return opened;
}
