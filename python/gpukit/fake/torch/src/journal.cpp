/* SPDX-License-Identifier: Apache-2.0 */
// Owns the journals of captures, by number of the capture.
#include "journal.h"

#include <c10/util/Exception.h>

#include <cstring>

namespace gpukit
{

namespace
{

using Journals = std::map<std::uint64_t, std::unique_ptr<Journal>>;

std::mutex all_lock;

// Never destroyed: a capture may end after all destructors have run.
Journals &all()
{
	static Journals *journals = new Journals;

	return *journals;
}

} // namespace

Journal &Journal::of(const CapturedStream &stream)
{
	std::lock_guard<std::mutex> guard(all_lock);
	std::unique_ptr<Journal> &found = all()[stream.capture];

	if (found)
		return *found;
	if (driver().capture_watch(stream.handle, ended,
				   reinterpret_cast<void *>(stream.capture))) {
		all().erase(stream.capture);
		TORCH_CHECK(false, "CUDA error: operation failed due to a "
				   "previous error during capture");
	}
	found = std::make_unique<Journal>();
	return *found;
}

// Restores the latest entries first, so that bytes that were written several
// times get their first contents back.
void Journal::ended(void *id)
{
	std::lock_guard<std::mutex> guard(all_lock);
	auto at = all().find(reinterpret_cast<std::uint64_t>(id));
	std::vector<Kept> &kept = at->second->kept_;

	for (auto one = kept.rbegin(); one != kept.rend(); ++one)
		std::memcpy(one->view, one->before.data(), one->before.size());
	all().erase(at);
}

bool Journal::knows(const char *view, std::size_t size) const
{
	auto after = known_.upper_bound(view);

	if (after == known_.begin())
		return false;
	auto at = std::prev(after);
	return view + size <= at->first + at->second;
}

Journal *&Journal::current()
{
	static thread_local Journal *journal;

	return journal;
}

void Journal::keep(void *view, std::size_t size)
{
	std::lock_guard<std::mutex> guard(lock_);
	char *bytes = static_cast<char *>(view);

	if (!size || knows(bytes, size))
		return;
	kept_.push_back({bytes, {bytes, bytes + size}});
	std::size_t &known = known_[bytes];
	known = std::max(known, size);
}

} // namespace gpukit
