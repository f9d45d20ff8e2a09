/* flag.c - reads the values of flag.h from the file. */
#include "machine/store/flag.h"
#include "machine/file/file.h"
#include "machine/store/view.h"

bool gkf_is_set(const struct gkf_machine *m, unsigned device,
		enum gkf_value flag)
{
	return atomic_load_explicit(&m->file->device[device].set[flag],
				    memory_order_relaxed) == 1;
}
