// SPDX-License-Identifier: GPL-2.0-only
/* The PMUs as perf sees them: a core whose counters are few, and boxes that belong to a node. */
#include "scripted.h"

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/topology.h>

static struct scripted *pmus[1 + BOXES_MAX];
static unsigned int made_count;

enum { CYCLES = 0x3c, INSTRUCTIONS = 0xc0, REFERENCE = 0x300 };

static bool is_fixed(const struct perf_event *event)
{
	u64 config = event->hw.config;

	return event->attr.type != PERF_TYPE_HARDWARE &&
	       (config == CYCLES || config == INSTRUCTIONS || config == REFERENCE);
}

static struct scripted *scripted_of(const struct perf_event *event)
{
	return container_of(event->pmu, struct scripted, pmu);
}

static u64 now_of(const struct perf_event *event)
{
	return counter_now(scripted_of(event)->index, event->hw.config, smp_processor_id());
}

static void scripted_read(struct perf_event *event)
{
	u64 now = now_of(event);
	u64 before = local64_xchg(&event->hw.prev_count, now);

	local64_add(now - before, &event->count);
}

static void scripted_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	local64_set(&event->hw.prev_count, now_of(event));
}

static void scripted_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	scripted_read(event);
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int scripted_add(struct perf_event *event, int flags)
{
	struct perf_event **slots = scripted_of(event)->slots[smp_processor_id()];
	int i = is_fixed(event) ? GENERAL : 0;
	int end = is_fixed(event) ? GENERAL + FIXED : GENERAL;

	while (i < end && slots[i])
		i++;
	if (i == end)
		return -EAGAIN;
	slots[i] = event;
	event->hw.idx = i;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		scripted_start(event, flags);
	return 0;
}

static void scripted_del(struct perf_event *event, int flags)
{
	scripted_stop(event, PERF_EF_UPDATE);
	scripted_of(event)->slots[smp_processor_id()][event->hw.idx] = NULL;
}

/* A set that can never be scheduled is refused, as by real drivers. */
static bool fits(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *other;
	int general = 1;

	if (leader == event || is_fixed(event))
		return true;
	general += leader->pmu == event->pmu && !is_fixed(leader);
	for_each_sibling_event(other, leader)
		general += other != event && other->pmu == event->pmu && !is_fixed(other);
	return general <= GENERAL;
}

static int init_core(struct perf_event *event)
{
	static const u64 generic[] = {CYCLES, INSTRUCTIONS};

	if (event->attr.type != PERF_TYPE_HARDWARE) {
		event->hw.config = event->attr.config;
		return event->attr.type == event->pmu->type ? 0 : -ENOENT;
	}
	if (event->attr.config >= ARRAY_SIZE(generic))
		return -ENOENT;
	event->hw.config = generic[event->attr.config];
	return 0;
}

static int init_box(struct perf_event *event)
{
	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->cpu < 0 || (event->attach_state & PERF_ATTACH_TASK))
		return -EINVAL;
	event->cpu = cpumask_first(cpumask_of_node(cpu_to_node(event->cpu)));
	event->hw.config = event->attr.config;
	return 0;
}

static int scripted_init(struct perf_event *event)
{
	unsigned int index = scripted_of(event)->index;
	int error = index == 0 ? init_core(event) : init_box(event);

	if (error)
		return error;
	if (is_sampling_event(event))
		return -EOPNOTSUPP;
	if (!counter_find(index, event->hw.config) && event->attr.type != PERF_TYPE_HARDWARE)
		return -ENOENT; /* no such event on this machine */
	return fits(event) ? 0 : -EINVAL;
}

/* --- sysfs: what real PMUs of these names show */
PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");
PMU_FORMAT_ATTR(rdwrmask, "config:8-9");
static struct attribute *core_format[] = {&format_attr_event.attr, &format_attr_umask.attr, NULL};
static struct attribute *box_format[] = {&format_attr_event.attr, &format_attr_umask.attr,
					 &format_attr_rdwrmask.attr, NULL};
static const struct attribute_group core_format_group = {.name = "format", .attrs = core_format};
static const struct attribute_group box_format_group = {.name = "format", .attrs = box_format};

static ssize_t cpumask_show(struct device *device, struct device_attribute *attribute, char *page)
{
	static cpumask_t designated;
	int node;

	cpumask_clear(&designated);
	for_each_online_node(node)
		cpumask_set_cpu(cpumask_first(cpumask_of_node(node)), &designated);
	return cpumap_print_to_pagebuf(true, page, &designated);
}
static DEVICE_ATTR_RO(cpumask);
static struct attribute *box_attributes[] = {&dev_attr_cpumask.attr, NULL};
static const struct attribute_group box_group = {.attrs = box_attributes};
static const struct attribute_group *core_groups[] = {&core_format_group, NULL};
static const struct attribute_group *box_groups[] = {&box_format_group, &box_group, NULL};

int pmu_make(unsigned int index, const char *name)
{
	struct scripted *made = kzalloc(sizeof(*made), GFP_KERNEL);
	bool core = index == 0;
	int error;

	if (!made)
		return -ENOMEM;
	made->index = index;
	made->pmu.module = THIS_MODULE;
	made->pmu.task_ctx_nr = core ? perf_hw_context : perf_invalid_context;
	made->pmu.attr_groups = core ? core_groups : box_groups;
	made->pmu.capabilities = PERF_PMU_CAP_NO_INTERRUPT | (core ? 0 : PERF_PMU_CAP_NO_EXCLUDE);
	made->pmu.event_init = scripted_init;
	made->pmu.add = scripted_add;
	made->pmu.del = scripted_del;
	made->pmu.start = scripted_start;
	made->pmu.stop = scripted_stop;
	made->pmu.read = scripted_read;
	error = perf_pmu_register(&made->pmu, name, core ? PERF_TYPE_RAW : -1);
	if (error) {
		kfree(made);
		return error;
	}
	pmus[made_count++] = made;
	return 0;
}

void pmu_unmake_all(void)
{
	while (made_count > 0) {
		perf_pmu_unregister(&pmus[--made_count]->pmu);
		kfree(pmus[made_count]);
	}
}

unsigned int pmu_count(void)
{
	return made_count;
}

struct scripted *pmu_of(const struct perf_event *event)
{
	return event->pmu->event_init == scripted_init ? scripted_of(event) : NULL;
}
