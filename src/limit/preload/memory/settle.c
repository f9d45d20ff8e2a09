/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settle.c - records in the ledger and the gate what calls took or gave back.
 */
#include "base/assert.h"
#include "limit/preload/memory/memory_state.h"
#include "limit/preload/limited.h"

static void mirror_bytes(int device, enum gkl_kind kind, uint64_t bytes)
{
	if (bytes && limited()->region)
		limited_mirror(device, kind, (int64_t)bytes);
}

void settle_refund(int device, enum gkl_kind kind, uint64_t bytes)
{
	GK_ASSERT((unsigned)device < GKL_DEVICES);
	if (!bytes)
		return;
	gkl_ledger_refund(limited()->ledger, (unsigned)device, kind, bytes);
	mirror_bytes(device, kind, -bytes);
}

void settle_charge(int device, enum gkl_kind kind, uint64_t bytes)
{
	GK_ASSERT((unsigned)device < GKL_DEVICES);
	if (!bytes)
		return;
	gkl_ledger_charge(limited()->ledger, (unsigned)device, kind, bytes);
	mirror_bytes(device, kind, bytes);
}

void settle_call(struct memory_call *call, uint64_t taken)
{
	struct gkl_ledger *ledger = limited()->ledger;
	unsigned device = (unsigned)call->device;
	uint64_t part = taken < call->pending ? taken : call->pending;

	GK_ASSERT((unsigned)call->device < GKL_DEVICES);
	if (part) {
		gkl_ledger_move(ledger, device, call->pending_kind, call->kind,
				part);
		mirror_bytes(call->device, call->kind, part);
	}
	if (call->pending > part)
		gkl_ledger_refund(ledger, device, call->pending_kind,
				  call->pending - part);
	settle_charge(call->device, call->kind, taken - part);
	call->pending = 0;
}

void memory_end_call(const struct memory_call *call)
{
	if (memory_passes_gate(call))
		memory_leave();
}

static bool is_counted(enum gkl_kind kind)
{
	return kind != GKL_MANAGED;
}

void memory_end(struct memory_call *call, uint64_t taken)
{
	if (call->device < 0)
		return;
	if (taken && is_counted(call->kind))
		gate_count(&memory_state()->gate, call->device, (int64_t)taken);
	settle_call(call, taken);
	memory_end_call(call);
}

void memory_give(int device, enum gkl_kind kind, uint64_t bytes)
{
	if (!bytes)
		return;
	if (is_counted(kind))
		gate_count(&memory_state()->gate, device, -(int64_t)bytes);
	settle_refund(device, kind, bytes);
}

void memory_doubt(int device, enum gkl_kind kind, uint64_t bytes)
{
	struct memory_device *d = &memory_state()->device[device];

	if (!bytes)
		return;
	if (!atomic_load(&d->seen)) {
		memory_give(device, kind, bytes);
		return;
	}
	atomic_fetch_add(&d->rest[kind], bytes);
	atomic_fetch_add(&d->doubted, bytes);
	gate_count(&memory_state()->gate, device, -(int64_t)bytes);
	memory_expect(device, 1);
}
