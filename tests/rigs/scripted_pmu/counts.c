// SPDX-License-Identifier: GPL-2.0-only
/* What the events have counted, and what the threads of rules make them count. */
#include "scripted.h"

#include <linux/list.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/topology.h>

enum { COUNTERS_MAX = 256 };

struct rule {
	struct list_head list;
	char name[TASK_COMM_LEN];
	u64 step;
};

struct counter {
	unsigned int pmu;
	u64 config;
	u64 per_second;
	u64 since;
	struct list_head rules;
	atomic64_t counts[CPUS_MAX];
};

static struct counter *counters[COUNTERS_MAX];
static unsigned int counter_count;

struct counter *counter_find(unsigned int pmu, u64 config)
{
	unsigned int i, n = smp_load_acquire(&counter_count);

	for (i = 0; i < n; i++)
		if (counters[i]->pmu == pmu && counters[i]->config == config)
			return counters[i];
	return NULL;
}

struct counter *counter_find_or_make(unsigned int pmu, u64 config)
{
	struct counter *counter = counter_find(pmu, config);

	if (counter || counter_count == COUNTERS_MAX)
		return counter;
	counter = kzalloc(sizeof(*counter), GFP_KERNEL);
	if (!counter)
		return NULL;
	counter->pmu = pmu;
	counter->config = config;
	INIT_LIST_HEAD(&counter->rules);
	counters[counter_count] = counter;
	smp_store_release(&counter_count, counter_count + 1);
	return counter;
}

u64 counter_now(unsigned int pmu, u64 config, int cpu)
{
	struct counter *counter = counter_find(pmu, config);
	u64 sum = 0;
	int other;

	if (!counter)
		return 0;
	if (pmu == 0)
		return atomic64_read(&counter->counts[cpu]);
	for_each_cpu(other, cpumask_of_node(cpu_to_node(cpu)))
		sum += atomic64_read(&counter->counts[other]);
	if (counter->per_second)
		sum += div_u64(div_u64(sched_clock() - counter->since, 1000) * counter->per_second,
			       1000000);
	return sum;
}

void counter_add(struct counter *counter, u64 n)
{
	atomic64_add(n, &counter->counts[get_cpu()]);
	put_cpu();
}

void counter_set_rate(struct counter *counter, u64 n)
{
	counter->since = sched_clock();
	counter->per_second = n;
}

int counter_add_rule(struct counter *counter, const char *name, u64 step)
{
	struct rule *rule = kzalloc(sizeof(*rule), GFP_KERNEL);

	if (!rule)
		return -ENOMEM;
	strscpy(rule->name, name, sizeof(rule->name));
	rule->step = step;
	list_add_tail(&rule->list, &counter->rules);
	return 0;
}

static u64 step_of(const struct counter *counter, const char *name, bool by_name)
{
	const struct rule *rule;

	list_for_each_entry(rule, &counter->rules, list)
		if ((!by_name && !strcmp(rule->name, "*")) || !strcmp(rule->name, name))
			return rule->step;
	return 0;
}

void counter_feed(struct counter *counter, bool by_name)
{
	counter_add(counter, step_of(counter, current->comm, by_name));
}

void counters_feed(void)
{
	unsigned int i, n = smp_load_acquire(&counter_count);

	for (i = 0; i < n; i++)
		counter_feed(counters[i], false);
}

void counters_forget(void)
{
	struct rule *rule, *next;
	unsigned int i;

	for (i = 0; i < counter_count; i++) {
		list_for_each_entry_safe(rule, next, &counters[i]->rules, list) {
			list_del(&rule->list);
			kfree(rule);
		}
		counters[i]->per_second = 0;
	}
}

void counters_free(void)
{
	counters_forget();
	while (counter_count > 0)
		kfree(counters[--counter_count]);
}
