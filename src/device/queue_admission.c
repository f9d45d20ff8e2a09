/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_admission.c - limits how many kernels and host functions of a device
 * run at once, because they may block forever.
 */
#include "base/assert.h"
#include "device/queue_private.h"

/*
 * Returns the limit that applies to a task; NULL if none does, because the task
 * is sure to end.
 */
static struct gkf_admission *admission_of(struct gkf_executors *executors,
					  const struct gkf_task *task,
					  unsigned *ret_most)
{
	switch ((enum gkf_work)task->work) {
	case GKF_WORK_KERNEL:
		*ret_most = GKF_KERNELS_MAX;
		return &executors->kernel_admission;
	case GKF_WORK_HOST:
		*ret_most = GKF_HOSTS_MAX;
		return &executors->host_admission;
	case GKF_WORK_NONE:
	case GKF_WORK_COPY_IN:
	case GKF_WORK_COPY_OUT:
	case GKF_WORK_COPY_DEVICE:
		break;
	}
	return NULL;
}

/* A stopped queue is not limited, because its tasks are dropped. */
bool gkf_admission_take(struct gkf_queue *queue, const struct gkf_task *task)
{
	unsigned most;
	struct gkf_admission *admission =
	    admission_of(queue->executors, task, &most);

	GK_ASSERT(gk_lock_held(&queue->executors->lock));
	if (!admission)
		return true;
	if (admission->taken >= most && !atomic_load(&queue->result)) {
		gkf_list_add(&admission->waiting, queue);
		return false;
	}
	admission->taken++;
	return true;
}

struct gkf_queue *gkf_admission_leave(struct gkf_executors *executors,
				      const struct gkf_task *task)
{
	unsigned most;
	struct gkf_admission *admission = admission_of(executors, task, &most);

	GK_ASSERT(gk_lock_held(&executors->lock));
	if (!admission || admission->taken-- > most)
		return NULL;
	return gkf_list_take(&admission->waiting);
}
