/* export.h - what a shared library shows although it hides by default. */
#ifndef GK_EXPORT_H
#define GK_EXPORT_H

/* Functions and tables that libgpukit-fake.so shows to the fronts. */
#define GKF_API __attribute__((visibility("default")))

#endif
