/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container_test.c - checks the container of a process, as its cgroup names it.
 */
#include "core/read/procfs.h"
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#define ID1  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2  "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define POD  "pod8a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
#define POD_ "pod8a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9"

static const struct {
	const char *cgroup, *id; /* id NULL: none */
} rows[] = {
    /* cgroup v2 */
    {"", NULL},
    {"0::/\n", NULL},
    {"0::/user.slice/user-1000.slice/session-3.scope\n", NULL},
    {"0::/system.slice/ssh.service\n", NULL},
    {"0::/system.slice/docker-" ID1 ".scope\n", ID1},
    {"0::/docker/" ID1 "\n", ID1},
    {"0::/docker/" ID1, ID1},
    {"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-" POD_
     ".slice/cri-containerd-" ID1 ".scope\n",
     ID1},
    {"0::/kubepods.slice/kubepods-" POD_ ".slice/crio-" ID2 ".scope\n", ID2},
    {"0::/kubepods/burstable/" POD "/" ID1 "\n", ID1},
    {"0::/machine.slice/libpod-" ID1 ".scope/container\n", ID1},
    {"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID2
     ".scope\n",
     ID2},
    {"0::/lxc/web1/init.scope\n", "web1"},
    {"0::/lxc.payload.web2/system.slice/x.service\n", "web2"},
    {"0::/lxc.payload/web3\n", "web3"},
    {"0::/lxc.monitor.web4\n", NULL},
    {"0::/machine.slice/machine-deb12.scope/payload\n", "deb12"},
    {"0::/machine.slice/systemd-nspawn@deb12.service/payload\n", "deb12"},
    {"0::/machine.slice\n", NULL},
    {"0::/lxc/\n", NULL},
    /* A container in a container: the inner one counts. */
    {"0::/docker/" ID1 "/docker/" ID2 "\n", ID2},
    {"0::/kubepods/" POD "/" ID1 "/kubelet/kubepods/" POD "/" ID2 "\n", ID2},
    {"0::/lxc.payload.outer/docker/" ID1 "\n", ID1},
    /* cgroup v1: one line for each controller */
    {"12:devices:/docker/" ID1 "\n11:memory:/docker/" ID1
     "\n1:name=systemd:/docker/" ID1 "\n0::/\n",
     ID1},
    {"3:cpu,cpuacct:/kubepods/" POD "/" ID2 "\n2:pids:/\n", ID2},
    {"4:memory:/\n3:cpu:/lxc/old1\n", "old1"},
    /* As long as an id, but not one. */
    {"0::/docker/" ID1 "0\n", NULL},
    {"0::/docker/0123456789abcdef\n", NULL},
    {"0::/docker/" ID1 ID2 "\n", NULL},
    {"0::/app-ghijklmnopqrstuvwxyz\n", NULL},
};

static void managers_name_their_groups_so(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t len = 0;
		const char *id = gk_container_id(rows[i].cgroup, &len);

		if (!id != !rows[i].id || (id && (len != strlen(rows[i].id) ||
						  memcmp(id, rows[i].id, len))))
			fail_msg("row %zu: %s: \"%.*s\"", i, rows[i].cgroup,
				 (int)len, id ? id : "");
	}
}

static void pods_have_uids(void **state)
{
	static const char uid[] = "8a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
	char pod[GK_POD_UID_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool has = strstr(rows[i].cgroup, "pod8a1b");
		size_t len = gk_pod_uid(rows[i].cgroup, pod);

		assert_int_equal(len, has ? strlen(uid) : 0);
		assert_string_equal(pod, has ? uid : "");
	}
	/* Static pods, which the node itself starts. */
	gk_pod_uid("0::/kubepods/podfedcba9876543210fedcba9876543210/" ID1,
		   pod);
	assert_string_equal(pod, "fedcba9876543210fedcba9876543210");
	/* Outside Kubernetes it is only a word. */
	assert_int_equal(gk_pod_uid("0::/user.slice/" POD "/x\n", pod), 0);
	assert_int_equal(gk_pod_uid("0::/kubepods/pod/x\n", pod), 0);
	assert_int_equal(gk_pod_uid("kubepods", pod), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(managers_name_their_groups_so),
	    cmocka_unit_test(pods_have_uids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
