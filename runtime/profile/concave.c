/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Least squares under concavity.
 *
 * A concave piecewise linear curve through the origin is a line less hinges: f(x) = a*x - sum b_j * (x - x_j)+,
 * b_j >= 0. So this is a non-negative least squares problem with one free coefficient, solved by Lawson and
 * Hanson's active sets (Solving Least Squares Problems, 1974, ch. 23): hinges enter one by one where they
 * improve the fit most, and leave when they would turn negative. There are few points, so the normal equations
 * are good enough.
 */
#include "runtime/profile/concave.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define N WI_CONCAVE_MAX

struct problem {
    size_t n;          /* coefficients: the slope, then a hinge at every point but the last */
    double gram[N][N]; /* of the columns, weighted */
    double against[N]; /* columns times y */
    bool in[N];        /* which coefficients are not held at zero */
    double coefficient[N];
};

static double column(const double *x, size_t j, size_t i)
{
    if (j == 0)
        return x[i];
    return x[i] > x[j - 1] ? x[j - 1] - x[i] : 0;
}

static void set_up(struct problem *problem, const double *x, const double *y, const double *weight, size_t n)
{
    memset(problem, 0, sizeof *problem);
    problem->n = n;
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k <= j; k++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += weight[i] * column(x, j, i) * column(x, k, i);
            problem->gram[j][k] = problem->gram[k][j] = sum;
        }
        for (size_t i = 0; i < n; i++)
            problem->against[j] += weight[i] * column(x, j, i) * y[i];
    }
}

/* Unconstrained solution over the coefficients that are in, by Cholesky; a column that adds nothing new gets 0. */
static void solve(const struct problem *problem, double *solution)
{
    size_t index[N], m = 0;
    double l[N][N], z[N];
    for (size_t j = 0; j < problem->n; j++)
        if (problem->in[j])
            index[m++] = j;
    for (size_t j = 0; j < m; j++) {
        for (size_t k = 0; k <= j; k++) {
            double sum = problem->gram[index[j]][index[k]];
            for (size_t i = 0; i < k; i++)
                sum -= l[j][i] * l[k][i];
            if (j == k)
                l[j][j] = sum > 1e-12 * problem->gram[index[j]][index[j]] ? sqrt(sum) : HUGE_VAL;
            else
                l[j][k] = sum / l[k][k];
        }
        z[j] = problem->against[index[j]];
        for (size_t i = 0; i < j; i++)
            z[j] -= l[j][i] * z[i];
        z[j] /= l[j][j];
    }
    memset(solution, 0, N * sizeof *solution);
    for (size_t j = m; j-- > 0;) {
        for (size_t i = j + 1; i < m; i++)
            z[j] -= l[i][j] * solution[index[i]];
        solution[index[j]] = z[j] / l[j][j];
    }
}

/* Move from the present coefficients towards the solution until the first hinge hits zero; that one leaves. */
static bool step(struct problem *problem, const double *solution)
{
    double share = 1;
    size_t leaves = 0;
    for (size_t j = 1; j < problem->n; j++) {
        if (!problem->in[j] || solution[j] > 0)
            continue;
        double there = problem->coefficient[j] / (problem->coefficient[j] - solution[j]);
        if (leaves == 0 || there < share) {
            share = there >= 0 && there <= 1 ? there : 0;
            leaves = j;
        }
    }
    for (size_t j = 0; j < problem->n; j++)
        problem->coefficient[j] += share * (solution[j] - problem->coefficient[j]);
    if (leaves == 0)
        return false;
    problem->in[leaves] = false;
    problem->coefficient[leaves] = 0;
    return true;
}

/* The hinge whose growth lowers the sum of squares most, relative to its length; 0 if none does. */
static size_t best_hinge(const struct problem *problem)
{
    size_t best = 0;
    double steepest = 1e-9;
    for (size_t j = 1; j < problem->n; j++) {
        if (problem->in[j])
            continue;
        double slope = problem->against[j];
        for (size_t k = 0; k < problem->n; k++)
            slope -= problem->gram[j][k] * problem->coefficient[k];
        slope /= sqrt(problem->gram[j][j]);
        if (slope > steepest) {
            steepest = slope;
            best = j;
        }
    }
    return best;
}

void wi_concave_fit(const double *x, const double *y, const double *weight, size_t n, double *fitted)
{
    if (n == 0)
        return;
    struct problem problem;
    double solution[N];
    set_up(&problem, x, y, weight, n);
    problem.in[0] = true;
    for (size_t rounds = 0, hinge = 0; rounds < 4 * N; rounds++) {
        do
            solve(&problem, solution);
        while (step(&problem, solution));
        hinge = best_hinge(&problem);
        if (hinge == 0)
            break;
        problem.in[hinge] = true;
    }
    for (size_t i = 0; i < n; i++) {
        fitted[i] = 0;
        for (size_t j = 0; j < n; j++)
            fitted[i] += problem.coefficient[j] * column(x, j, i);
    }
}
