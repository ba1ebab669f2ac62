// Memory by the system's own calls: files that are mapped, and pages.
#pragma once

#include <cstdint>

#include "base/platform/disk_file.h"

namespace tern::platform {

// Maps the first `size` bytes for reading.
SystemResult<Bytes> map_file(const DiskFile& file, size_t size);
void unmap_file(Bytes mapped);
// Asks for large pages for all of a mapped file; some file systems can then use them.
void advise_large_pages(Bytes mapped);
// Loads a part of a mapped file into memory; where the system cannot wait for it, it begins to.
void load_mapped(Bytes part);

uint64_t page_size();
uint64_t largest_cache_bytes();  // of a processor; 0 if unknown

// Zeroed pages, which cost memory from when they are first touched. Where the system has pages of `large_page` bytes
// and `bytes` are at least as many, they begin at a multiple of it. Null if the system refuses.
std::byte* map_pages(uint64_t bytes, uint64_t large_page);
void unmap_pages(std::byte* pages, uint64_t bytes);
void advise_large_pages(std::byte* pages, uint64_t bytes);

}  // namespace tern::platform
