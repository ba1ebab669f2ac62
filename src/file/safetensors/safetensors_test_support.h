// Builds safetensors files byte by byte, for tests.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/format_text.h"
#include "file/safetensors/safetensors.h"

namespace tern {

class SafetensorsBytes {
 public:
  SafetensorsBytes& tensor(std::string_view name, std::string_view dtype, const std::vector<int64_t>& shape,
                           std::string_view data) {
    std::string dims;
    for (const int64_t dim : shape) dims += (dims.empty() ? "" : ",") + std::to_string(dim);
    return entry(format_text(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name, dtype, dims,
                             data_.size(), data_.size() + data.size()))
        .data(data);
  }
  // Adds a header member unchanged, or bytes of data without one.
  SafetensorsBytes& entry(std::string_view text) {
    header_ += (header_.empty() ? "" : ",") + std::string(text);
    return *this;
  }
  SafetensorsBytes& data(std::string_view bytes) {
    data_ += bytes;
    return *this;
  }

  std::string bytes() const {
    std::string header = "{" + header_ + "}";
    header.resize(round_up(header.size(), 8), ' ');
    return with_header(header, data_);
  }
  void write(const std::filesystem::path& path) const { std::ofstream(path, std::ios::binary) << bytes(); }

  static std::string with_header(std::string_view header, std::string_view data = {}) {
    const uint64_t length = header.size();
    std::string out(reinterpret_cast<const char*>(&length), sizeof(length));
    out += header;
    return out += data;
  }

 private:
  std::string header_;
  std::string data_;
};

// The bytes of values, for a tensor's data.
template <class T>
std::string raw_values(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// Creates an empty folder below the test's temporary one.
inline std::filesystem::path fresh_folder(std::string_view name) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / format_text("tern_{}_{}", name, ::getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace tern
