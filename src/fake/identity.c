/* identity.c - who a process is, and whether it still lives. */
#include "base/pidstat.h"
#include "fake/private.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t gkf_own_namespace(const struct gkf_machine *m)
{
	struct stat ns;

	if (m->proc < 0 || fstatat(m->proc, "self/ns/pid", &ns, 0) < 0)
		return 0;
	return ns.st_ino;
}

struct gkf_identity gkf_self(const struct gkf_machine *m)
{
	struct gkf_identity self = {.pid = (int32_t)getpid()};
	struct gk_pidstat st;

	if (m->proc < 0)
		return self;
	self.pid_ns = gkf_own_namespace(m);
	if (gk_pidstat_read(m->proc, self.pid, &st) == 0)
		self.start = st.start;
	return self;
}

bool gkf_alive(const struct gkf_machine *m, uint64_t own_ns,
	       const struct gkf_identity *owner)
{
	struct gk_pidstat st;

	if (owner->pid_ns != own_ns)
		return true;
	if (kill(owner->pid, 0) < 0 && errno == ESRCH)
		return false;
	/* hidepid shows nothing of other users: then kill() has said it. */
	if (m->proc < 0 || gk_pidstat_read(m->proc, owner->pid, &st) != 0)
		return true;
	if (owner->start && st.start != owner->start)
		return false;
	/* A dead first thread with living others is still a process. */
	return !((st.state == 'Z' || st.state == 'X') && st.threads <= 1);
}
