// For tests: a file's bytes.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace tern {

// Returns "" if there is no file. Reads in large chunks: byte by byte takes seconds under sanitizers.
inline std::string file_bytes(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(bytes).str();
}

}  // namespace tern
