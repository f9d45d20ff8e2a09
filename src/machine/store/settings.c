/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c - finds the words behind the names of settings; see settings.h. */
#include "machine/store/settings.h"
#include "machine/file/file.h"
#include "machine/store/view.h"

#include <stdatomic.h>

static _Atomic uint64_t *find_setting(struct gkf_file *f,
				      enum gkf_setting which)
{
	switch (which) {
	case GKF_PERMISSION:
		return &f->permission;
	case GKF_LATENCY:
		return &f->latency;
	case GKF_CONF_COMPUTE:
		return &f->system.conf_compute;
	case GKF_CONF_READY:
		return &f->system.conf_ready;
	case GKF_CONF_ADVANTAGE:
		return &f->system.conf_advantage;
	}
	__builtin_unreachable();
}

uint64_t gkf_setting(const struct gkf_machine *m, enum gkf_setting which)
{
	return atomic_load_explicit(find_setting(m->file, which),
				    memory_order_relaxed);
}

void gkf_setting_put(struct gkf_machine *m, enum gkf_setting which, uint64_t to)
{
	atomic_store(find_setting(m->file, which), to);
}

const struct gkf_driver *gkf_driver(const struct gkf_machine *m)
{
	return &m->driver;
}

uint64_t gkf_machine_seed(const struct gkf_machine *m)
{
	return m->file->seed;
}
