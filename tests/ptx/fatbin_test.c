/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fatbin_test.c - checks fat binaries of nvcc, packed in all its ways, from
 * image to result.
 */
#include "base/err.h"
#include "ptx/fixture.h"

#include <stdlib.h>

static void sums_are_right(const char *text)
{
	float a[100], b[100], c[100] = {0};
	struct ptx_program p;
	struct {
		uint64_t a, b, c;
		int n;
	} __attribute__((packed)) params;

	for (int i = 0; i < 100; i++) {
		a[i] = (float)i * 0.5F;
		b[i] = 1000.0F - (float)i;
	}
	ptx_load(&p, text);
	params.a = ptx_show(&p, a, sizeof a);
	params.b = ptx_show(&p, b, sizeof b);
	params.c = ptx_show(&p, c, sizeof c);
	params.n = 99;
	assert_int_equal(ptx_run(&p, "vector_add", 4, 48, &params, 28),
			 GKF_PTX_DONE);
	for (int i = 0; i < 99; i++)
		assert_true(c[i] == a[i] + b[i]);
	assert_true(c[99] == 0);
	ptx_unload(&p);
}

static void images_of(const char *name, enum gkf_packing packing)
{
	struct gkf_image image;
	size_t size, unpacked;
	char *bytes = ptx_read_file(name, &size), *text;

	assert_int_equal(gkf_image_form(bytes), GKF_FORM_FATBIN);
	assert_int_equal(gkf_fatbin_size(bytes), size);
	assert_int_equal(gkf_fatbin_choose(bytes, size, 74, NULL, &image),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_fatbin_choose(bytes, size, 80, NULL, &image), 0);
	assert_int_equal(image.kind, GKF_IMAGE_PTX);
	assert_int_equal(image.arch, 75);
	assert_int_equal(image.packing, packing);
	assert_int_equal(gkf_image_unpack(&image, &text, &unpacked), 0);
	assert_non_null(strstr(text, ".target sm_75"));
	sums_are_right(text);
	free(text);
	free(bytes);
}

static void every_packing_of_nvcc_is_read(void **state)
{
	(void)state;
	images_of("vector_add_none.fatbin", GKF_PLAIN);
	images_of("vector_add_speed.fatbin", GKF_LZ4);
	images_of("vector_add_balance.fatbin", GKF_ZSTD);
	images_of("vector_add_size.fatbin", GKF_ZSTD);
}

static void machine_code_is_seen_beside_ptx(void **state)
{
	struct gkf_image image;
	size_t size, offset = 0, unpacked;
	unsigned ptx = 0, elf = 0;
	char *bytes = ptx_read_file("vector_add_size.fatbin", &size), *cubin;

	(void)state;
	while (!gkf_fatbin_next(bytes, size, &offset, &image)) {
		ptx += image.kind == GKF_IMAGE_PTX;
		elf += image.kind == GKF_IMAGE_ELF;
		if (image.kind != GKF_IMAGE_ELF)
			continue;
		assert_int_equal(image.arch, 86);
		assert_int_equal(gkf_image_unpack(&image, &cubin, &unpacked),
				 0);
		assert_int_equal(gkf_cubin_arch(cubin, unpacked), 86);
		free(cubin);
	}
	assert_int_equal(ptx, 1);
	assert_int_equal(elf, 1);
	assert_int_equal(offset, size);
	free(bytes);
}

static void a_cubin_is_told_from_text(void **state)
{
	size_t size;
	char *bytes = ptx_read_file("vector_add_86.cubin", &size);

	(void)state;
	assert_int_equal(gkf_image_form(bytes), GKF_FORM_ELF);
	assert_int_equal(gkf_cubin_arch(bytes, size), 86);
	assert_int_equal(gkf_image_form("P"), GKF_FORM_TEXT);
	assert_int_equal(gkf_image_form(""), GKF_FORM_TEXT);
	free(bytes);
}

/* Cut anywhere, with any byte wrong: an error or an image inside. */
static void damaged_images_are_refused(void **state)
{
	struct gkf_image image;
	size_t size, offset, unpacked;
	char *bytes = ptx_read_file("vector_add_size.fatbin", &size);
	unsigned refused = 0;

	(void)state;
	for (size_t cut = 0; cut < size; cut += 7) {
		char *copy = malloc(cut ? cut : 1), *text = NULL;

		assert_non_null(copy);
		memcpy(copy, bytes, cut);
		if (cut > 20)
			copy[16 + cut % 64 % (cut - 16)] ^= 0x5a;
		offset = 0;
		while (!gkf_fatbin_next(copy, cut, &offset, &image)) {
			assert_true((const char *)image.bytes >= copy &&
				    (const char *)image.bytes + image.stored <=
					copy + cut);
			if (gkf_image_unpack(&image, &text, &unpacked))
				refused++;
			else
				free(text);
		}
		free(copy);
	}
	assert_true(refused > 0);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_packing_of_nvcc_is_read),
	    cmocka_unit_test(machine_code_is_seen_beside_ptx),
	    cmocka_unit_test(a_cubin_is_told_from_text),
	    cmocka_unit_test(damaged_images_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
