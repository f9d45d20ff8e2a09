/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.c - warns of programs that cannot be limited because LD_PRELOAD has no
 * effect on them: programs without a dynamic linker, and programs that run with
 * privileges that their caller lacks.
 */
#include "cli/command.h"
#include "cli/limit/limit.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#else
#define OUR_MACHINE EM_AARCH64
#endif

/*
 * Bytes read of a file: enough for the header, the segment table and a line of
 * #!.
 */
#define HEAD 4096

struct head {
	union {
		Elf64_Ehdr elf;
		char text[HEAD + 1];
	};
	size_t size;
};

/*
 * The dynamic linker ignores LD_PRELOAD if the program gains privileges. Root
 * gains none.
 */
static const char *find_rights(int fd, const struct stat *st)
{
	if (st->st_mode & S_ISUID && st->st_uid != geteuid())
		return "is set-user-ID";
	if (st->st_mode & S_ISGID && st->st_gid != getegid())
		return "is set-group-ID";
	if (geteuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "has capabilities of its own";
	return NULL;
}

/* Returns the first segment of a type in the bytes read, or NULL. */
static const Elf64_Phdr *find_segment(const struct head *head, uint32_t type)
{
	const Elf64_Ehdr *elf = &head->elf;

	for (size_t i = 0; i < elf->e_phnum; i++) {
		size_t at = elf->e_phoff + i * sizeof(Elf64_Phdr);
		const Elf64_Phdr *segment = (const void *)(head->text + at);

		if (elf->e_phoff % 8 || elf->e_phoff > HEAD ||
		    at + sizeof *segment > head->size)
			return NULL;
		if (segment->p_type == type)
			return segment;
	}
	return NULL;
}

static const char *judge_elf(const struct head *head)
{
	const Elf64_Phdr *linker;

	if (head->elf.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->elf.e_machine != OUR_MACHINE)
		return "is for another CPU architecture than libvgpu.so";
	linker = find_segment(head, PT_INTERP);
	if (!linker)
		return "is statically linked";
	if (linker->p_offset < head->size &&
	    strstr(head->text + linker->p_offset, "ld-musl"))
		return "is linked with musl, which libvgpu.so does not support";
	return NULL;
}

/* Finds the interpreter of a script. Returns false if the file is no script. */
static bool find_interpreter(struct head *head, char *ret_path, size_t cap)
{
	size_t blanks, len;
	const char *name;

	if (head->size < 2 || memcmp(head->text, "#!", 2))
		return false;
	blanks = strspn(head->text + 2, " \t");
	name = head->text + 2 + blanks;
	len = strcspn(name, " \t\r\n");
	if (!len || len >= cap)
		return false;
	memcpy(ret_path, name, len);
	ret_path[len] = '\0';
	return true;
}

static bool read_head(int fd, struct head *ret_head)
{
	ssize_t n = pread(fd, ret_head->text, HEAD, 0);

	ret_head->size = n > 0 ? (size_t)n : 0;
	ret_head->text[ret_head->size] = '\0';
	return n > 0;
}

static const char *judge_file(int fd, struct head *head)
{
	const char *rights;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !read_head(fd, head))
		return NULL;
	if (head->size < sizeof(Elf64_Ehdr) ||
	    memcmp(head->text, ELFMAG, SELFMAG))
		return NULL;
	rights = find_rights(fd, &st);
	return rights ? rights : judge_elf(head);
}

static const char *judge_path(const char *path, struct head *head)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *why;

	head->size = 0;
	if (fd < 0)
		return NULL;
	why = judge_file(fd, head);
	close(fd);
	return why;
}

bool limit_reaches(const char *command)
{
	char path[PATH_MAX];
	struct head head;
	const char *why;

	if (!gk_command_find(command, path, sizeof path))
		/*
		 * The command was not found; running it will report the error.
		 */
		return true;
	why = judge_path(path, &head);
	if (!why && find_interpreter(&head, path, sizeof path))
		why = judge_path(path, &head);
	if (why)
		limit_failure("%s %s: LD_PRELOAD has no effect on it, so it "
			      "runs without limits",
			      path, why);
	return !why;
}
