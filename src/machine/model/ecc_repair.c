/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecc_repair.c - owns the lists of remapped rows, retired pages and failed SRAM
 * addresses; see ecc.h.
 *
 * A row is a word: its number and the bits defined here. Each bank has eight
 * spare rows, as in an A100 (NVIDIA, "GPU memory error management").
 */
#include "machine/model/ecc_repair.h"
#include "base/clock.h"
#include "base/mix.h"
#include "machine/file/board.h"
#include "machine/file/ecc_state.h"
#include "machine/file/file.h"
#include "machine/file/profile.h"
#include "machine/model/ecc.h"
#include "machine/store/clock.h"
#include "machine/store/view.h"

#define ROW_SHIFT  12 /* log2 of the bytes of a row */
#define ROW_NUMBER ((1ULL << 40) - 1)
#define ROW_CAUSE  (1ULL << 40) /* uncorrected */
#define ROW_ACTIVE (1ULL << 41)
#define ROW_USED   (1ULL << 42)
#define SPARES     8 /* rows of a bank */
#define BANKS_MAX  8192

#define PAGE_MASK    0xffffULL /* 64 KiB */
#define PAGE_USED    1ULL
#define PAGE_CAUSE   2ULL /* uncorrected */
#define PAGE_RETIRED 4ULL

#define UNIQUE_USED     (1ULL << 63)
#define UNIQUE_PARITY   (1ULL << 62)
#define UNIQUE_PLACE(w) ((unsigned)((w) >> 56) & 0x3f)
#define UNIQUE_AT(w)    ((uint32_t)((w) >> 32) & 0xffffff)

