#include "base/platform/library.h"

#include <windows.h>

#include "base/platform/windows/wide.h"

namespace tern::platform {

// Not from the current folder, where a stranger's file may lie.
Library::Library(const std::string& name)
    : handle_(::LoadLibraryExW(wide(name).c_str(), nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32)) {}

Library::~Library() {
  if (handle_) ::FreeLibrary(static_cast<HMODULE>(handle_));
}

void* Library::symbol(const char* name) const {
  return handle_ ? reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(handle_), name)) : nullptr;
}

}  // namespace tern::platform
