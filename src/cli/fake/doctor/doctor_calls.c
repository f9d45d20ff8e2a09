/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_calls.c - finds the functions that a program imports from NVIDIA's
 * libraries, and which of these our libraries refuse. Ours define refused
 * functions as weak symbols.
 */
#include "cli/fake/doctor/doctor.h"
#include "cli/fake/fake.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Finds our library of that name. Returns false if we have none. */
static bool find_ours(const char *name, char *ret_path, size_t cap)
{
	if (strchr(name, '/') || strncmp(name, "lib", 3) != 0)
		return false;
	return !fake_where(name, ret_path, cap) && !access(ret_path, R_OK);
}

bool doctor_is_made_up(const char *name)
{
	char path[PATH_MAX];

	return find_ours(name, path, sizeof path);
}

/* Whether the library defines the function but refuses it. */
static bool is_refused_by(const struct elf *library, const char *name,
			  bool *ret_has)
{
	const char *own;
	Elf64_Sym symbol;

	*ret_has = false;
	for (size_t i = 0; elf_symbol(library, i, &own, &symbol); i++) {
		if (symbol.st_shndx == SHN_UNDEF || strcmp(own, name) != 0)
			continue;
		*ret_has = true;
		if (ELF64_ST_BIND(symbol.st_info) == STB_WEAK)
			return true;
	}
	return false;
}

static void note_refused_call(struct doctor *doctor, const char *name)
{
	struct refused_call *c;

	doctor->call_refused_count++;
	if (doctor->call_refused_count > REFUSED_MAX)
		return;
	c = &doctor->refused_calls[doctor->call_refused_count - 1];
	gk_str_clean(c->name, sizeof c->name, name, strlen(name));
}

/* Every function in NVIDIA's libraries has one of these prefixes. */
static bool may_be_nvidias(const char *name)
{
	return !strncmp(name, "cu", 2) || !strncmp(name, "__cu", 4) ||
	       !strncmp(name, "nvml", 4);
}

static void judge_imports(const struct elf *elf, const struct elf *library,
			  struct doctor *doctor)
{
	const char *name;
	Elf64_Sym symbol;
	bool has;

	for (size_t i = 0; elf_symbol(elf, i, &name, &symbol); i++) {
		if (symbol.st_shndx != SHN_UNDEF || !may_be_nvidias(name))
			continue;
		if (is_refused_by(library, name, &has))
			note_refused_call(doctor, name);
		doctor->call_count += has;
	}
}

/*
 * If our own library replaces the file when a program loads it, the file's
 * calls are never made. Then counts none.
 */
void doctor_calls(const struct elf *elf, struct doctor *doctor)
{
	const char *soname = elf_soname(elf), *name;
	char path[PATH_MAX];
	struct bytes all;
	struct elf ours;

	if (soname && doctor_is_made_up(soname))
		return;
	for (unsigned i = 0; (name = elf_needed(elf, i)); i++) {
		if (!find_ours(name, path, sizeof path))
			continue;
		all = doctor_map(path);
		if (!all.data)
			continue;
		if (elf_read(all, &ours))
			judge_imports(elf, &ours, doctor);
		doctor_unmap(all);
	}
}
