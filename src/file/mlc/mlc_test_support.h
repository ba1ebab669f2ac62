// Writes MLC directories, for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/format_text.h"
#include "file/md5.h"

namespace tern {

class MlcBytes {
 public:
  // Begins a new shard; tensors go into the last one.
  MlcBytes& shard() {
    shards_.emplace_back();
    return *this;
  }
  MlcBytes& tensor(std::string_view name, std::string_view dtype, const std::vector<int64_t>& shape,
                   std::string_view data) {
    if (shards_.empty()) shard();
    Shard& last = shards_.back();
    std::string dims;
    for (const int64_t dim : shape) dims += (dims.empty() ? "" : ",") + std::to_string(dim);
    last.records +=
        format_text(R"({}{{"name":"{}","shape":[{}],"dtype":"{}","format":"f32-to-bf16","nbytes":{},"byteOffset":{}}})",
                    last.records.empty() ? "" : ",", name, dims, dtype, data.size(), last.data.size());
    last.data += data;
    return *this;
  }

  std::string index() const {
    std::string text;
    for (size_t i = 0; i < shards_.size(); ++i) {
      text += format_text(
          R"({}{{"dataPath":"params_shard_{}.bin","format":"raw-shard","nbytes":{},"md5sum":"{}","records":[{}]}})",
          i == 0 ? "" : ",", i, shards_[i].data.size(), md5(as_bytes(shards_[i].data)), shards_[i].records);
    }
    return format_text(R"({{"metadata":{{"ParamSize":1,"ParamBytes":1.0,"BitsPerParam":4.5}},"records":[{}]}})", text);
  }
  void write(const std::filesystem::path& folder, std::string_view index_name = "ndarray-cache.json") const {
    std::ofstream(folder / index_name, std::ios::binary) << index();
    for (size_t i = 0; i < shards_.size(); ++i) {
      std::ofstream(folder / format_text("params_shard_{}.bin", i), std::ios::binary) << shards_[i].data;
    }
  }

 private:
  struct Shard {
    std::string records;
    std::string data;
  };
  std::vector<Shard> shards_;
};

}  // namespace tern
