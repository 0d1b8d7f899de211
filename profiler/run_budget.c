#include "profiler/run_budget.h"

#include "profiler/clock.h"

#include <math.h>
#include <stdio.h>

// Of the points' part, that preparation may use before it leaves out what only evidence needs; of
// the whole, that finishing may take.
static const double evidence_fraction = 0.3;
static const double finish_fraction = 0.1;

void run_budget_begin(struct run_budget *out, const struct run_request *request)
{
    *out =
        (struct run_budget){.begin_seconds = clock_seconds(), .seconds = request->budget_seconds};
    if (request->budget_name != NULL) {
        (void)snprintf(out->text, sizeof out->text, "%s", request->budget_name);
    } else {
        (void)snprintf(out->text, sizeof out->text, "the budget of %.3g s", out->seconds);
    }
}

double run_budget_spent(const struct run_budget *budget)
{
    return clock_seconds() - budget->begin_seconds;
}

static double left(const struct run_budget *budget, double fraction)
{
    return budget->seconds > 0 ? fraction * budget->seconds - run_budget_spent(budget) : HUGE_VAL;
}

static double until(const struct run_budget *budget, double fraction)
{
    return budget->seconds > 0 ? budget->begin_seconds + fraction * budget->seconds : 0;
}

static double points_fraction(const struct run_budget *budget)
{
    return 1 - budget->steps_fraction;
}

double run_budget_left(const struct run_budget *budget)
{
    return left(budget, 1);
}

double run_budget_points_left(const struct run_budget *budget)
{
    return left(budget, points_fraction(budget));
}

double run_budget_evidence_until(const struct run_budget *budget)
{
    return until(budget, evidence_fraction * points_fraction(budget));
}

struct limit run_budget_prepare_limit(const struct run_budget *budget,
                                      const volatile sig_atomic_t *signal)
{
    return (struct limit){signal, until(budget, 1)};
}

struct limit run_budget_points_limit(const struct run_budget *budget,
                                     const volatile sig_atomic_t *signal)
{
    return (struct limit){signal, until(budget, points_fraction(budget) + finish_fraction)};
}

struct limit run_budget_steps_limit(const struct run_budget *budget,
                                    const volatile sig_atomic_t *signal)
{
    return (struct limit){signal, until(budget, 1 + finish_fraction)};
}

const char *run_budget_points_part(const struct run_budget *budget)
{
    return budget->steps_fraction > 0 ? "the points' half of " : "";
}
