/*
 * queue_admission.c - limits how many tasks of a device that may block for ever
 * run at once, by kind: kernels, host functions.
 */
#include "device/queue_private.h"

/* NULL: a task that ends by itself. */
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

/* One that was stopped needs no seat. */
bool gkf_admission_take(struct gkf_queue *queue, const struct gkf_task *task)
{
	unsigned most;
	struct gkf_admission *admission =
	    admission_of(queue->executors, task, &most);

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

	if (!admission || admission->taken-- > most)
		return NULL;
	return gkf_list_take(&admission->waiting);
}
