/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random numbers, Student's t, and the correction for having looked at many.
 */
#include "runtime/profile/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers: splitmix64 (Steele, Lea, Flood 2014) ---------------------------------------------------- */

uint64_t wi_random_next(struct wi_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint32_t wi_random_below(struct wi_random *random, uint32_t n)
{
    return (uint32_t)((wi_random_next(random) >> 32) * n >> 32);
}

double wi_random_uniform(struct wi_random *random)
{
    return ((double)(wi_random_next(random) >> 11) + 0.5) / 9007199254740992.0;
}

double wi_random_normal(struct wi_random *random)
{
    return sqrt(-2 * log(wi_random_uniform(random))) * cos(2 * M_PI * wi_random_uniform(random));
}

/* ---- Student's t ------------------------------------------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function, by Lentz's method (Abramowitz and Stegun 26.5.8). */
static double beta_fraction(double x, double a, double b)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
    double result = d;
    for (int m = 1; m < 300; m++) {
        for (int odd = 0; odd < 2; odd++) {
            double k = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                           : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + k * d;
            d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
            c = 1 + k / c;
            c = fabs(c) < 1e-300 ? 1e-300 : c;
            result *= c * d;
        }
        if (fabs(c * d - 1) < 1e-14)
            break;
    }
    return result;
}

/* The regularised incomplete beta function. */
static double beta_share(double x, double a, double b)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double wi_t_tail(double t, double df)
{
    double both = beta_share(df / (df + t * t), df / 2, 0.5);
    return t > 0 ? both / 2 : 1 - both / 2;
}

double wi_normal_quantile(double probability)
{
    double low = -9, high = 9;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (erfc(-middle * M_SQRT1_2) / 2 < probability)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

static double t_density(double t, double df)
{
    double log_scale = lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * M_PI) / 2;
    return exp(log_scale - (df + 1) / 2 * log1p(t * t / df));
}

/* Newton's steps on the upper tail, which is convex there: from the left they never overshoot. The normal quantile
 * lies left of Student's. */
double wi_t_quantile(double probability, double df)
{
    if (probability < 0.5)
        return -wi_t_quantile(1 - probability, df);
    if (df == 1)
        return tan(M_PI * (probability - 0.5));
    double t = wi_normal_quantile(probability);
    t += (t * t * t + t) / (4 * df); /* the first term of the expansion in 1/df: still from the left */
    for (int i = 0; i < 60; i++) {
        double step = (wi_t_tail(t, df) - (1 - probability)) / t_density(t, df);
        t += step;
        if (fabs(step) < 1e-10 * (1 + t))
            break;
    }
    return t;
}

/* ---- order ----------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double wi_quantile_of(double *values, size_t n, double quantile)
{
    qsort(values, n, sizeof *values, compare);
    double at = ceil(quantile * (double)(n + 1)) - 1;
    return values[at < 0 ? 0 : at > (double)(n - 1) ? n - 1 : (size_t)at];
}

int wi_false_discovery(const double *p_values, size_t n, double rate, _Bool *clear)
{
    if (n == 0)
        return 0;
    double *sorted = malloc(n * sizeof *sorted);
    if (sorted == NULL)
        return -ENOMEM;
    memcpy(sorted, p_values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    double limit = -1;
    for (size_t i = 0; i < n; i++)
        if (sorted[i] <= rate * (double)(i + 1) / (double)n)
            limit = sorted[i];
    for (size_t i = 0; i < n; i++)
        clear[i] = p_values[i] <= limit;
    free(sorted);
    return 0;
}
