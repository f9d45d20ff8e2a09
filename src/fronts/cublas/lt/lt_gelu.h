/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_gelu.h - GELU by the formula in cuBLASLt's documentation:
 * x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
 */
#ifndef GKF_CUBLAS_LT_GELU_H
#define GKF_CUBLAS_LT_GELU_H

double lt_gelu(double x);

/* Its derivative. */
double lt_gelu_gradient(double x);

#endif
