// Shared libraries that are opened while the program runs.
#pragma once

#include <string>
#include <utility>

namespace tern::platform {

class Library {
 public:
  // Not open if the system does not find it.
  explicit Library(const std::string& name);
  Library(Library&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Library& operator=(Library&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Library();

  bool is_open() const { return handle_ != nullptr; }
  void keep() { handle_ = nullptr; }     // open until the program ends
  void* symbol(const char* name) const;  // null if there is none

 private:
  void* handle_ = nullptr;
};

}  // namespace tern::platform
