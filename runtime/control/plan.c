/* SPDX-License-Identifier: BSD-2-Clause */
/* Planning experiments. See plan.h. */
#include "runtime/control/plan.h"

static void shuffle(struct wi_trial *trials, size_t n, struct wi_random *random)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = wi_random_below(random, (uint32_t)i);
        struct wi_trial moved = trials[i - 1];
        trials[i - 1] = trials[j];
        trials[j] = moved;
    }
}

size_t wi_plan_block(const double *speedups, size_t n_speedups, uint32_t n_earlier_blocks,
                     struct wi_random *random, struct wi_trial trials[WI_MAX_BLOCK])
{
    size_t n = 0, n_treatments = 0;
    for (size_t i = 0; i < n_speedups && i < WI_MAX_SPEEDUPS; i++)
        if (speedups[i] > 0) {
            trials[n++] = (struct wi_trial){WI_EXPERIMENT_TREATMENT, speedups[i]};
            n_treatments++;
        }
    for (size_t baselines = n_treatments >= 3 ? 2 : 1; baselines > 0; baselines--)
        trials[n++] = (struct wi_trial){WI_EXPERIMENT_BASELINE, 0};
    if (n_treatments > 0 && (n_earlier_blocks < WI_PLACEBO_FIRST || n_earlier_blocks % 3 == 0)) {
        double speedup = trials[wi_random_below(random, (uint32_t)n_treatments)].speedup_percent;
        trials[n++] = (struct wi_trial){WI_EXPERIMENT_PLACEBO, speedup};
    }
    shuffle(trials, n, random);
    return n;
}

size_t wi_plan_next(const struct wi_contender *contenders, size_t n)
{
    size_t best = n;
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double claim = contenders[i].worth / (contenders[i].n_blocks + 1.0);
        if (claim > most) {
            most = claim;
            best = i;
        }
    }
    return best;
}

uint64_t wi_plan_length_ns(double rate, double visits, uint64_t least_ns, uint64_t most_ns)
{
    if (rate <= 0)
        return most_ns;
    double wanted = visits / rate * 1e9;
    if (wanted <= (double)least_ns)
        return least_ns;
    return wanted >= (double)most_ns ? most_ns : (uint64_t)wanted;
}
