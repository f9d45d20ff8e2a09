/* machine_new.h - what the file of a new machine holds at first. */
#ifndef GKF_MACHINE_NEW_H
#define GKF_MACHINE_NEW_H

#include <stddef.h>

struct gkf_file;
struct gkf_machine_spec;

/*
 * The file of a new machine. size: bytes that it takes, or GK_ERR_TOO_MANY.
 * init: fills that many zeroed bytes.
 */
int gkf_file_size(const struct gkf_machine_spec *spec, size_t *ret_size);
void gkf_file_init(struct gkf_file *f, const struct gkf_machine_spec *spec);

#endif
