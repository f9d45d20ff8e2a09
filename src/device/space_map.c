/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_map.c - owns the reserved addresses and the mappings in them. Memory is
 * mapped there by mapping its pages a second time, with mremap(), which needs
 * no file. One lock guards changes. Lookups take no lock, because each
 * accessible stretch is a piece in the arena of reserved addresses.
 */
#include "base/assert.h"
#include "base/err.h"
#include "device/share.h"
#include "device/space_arena.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The state of a block: free, or the first or a later one of a reservation. */
enum block_state { BLOCK_FREE, BLOCK_FIRST, BLOCK_REST };

static struct {
	pthread_mutex_t lock;
	struct arena *arena;
	unsigned char *state; /* the state of each block */
	/*
	 * For each block: the first block of the mapping that contains it, plus
	 * 1; 0: not mapped.
	 */
	uint32_t *first;
	/* the element at a mapping's first block describes the mapping */
	struct gkf_mapping *mapping;
	uint32_t blocks;
} reserved = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The caller holds reserved.lock. */
static bool make_reserved(void)
{
	struct arena *a = reserved.arena ? reserved.arena : reserved_arena();
	unsigned char *tables;
	uint32_t blocks;

	GK_ASSERT(gk_lock_held(&reserved.lock));
	if (reserved.arena || !a)
		return a;
	blocks = (uint32_t)(a->size / BLOCK_SIZE);
	tables =
	    mmap(NULL,
		 blocks * (sizeof(*reserved.mapping) + sizeof(*reserved.first) +
			   sizeof(*reserved.state)),
		 PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (tables == MAP_FAILED)
		return false;
	reserved.mapping = (struct gkf_mapping *)(void *)tables;
	reserved.first = (uint32_t *)(void *)(reserved.mapping + blocks);
	reserved.state = (unsigned char *)(reserved.first + blocks);
	reserved.blocks = blocks;
	reserved.arena = a;
	return true;
}

/* Returns the mapping that contains a block, or NULL. */
static struct gkf_mapping *mapping_of(uint32_t block)
{
	uint32_t first = reserved.first[block];

	return first ? &reserved.mapping[first - 1] : NULL;
}

static uint32_t blocks_of(uint64_t size)
{
	return (uint32_t)((size + BLOCK_SIZE - 1) / BLOCK_SIZE);
}

/*
 * Finds the blocks of a range; false: the range is not in the arena, or does
 * not begin at a block.
 */
static bool find_blocks(uint64_t address, uint64_t size, uint32_t *ret_block,
			uint32_t *ret_count)
{
	const struct arena *a = reserved.arena;

	if (!a || address - a->base >= a->size || !size ||
	    size > a->size - (address - a->base) ||
	    (address - a->base) % BLOCK_SIZE)
		return false;
	*ret_block = (uint32_t)((address - a->base) / BLOCK_SIZE);
	*ret_count = blocks_of(size);
	return true;
}

/* ---- reservations ---- */

static void give_addresses(uint32_t block, uint32_t n)
{
	uint32_t first, length;

	GK_ASSERT(gk_lock_held(&reserved.lock));
	if (n)
		fit_give(&reserved.arena->blocks, block, n, &first, &length);
}

/* To align to more than a block, takes extra blocks and gives some back. */
static bool take_addresses(uint32_t n, uint64_t align, uint32_t *ret_block)
{
	uint64_t base = reserved.arena->base, at;
	uint32_t spare = align > BLOCK_SIZE ? blocks_of(align) - 1 : 0;
	uint32_t block, before;

	if (!fit_take(&reserved.arena->blocks, n + spare, 1, &block))
		return false;
	at = base + block * BLOCK_SIZE;
	before = spare ? (uint32_t)((-at & (align - 1)) / BLOCK_SIZE) : 0;
	give_addresses(block, before);
	give_addresses(block + before + n, spare - before);
	*ret_block = block + before;
	return true;
}

static bool take_near(uint64_t near, uint64_t align, uint64_t size,
		      uint32_t *ret_block)
{
	uint32_t n;

	return near && !(align && near & (align - 1)) &&
	       find_blocks(near, size, ret_block, &n) &&
	       fit_take_at(&reserved.arena->blocks, *ret_block, n);
}

int gkf_space_reserve(uint64_t size, uint64_t align, uint64_t near,
		      uint64_t *ret_address)
{
	uint32_t n = blocks_of(size), block;
	int r = 0;

	pthread_mutex_lock(&reserved.lock);
	if (!make_reserved() || size > reserved.arena->size / 2 ||
	    align > reserved.arena->size / 2 ||
	    (!take_near(near, align, size, &block) &&
	     !take_addresses(n, align, &block))) {
		r = GK_ERR_NOMEM;
	} else {
		reserved.state[block] = BLOCK_FIRST;
		memset(&reserved.state[block + 1], BLOCK_REST, n - 1);
		*ret_address = reserved.arena->base + block * BLOCK_SIZE;
	}
	pthread_mutex_unlock(&reserved.lock);
	return r;
}

static uint32_t reservation_length(uint32_t block)
{
	uint32_t end = block + 1;

	while (end < reserved.blocks && reserved.state[end] == BLOCK_REST)
		end++;
	return end - block;
}

static bool is_mapped(uint32_t block, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (reserved.first[block + i])
			return true;
	return false;
}

int gkf_space_unreserve(uint64_t address, uint64_t size)
{
	uint32_t block, n;
	int r = 0;

	pthread_mutex_lock(&reserved.lock);
	if (!find_blocks(address, size, &block, &n) ||
	    reserved.state[block] != BLOCK_FIRST ||
	    reservation_length(block) != n) {
		r = GK_ERR_INVALID;
	} else if (is_mapped(block, n)) {
		r = GK_ERR_IN_USE;
	} else {
		memset(&reserved.state[block], BLOCK_FREE, n);
		give_addresses(block, n);
	}
	pthread_mutex_unlock(&reserved.lock);
	return r;
}

/* ---- stretches; the caller holds reserved.lock ---- */

static uint32_t piece_of_block(uint32_t block)
{
	GK_ASSERT(gk_lock_held(&reserved.lock));
	return atomic_load_explicit(&reserved.arena->block[block],
				    memory_order_relaxed) >>
	       1;
}

static void set_blocks(uint64_t base, uint64_t size, uint32_t piece)
{
	uint32_t block = (uint32_t)((base - reserved.arena->base) / BLOCK_SIZE);

	GK_ASSERT(gk_lock_held(&reserved.lock));
	for (uint32_t i = 0; i < size / BLOCK_SIZE; i++)
		atomic_store_explicit(&reserved.arena->block[block + i],
				      piece << 1, memory_order_release);
}

/*
 * Removes a mapping from its stretch, which may leave two parts. Returns false
 * if there is no memory for the second part.
 */
static bool leave_stretch(const struct gkf_mapping *m)
{
	struct pieces *pieces = &reserved.arena->pieces;
	struct piece_words left, right;
	uint32_t number = piece_of_block(
	    (uint32_t)((m->base - reserved.arena->base) / BLOCK_SIZE));
	uint32_t second = 0;

	GK_ASSERT(gk_lock_held(&reserved.lock));
	if (!piece_read(pieces, number, &left))
		return true;
	right = left;
	right.base = m->base + m->size;
	right.size = left.base + left.size - right.base;
	left.size = m->base - left.base;
	right.id = left.size ? space_id() : left.id;
	if (left.size && right.size) {
		second = piece_new(pieces, &right);
		if (!second)
			return false;
		set_blocks(right.base, right.size, second);
	}
	set_blocks(m->base, m->size, 0);
	if (left.size)
		piece_change(pieces, number, &left);
	else if (right.size)
		piece_change(pieces, number, &right);
	else
		piece_free(pieces, number);
	return true;
}

/* Returns a block's stretch if its device and rights match `words`; else 0. */
static uint32_t find_alike(uint32_t block, const struct piece_words *words,
			   struct piece_words *ret_words)
{
	uint32_t number = block < reserved.blocks ? piece_of_block(block) : 0;

	GK_ASSERT(gk_lock_held(&reserved.lock));
	return number &&
		       piece_read(&reserved.arena->pieces, number, ret_words) &&
		       ret_words->kind == words->kind &&
		       ret_words->device == words->device &&
		       ret_words->owner == words->owner &&
		       ret_words->pool == words->pool
		   ? number
		   : 0;
}

/* Joins two stretches; the result has the number of the longer one. */
static uint32_t join_stretches(uint32_t a, const struct piece_words *left,
			       uint32_t b, const struct piece_words *right)
{
	struct pieces *pieces = &reserved.arena->pieces;
	bool first = left->size >= right->size;
	struct piece_words all = first ? *left : *right;

	GK_ASSERT(gk_lock_held(&reserved.lock));
	all.base = left->base;
	all.size = left->size + right->size;
	piece_change(pieces, first ? a : b, &all);
	if (first)
		set_blocks(right->base, right->size, a);
	else
		set_blocks(left->base, left->size, b);
	piece_free(pieces, first ? b : a);
	return first ? a : b;
}

/*
 * Adds a mapping as a stretch, if any device has access. Joins it with
 * neighbouring stretches that have the same device and rights.
 */
static bool enter_stretch(const struct gkf_mapping *m)
{
	const struct arena *a = reserved.arena;
	struct piece_words words = {.base = m->base,
				    .size = m->size,
				    .owner = m->readers,
				    .pool = m->writers,
				    .id = space_id(),
				    .kind = GKF_MEMORY_MAPPED,
				    .device = m->device};
	struct piece_words other;
	uint32_t block = (uint32_t)((m->base - a->base) / BLOCK_SIZE);
	uint32_t number, next;

	GK_ASSERT(gk_lock_held(&reserved.lock));
	if (!(m->readers | m->writers))
		return true;
	number = piece_new(&reserved.arena->pieces, &words);
	if (!number)
		return false;
	set_blocks(m->base, m->size, number);
	next = find_alike(block - 1, &words, &other);
	if (next) {
		number = join_stretches(next, &other, number, &words);
		piece_read(&a->pieces, number, &words);
	}
	next = find_alike(block + blocks_of(m->size), &words, &other);
	if (next)
		join_stretches(number, &words, next, &other);
	return true;
}

/* ---- mappings ---- */

/* Keeps memory out of child processes and core dumps. */
static void hide_from_others(void *at, uint64_t size)
{
	madvise(at, size, MADV_DONTFORK);
	madvise(at, size, MADV_DONTDUMP);
}

/* Maps the pages of shared memory a second time. */
static bool show_again(void *at, uint64_t size, void *source)
{
	if (mremap(source, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at)
		return false;
	hide_from_others(at, size);
	return true;
}

/*
 * Replaces memory by private pages. No hole is left, because a kernel may still
 * use the memory and would crash the program.
 */
static bool replace_pages(void *at, uint64_t size)
{
	const int flags =
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

	return mmap(at, size, PROT_READ | PROT_WRITE, flags, -1, 0) == at ||
	       mmap(at, size, PROT_NONE, flags, -1, 0) == at;
}

static unsigned char *view_at(uint64_t address)
{
	return reserved.arena->view + (address - reserved.arena->base);
}

static int check_room(uint32_t block, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!reserved.state[block + i])
			return GK_ERR_INVALID;
	return is_mapped(block, n) ? GK_ERR_EXISTS : 0;
}

int gkf_space_map(const struct gkf_mapping *mapping, void *source)
{
	struct gkf_mapping *m;
	uint32_t block, n;
	int r = 0;

	pthread_mutex_lock(&reserved.lock);
	if (mapping->size % BLOCK_SIZE ||
	    !find_blocks(mapping->base, mapping->size, &block, &n))
		r = GK_ERR_INVALID;
	if (!r)
		r = check_room(block, n);
	if (!r && !show_again(view_at(mapping->base), mapping->size, source))
		r = GK_ERR_NOMEM;
	if (!r) {
		m = &reserved.mapping[block];
		*m = *mapping;
		m->id = space_id();
		m->readers = m->writers = 0;
		for (uint32_t i = 0; i < n; i++)
			reserved.first[block + i] = block + 1;
	}
	pthread_mutex_unlock(&reserved.lock);
	return r;
}

/*
 * Returns the mapping that starts at an address and ends at or before `end`;
 * else NULL.
 */
static struct gkf_mapping *mapping_within(uint64_t address, uint64_t end)
{
	struct gkf_mapping *m;
	uint32_t block, n;

	if (!find_blocks(address, end - address, &block, &n))
		return NULL;
	m = mapping_of(block);
	return m && m->base == address && m->size <= end - address ? m : NULL;
}

static int check_mappings(uint64_t address, uint64_t size)
{
	uint64_t end = address + size;
	const struct gkf_mapping *m;

	if (!size || end < address)
		return GK_ERR_INVALID;
	for (uint64_t at = address; at < end; at += m->size) {
		m = mapping_within(at, end);
		if (!m)
			return GK_ERR_INVALID;
	}
	return 0;
}

int gkf_space_check_mapped(uint64_t address, uint64_t size)
{
	int r;

	pthread_mutex_lock(&reserved.lock);
	r = check_mappings(address, size);
	pthread_mutex_unlock(&reserved.lock);
	return r;
}

static int unmap_one(struct gkf_mapping *m)
{
	uint32_t block =
	    (uint32_t)((m->base - reserved.arena->base) / BLOCK_SIZE);

	if (!leave_stretch(m))
		return GK_ERR_NOMEM;
	if (!replace_pages(view_at(m->base), m->size)) {
		enter_stretch(m);
		return GK_ERR_NOMEM;
	}
	for (uint32_t i = 0; i < blocks_of(m->size); i++)
		reserved.first[block + i] = 0;
	return 0;
}

int gkf_space_unmap(uint64_t address, uint64_t size)
{
	uint64_t at = address, end = address + size, length;
	int r;

	pthread_mutex_lock(&reserved.lock);
	r = check_mappings(address, size);
	for (; !r && at < end; at += length) {
		struct gkf_mapping *m = mapping_within(at, end);

		length = m->size;
		r = unmap_one(m);
	}
	pthread_mutex_unlock(&reserved.lock);
	return r;
}

int gkf_space_allow(uint64_t address, uint64_t size, uint64_t whose,
		    uint64_t readers, uint64_t writers)
{
	uint64_t end = address + size;
	struct gkf_mapping *m;
	int r;

	pthread_mutex_lock(&reserved.lock);
	r = check_mappings(address, size);
	for (uint64_t at = address; !r && at < end; at += m->size) {
		m = mapping_within(at, end);
		if (!leave_stretch(m)) {
			r = GK_ERR_NOMEM;
			break;
		}
		m->readers = (m->readers & ~whose) | readers;
		m->writers = (m->writers & ~whose) | writers;
		if (!enter_stretch(m))
			r = GK_ERR_NOMEM;
	}
	pthread_mutex_unlock(&reserved.lock);
	return r;
}

bool gkf_space_mapping(uint64_t address, struct gkf_mapping *ret_mapping)
{
	const struct arena *a;
	const struct gkf_mapping *m = NULL;

	pthread_mutex_lock(&reserved.lock);
	a = reserved.arena;
	if (a && address - a->base < a->size)
		m = mapping_of((uint32_t)((address - a->base) / BLOCK_SIZE));
	if (m)
		*ret_mapping = *m;
	pthread_mutex_unlock(&reserved.lock);
	return m;
}

/* ---- memory of other processes ---- */

static uint64_t page_below(uint64_t n)
{
	return n & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
}

/* Maps the pages that contain a piece, including all of the first page. */
static bool show_pages(uint64_t base, int fd, unsigned char *all,
		       const struct gkf_share_about *about)
{
	uint64_t from = page_below(about->offset);
	uint64_t size = about->offset + about->size - from;
	void *at = view_at(page_below(base));

	if (all)
		return show_again(at, size, all + from);
	if (mmap(at, size, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, (off_t)from) != at)
		return false;
	hide_from_others(at, size);
	return true;
}

/* The piece gets the same offset in its block as in the other process. */
static int enter_piece(int fd, unsigned char *all,
		       const struct gkf_share_about *about,
		       struct piece_words *words)
{
	struct arena *a = reserved.arena;
	uint32_t block, piece;

	words->units = blocks_of(about->offset % BLOCK_SIZE + about->size);
	if (!take_addresses(words->units, 0, &block))
		return GK_ERR_NOMEM;
	words->base = a->base + block * BLOCK_SIZE + about->offset % BLOCK_SIZE;
	piece = show_pages(words->base, fd, all, about)
		    ? piece_new(&a->pieces, words)
		    : 0;
	if (!piece) {
		give_addresses(block, words->units);
		return GK_ERR_NOMEM;
	}
	set_blocks(a->base + block * BLOCK_SIZE, words->units * BLOCK_SIZE,
		   piece);
	return 0;
}

int gkf_share_map(int fd, void *all, const struct gkf_share_about *about,
		  const struct gkf_memory_ask *ask, uint64_t *ret_address)
{
	struct piece_words words = {.size = about->size,
				    .owner = (uintptr_t)ask->owner,
				    .pool = (uintptr_t)ask->pool,
				    .id = space_id(),
				    .kind = GKF_MEMORY_DEVICE,
				    .device = about->device,
				    .flags = ask->flags};
	int r = GK_ERR_NOMEM;

	pthread_mutex_lock(&reserved.lock);
	if (make_reserved()) {
		if (!words.pool)
			words.pool = (uintptr_t)&reserved.arena->pool;
		r = enter_piece(fd, all, about, &words);
	}
	pthread_mutex_unlock(&reserved.lock);
	if (!r)
		*ret_address = words.base;
	return r;
}

void gkf_share_unmap(uint64_t address)
{
	struct arena *a = reserved.arena;
	uint64_t base = address & ~(BLOCK_SIZE - 1), from;
	uint32_t block = (uint32_t)((base - a->base) / BLOCK_SIZE), piece;
	struct piece_words words;

	pthread_mutex_lock(&reserved.lock);
	piece = piece_of_block(block);
	if (piece_read(&a->pieces, piece, &words) && words.base == address) {
		from = page_below(address);
		set_blocks(base, words.units * BLOCK_SIZE, 0);
		piece_free(&a->pieces, piece);
		/*
		 * If the pages could not be replaced, the addresses are never
		 * used again.
		 */
		if (replace_pages(view_at(from), address + words.size - from))
			give_addresses(block, words.units);
	}
	pthread_mutex_unlock(&reserved.lock);
}

/* Called after fork() in the child. */
void space_map_forget(void)
{
	pthread_mutex_init(&reserved.lock, NULL);
	reserved.arena = NULL;
}
