// For tests: a file's bytes.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace tern {

// Empty where there is no file. Many bytes at a time: byte by byte takes seconds under sanitizers.
inline std::string file_bytes(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(bytes).str();
}

}  // namespace tern
