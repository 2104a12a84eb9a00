/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The concave curve through the origin that fits points best. Pure.
 */
#ifndef WI_PROFILE_CONCAVE_H
#define WI_PROFILE_CONCAVE_H

#include <stddef.h>

#define WI_CONCAVE_MAX 32

/* Minimises the sum of weight * (y - f(x))^2 over concave f with f(0) = 0; 0 < x[0] < x[1] < ...; n up to
 * WI_CONCAVE_MAX; weights above 0. Writes f(x) to `fitted`. */
void wi_concave_fit(const double *x, const double *y, const double *weight, size_t n, double *fitted);

#endif
