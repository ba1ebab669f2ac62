// A model whose own layer for draft tokens is often right.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "base/text/format_text.h"
#include "file/gguf/gguf.h"
#include "support/checkout.h"

namespace tern::conform {

// tests/golden/families/qwen35_predicts.gguf with layers that matter less, and a block that adds its two inputs and has
// no effect otherwise. So both mostly say the same, and about half of the drafts are right.
inline std::string agreeing_model() {
  std::ifstream file(source_path("tests/golden/families/qwen35_predicts.gguf"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto view = std::as_writable_bytes(std::span(bytes));
  const GgufFile gguf = GgufFile::parse(view, "qwen35_predicts.gguf").value();
  const std::string block = "blk.2.";
  const auto* norm = gguf.find_tensor("output_norm.weight");
  for (const GgufTensor& tensor : gguf.tensors()) {
    const auto data = view.subspan(tensor.offset, tensor.data.size());
    const auto ends_with = [&](std::string_view end) { return tensor.name.ends_with(end); };
    const bool adds = ends_with("attn_output.weight") || ends_with("ssm_out.weight") || ends_with("ffn_down.weight");
    if (tensor.name == block + "nextn.eh_proj.weight") {
      std::ranges::fill(data, std::byte{0});
      const auto width = static_cast<size_t>(tensor.shape[0]);
      for (size_t i = 0; i < 2 * width; ++i) {
        const uint16_t half = i < width ? 0x3400 : 0x3c00;  // 0.25 and 1 in F16
        std::memcpy(&data[(i % width * 2 * width + i) * 2], &half, 2);
      }
    } else if (tensor.name == block + "nextn.enorm.weight" || tensor.name == block + "nextn.hnorm.weight") {
      std::ranges::fill(std::span(reinterpret_cast<float*>(data.data()), data.size() / 4), 1.0f);
    } else if (tensor.name == block + "nextn.shared_head_norm.weight") {
      std::ranges::copy(view.subspan(norm->offset, data.size()), data.begin());
    } else if (adds && tensor.name.starts_with(block)) {
      std::ranges::fill(data, std::byte{0});
    } else if (adds) {
      for (size_t i = 1; i < data.size(); i += 2) {  // the high bytes of F16 values: sign, exponent, two bits
        const auto exponent = static_cast<int>(data[i] & std::byte{0x7c}) >> 2;
        const int less = std::min(exponent, 2);
        data[i] = static_cast<std::byte>(static_cast<int>(data[i]) - 4 * less);
      }
    }
  }
  const std::string path = testing::TempDir() + format_text("agreeing_{}.gguf", ::getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace tern::conform
