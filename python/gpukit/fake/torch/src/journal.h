/* SPDX-License-Identifier: Apache-2.0 */
// The contents that device memory had before a capture. Captured operators also
// run at once, so that later operators find values and shapes. The journal
// restores the memory when the capture ends.
#pragma once

#include "driver.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace gpukit
{

class Journal
{
      public:
	// Returns the journal of a stream's capture. When the capture ends, the
	// journal restores the memory and is deleted.
	static Journal &of(const CapturedStream &stream);

	// Saves bytes that will be written. Only their first contents are kept.
	void keep(void *view, std::size_t size);

	// The journal for the operator that the calling thread is recording, or
	// nullptr. New memory is saved, too, because the graph may read it
	// before writing to it, as an input that the program has freed.
	static Journal *&current();

      private:
	struct Kept {
		char *view;
		std::vector<char> before;
	};

	static void ended(void *id);
	bool knows(const char *view, std::size_t size) const;

	std::mutex lock_;
	std::vector<Kept> kept_;
	std::map<const char *, std::size_t> known_; // address -> size
};

} // namespace gpukit
