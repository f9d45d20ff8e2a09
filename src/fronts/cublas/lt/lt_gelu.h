/*
 * lt_gelu.h - GELU as cuBLASLt documents it, by tanh:
 * x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
 */
#ifndef GKF_CUBLAS_LT_GELU_H
#define GKF_CUBLAS_LT_GELU_H

double lt_gelu(double x);

/* Its derivative. */
double lt_gelu_gradient(double x);

#endif
