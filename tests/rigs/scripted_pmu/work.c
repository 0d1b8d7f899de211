// SPDX-License-Identifier: GPL-2.0-only
/* When a thread's work is done: its program disables its events, or reads them. */
#include "scripted.h"

#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/topology.h>

/* A thread's own core events stand for its work. Boxes alone are fed by the threads that rules
 * name, on their node. */
static void work_is_done(struct perf_event *event)
{
	struct scripted *pmu = pmu_of(event);
	struct counter *counter;

	if (!pmu || !event->hw.flags)
		return;
	event->hw.flags = 0;
	if (pmu->index == 0) {
		if (event->ctx->task == current)
			counters_feed();
		return;
	}
	counter = counter_find(pmu->index, event->hw.config);
	if (counter && cpu_to_node(event->cpu) == cpu_to_node(smp_processor_id()))
		counter_feed(counter, true);
}

/* The last moment to count the work of an enabled event: its program disables it, or, as PAPI does
 * before that, reads it. The event's flags say that it has been enabled and not fed since. */
static int before_ioctl(struct kprobe *probe, struct pt_regs *regs)
{
	struct file *file = (struct file *)regs_get_kernel_argument(regs, 0);
	unsigned int request = (unsigned int)regs_get_kernel_argument(regs, 1);
	struct perf_event *event = file->private_data;

	if (request == PERF_EVENT_IOC_DISABLE)
		work_is_done(event);
	else if (request == PERF_EVENT_IOC_ENABLE && pmu_of(event))
		event->hw.flags = 1;
	return 0;
}

static int before_read(struct kprobe *probe, struct pt_regs *regs)
{
	struct file *file = (struct file *)regs_get_kernel_argument(regs, 0);

	work_is_done(file->private_data);
	return 0;
}

static struct kprobe ioctl_probe = {.symbol_name = "perf_ioctl", .pre_handler = before_ioctl};
static struct kprobe read_probe = {.symbol_name = "perf_read", .pre_handler = before_read};
static struct kprobe *probes[] = {&ioctl_probe, &read_probe};

int work_watch(void)
{
	return register_kprobes(probes, ARRAY_SIZE(probes));
}

void work_unwatch(void)
{
	unregister_kprobes(probes, ARRAY_SIZE(probes));
}
