/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.c - makes the machines of tests, and removes them; see fixture.h. */
#include "base/str.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/fixture.h"
#include "machine/store/process/books.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"

#include <signal.h>
#include <sys/wait.h>

void fixture_open_spec(struct fixture *fx, const struct gkf_machine_spec *spec)
{
	snprintf(fx->dir, sizeof fx->dir, "/dev/shm/gpukit-test-%d-XXXXXX",
		 getpid());
	assert_non_null(mkdtemp(fx->dir));
	snprintf(fx->path, sizeof fx->path, "%s/machine", fx->dir);
	assert_int_equal(gkf_machine_create(fx->path, spec), 0);
	setenv("GPUKIT_MACHINE", fx->path, 1);
	assert_int_equal(gkf_machine_open(NULL, &fx->m), 0);
	fx->file = gkf_machine_file(fx->m);
}

void fixture_open_of(struct fixture *fx, const struct gkf_profile *profiles,
		     unsigned count)
{
	struct gkf_machine_spec spec = {
	    .device_count = count, .profiles = profiles, .seed = 7};

	fixture_open_spec(fx, &spec);
}

void fixture_open(struct fixture *fx, unsigned count)
{
	struct gkf_profile profiles[GKF_DEVICES_MAX];

	for (unsigned i = 0; i < count; i++)
		profiles[i] = gkf_profile_default;
	fixture_open_of(fx, profiles, count);
}

void fixture_set_driver(struct fixture *fx, const char *version)
{
	gk_str_copy(fx->file->driver_version, sizeof(fx->file->driver_version),
		    version);
}

void fixture_close(struct fixture *fx)
{
	gkf_machine_close(fx->m);
	unlink(fx->path);
	rmdir(fx->dir);
}

struct resident fixture_resident(struct fixture *fx, unsigned device,
				 unsigned types, uint64_t bytes,
				 const struct gkf_wave *wave)
{
	struct resident r;
	int ready[2];
	char c;

	assert_int_equal(pipe(ready), 0);
	r.pid = fork();
	assert_true(r.pid >= 0);
	if (!r.pid) {
		unsigned slot;
		bool ok = !gkf_attach(fx->m, device, types, wave, &slot) &&
			  !gkf_books_charge(fx->m, slot, bytes);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], ok ? "y" : "n", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	assert_int_equal(c, 'y');
	return r;
}

void fixture_end(struct resident *r)
{
	int status;

	kill(r->pid, SIGKILL);
	assert_int_equal(waitpid(r->pid, &status, 0), r->pid);
}
