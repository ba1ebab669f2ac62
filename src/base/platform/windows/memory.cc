#include "base/platform/memory.h"

#include <windows.h>

#include <algorithm>
#include <vector>

namespace tern::platform {

SystemResult<Bytes> map_file(const DiskFile& file, size_t size) {
  const auto last_error = [] {
    return std::unexpected(std::error_code(static_cast<int>(::GetLastError()), std::system_category()));
  };
  const HANDLE mapping =
      ::CreateFileMappingW(reinterpret_cast<HANDLE>(file.handle()), nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (mapping == nullptr) return last_error();
  const void* at = ::MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size);
  const auto result = at ? SystemResult<Bytes>(Bytes(static_cast<const std::byte*>(at), size)) : last_error();
  ::CloseHandle(mapping);  // the view keeps what it needs
  return result;
}

void unmap_file(Bytes mapped) { ::UnmapViewOfFile(mapped.data()); }

void advise_large_pages(Bytes /*mapped*/) {}  // for memory alone, and with a right that users seldom have

void load_mapped(Bytes part) {
  WIN32_MEMORY_RANGE_ENTRY range = {.VirtualAddress = const_cast<std::byte*>(part.data()),
                                    .NumberOfBytes = part.size()};
  ::PrefetchVirtualMemory(::GetCurrentProcess(), 1, &range, 0);
}

uint64_t page_size() {
  SYSTEM_INFO info = {};
  ::GetSystemInfo(&info);
  return info.dwPageSize;
}

uint64_t largest_cache_bytes() {
  DWORD bytes = 0;
  ::GetLogicalProcessorInformation(nullptr, &bytes);
  std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> facts(bytes / sizeof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION));
  if (!::GetLogicalProcessorInformation(facts.data(), &bytes)) return 0;
  DWORD largest = 0;
  for (const auto& fact : facts) {
    if (fact.Relationship == RelationCache) largest = std::max(largest, fact.Cache.Size);
  }
  return largest;
}

std::byte* map_pages(uint64_t bytes, uint64_t /*large_page*/) {
  return static_cast<std::byte*>(::VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
}

void unmap_pages(std::byte* pages, uint64_t /*bytes*/) { ::VirtualFree(pages, 0, MEM_RELEASE); }

void advise_large_pages(std::byte* /*pages*/, uint64_t /*bytes*/) {}

}  // namespace tern::platform