static uint64_t load_entry(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static unsigned banks_of(const struct gkf_machine *m, unsigned device)
{
	int64_t banks = m->boards[device].profile.remap_banks;

	return banks < 0 ? 0 : banks > BANKS_MAX ? BANKS_MAX : (unsigned)banks;
}

static unsigned bank_of(uint64_t row, unsigned banks)
{
	return (unsigned)(gkf_mix(row & ROW_NUMBER) % banks);
}

bool gkf_ecc_retires(const struct gkf_machine *m, unsigned device)
{
	const struct gkf_profile *p = &m->boards[device].profile;

	return p->ecc >= 0 && p->compute_major < 8;
}

/*
 * Returns the first free index in ecc->rows, which are used in order; -1: the
 * bank has no spare row left, -2: the row is already remapped.
 */
static int row_place(const struct gkf_ecc *ecc, uint64_t row, unsigned banks)
{
	unsigned used = 0;

	for (int i = 0; i < GKF_ECC_ROWS_MAX; i++) {
		uint64_t word = load_entry(&ecc->rows[i]);

		if (!(word & ROW_USED))
			return used < SPARES ? i : -1;
		if ((word & ROW_NUMBER) == row)
			return -2;
		used += bank_of(word, banks) == bank_of(row, banks);
	}
	return -1;
}

static void remap_row(struct gkf_ecc *ecc, uint64_t address, unsigned banks,
		      enum gkf_ecc_cause cause)
{
	uint64_t row = address >> ROW_SHIFT & ROW_NUMBER;
	int location = row_place(ecc, row, banks);

	if (location >= 0) {
		atomic_store(
		    &ecc->rows[location],
		    row | ROW_USED |
			(cause == GKF_ECC_BY_UNCORRECTED ? ROW_CAUSE : 0));
	} else if (location == -1) {
		atomic_fetch_add(&ecc->failures, 1);
		atomic_store(&ecc->channel, 1);
	}
}

static void retire_page(struct gkf_machine *m, struct gkf_ecc *ecc,
			uint64_t address, enum gkf_ecc_cause cause)
{
	uint64_t page = address & ~PAGE_MASK;

	for (unsigned i = 0; i < GKF_ECC_PAGES_MAX; i++) {
		uint64_t word = load_entry(&ecc->pages[i].address);

		if (word & PAGE_USED) {
			if ((word & ~PAGE_MASK) == page)
				return;
			continue;
		}
		atomic_store(&ecc->pages[i].seconds,
			     gkf_wall_us(m, gkf_machine_ns(m)) / 1000000);
		atomic_store(
		    &ecc->pages[i].address,
		    page | PAGE_USED |
			(cause == GKF_ECC_BY_UNCORRECTED ? PAGE_CAUSE : 0));
		return;
	}
	atomic_fetch_add(&ecc->failures, 1);
}

/* Whether the row of an address was hit before; records the row. */
static bool remember_row(struct gkf_ecc *ecc, uint64_t address)
{
	uint64_t row = (address >> ROW_SHIFT & ROW_NUMBER) | ROW_USED;

	for (unsigned i = 0; i < GKF_ECC_SEEN_MAX; i++)
		if (load_entry(&ecc->seen[i]) == row)
			return true;
	atomic_store(&ecc->seen[row % GKF_ECC_SEEN_MAX], row);
	return false;
}

void gkf_ecc_repair(struct gkf_machine *m, unsigned device,
		    enum gkf_ecc_kind kind, uint64_t hits, uint64_t address)
{
	struct gkf_ecc *ecc = &m->file->device[device].ecc;
	unsigned banks = banks_of(m, device);
	enum gkf_ecc_cause cause = kind == GKF_ECC_CORRECTED
				       ? GKF_ECC_BY_CORRECTED
				       : GKF_ECC_BY_UNCORRECTED;

	/*
	 * A memory row is repaired at its second corrected error, not at its
	 * first.
	 */
	if (cause == GKF_ECC_BY_CORRECTED && hits < 2 &&
	    !remember_row(ecc, address))
		return;
	if (banks)
		remap_row(ecc, address, banks, cause);
	else if (gkf_ecc_retires(m, device))
		retire_page(m, ecc, address, cause);
}

void gkf_ecc_take_effect(struct gkf_machine *m, unsigned device)
{
	struct gkf_ecc *ecc = &m->file->device[device].ecc;

	for (unsigned i = 0; i < GKF_ECC_ROWS_MAX; i++) {
		uint64_t word = load_entry(&ecc->rows[i]);

		if (!(word & ROW_USED))
			break;
		atomic_store(&ecc->rows[i], word | ROW_ACTIVE);
	}
	for (unsigned i = 0; i < GKF_ECC_PAGES_MAX; i++) {
		uint64_t word = load_entry(&ecc->pages[i].address);

		if (word & PAGE_USED)
			atomic_store(&ecc->pages[i].address,
				     word | PAGE_RETIRED);
	}
	atomic_store(&ecc->channel, 0);
}

/*
 * The index in gkf_ecc_rows.banks that counts banks with this number of used
 * spare rows.
 */
static unsigned bank_kind(unsigned used)
{
	static const unsigned char kinds[SPARES + 1] = {0, 1, 1, 2, 2,
							2, 2, 3, 4};

	return kinds[used > SPARES ? SPARES : used];
}

/*
 * Called for each used row in turn; `bank` has the banks of the rows so far.
 * The bank of the last one has one spare row less than counted before: counts
 * it again.
 */
static void count_bank(struct gkf_ecc_rows *rows, const uint16_t *bank,
		       unsigned count)
{
	unsigned used = 0;

	for (unsigned i = 0; i < count; i++)
		used += bank[i] == bank[count - 1];
	rows->banks[bank_kind(used - 1)]--;
	rows->banks[bank_kind(used)]++;
}

/* Visits only used rows, of which most boards have none. */
bool gkf_ecc_rows(const struct gkf_machine *m, unsigned device,
		  struct gkf_ecc_rows *ret_rows)
{
	const struct gkf_ecc *ecc = &m->file->device[device].ecc;
	unsigned banks = banks_of(m, device);
	uint16_t bank[GKF_ECC_ROWS_MAX];
	struct gkf_ecc_rows rows = {.failed = load_entry(&ecc->failures) != 0,
				    .banks = {banks}};

	if (!banks)
		return false;
	for (unsigned i = 0; i < GKF_ECC_ROWS_MAX; i++) {
		uint64_t word = load_entry(&ecc->rows[i]);

		if (!(word & ROW_USED))
			break;
		bank[i] = (uint16_t)bank_of(word, banks);
		count_bank(&rows, bank, i + 1);
		if (word & ROW_ACTIVE)
			rows.active[(word & ROW_CAUSE) != 0]++;
		else
			rows.pending[(word & ROW_CAUSE) != 0]++;
	}
	*ret_rows = rows;
	return true;
}

unsigned gkf_ecc_pages(const struct gkf_machine *m, unsigned device,
		       enum gkf_ecc_cause cause, struct gkf_ecc_page *out,
		       unsigned cap)
{
	const struct gkf_ecc *ecc = &m->file->device[device].ecc;
	unsigned n = 0;

	for (unsigned i = 0; i < GKF_ECC_PAGES_MAX; i++) {
		uint64_t word = atomic_load(&ecc->pages[i].address);

		if (!(word & PAGE_USED) ||
		    !(word & PAGE_CAUSE) != (cause == GKF_ECC_BY_CORRECTED))
			continue;
		if (n < cap)
			out[n] = (struct gkf_ecc_page){
			    .address = word & ~PAGE_MASK,
			    .seconds = load_entry(&ecc->pages[i].seconds),
			    .pending = !(word & PAGE_RETIRED),
			};
		n++;
	}
	return n;
}

void gkf_ecc_count_unique(struct gkf_machine *m, unsigned device,
			  enum gkf_ecc_location location,
			  enum gkf_ecc_kind kind, uint64_t count,
			  uint64_t address)
{
	struct gkf_ecc *ecc = &m->file->device[device].ecc;
	uint64_t word = UNIQUE_USED |
			(kind == GKF_ECC_PARITY ? UNIQUE_PARITY : 0) |
			(uint64_t)location << 56 | (address & 0xffffff) << 32 |
			(uint32_t)count;

	if (kind == GKF_ECC_CORRECTED)
		return;
	for (unsigned i = 0; i < GKF_ECC_UNIQUE_MAX; i++) {
		if (load_entry(&ecc->unique[i]) & UNIQUE_USED)
			continue;
		atomic_store(&ecc->unique[i], word);
		return;
	}
}

unsigned gkf_ecc_uniques(const struct gkf_machine *m, unsigned device,
			 struct gkf_ecc_unique *out, unsigned cap)
{
	const struct gkf_ecc *ecc = &m->file->device[device].ecc;
	unsigned n = 0;

	for (unsigned i = 0; i < GKF_ECC_UNIQUE_MAX; i++) {
		uint64_t word = load_entry(&ecc->unique[i]);

		if (!(word & UNIQUE_USED) ||
		    UNIQUE_PLACE(word) >= GKF_ECC_LOCATIONS)
			continue;
		if (n < cap)
			out[n] = (struct gkf_ecc_unique){
			    .location =
				(enum gkf_ecc_location)UNIQUE_PLACE(word),
			    .parity = (word & UNIQUE_PARITY) != 0,
			    .address = UNIQUE_AT(word),
			    .count = (uint32_t)word,
			};
		n++;
	}
	return n;
}
