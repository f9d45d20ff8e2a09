/* SPDX-License-Identifier: Apache-2.0 */
// Contents of device memory before a capture. Captured operators run at once,
// so that those after them find values and shapes; the journal undoes that when
// the capture ends.
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
	// The journal of a stream's capture. When the capture ends, it restores
	// the memory and is deleted.
	static Journal &of(const CapturedStream &stream);

	// Saves bytes that are about to be written, the first time only.
	void keep(void *view, std::size_t size);

	// The journal of the operator that the calling thread records, or
	// nullptr. New memory is saved, too: the graph may read it first, as an
	// input that the program has freed.
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
