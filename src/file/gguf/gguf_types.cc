// The numbers of GGUF: tensor types and kinds of metadata values.
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "file/gguf/gguf.h"
#include "quant/format.h"

namespace tern {
namespace {

// The types of all formats.
const std::vector<GgmlTypeInfo>& all_types() {
  static const std::vector<GgmlTypeInfo> kTypes = [] {
    std::vector<GgmlTypeInfo> types;
    for (const FormatInfo& format : formats()) {
      types.push_back({.type = static_cast<GgmlType>(format.gguf_type),
                       .name = format.name,
                       .block = static_cast<uint32_t>(format.block),
                       .block_bytes = static_cast<uint32_t>(format.block_bytes),
                       .tail_bytes = static_cast<uint32_t>(format.tail_bytes),
                       .is_flat = format.fills_block});
    }
    return types;
  }();
  return kTypes;
}

struct UnreadableType {
  uint32_t number;
  std::string_view name;
};

// Some numbers have different meanings in llama.cpp and in a fork; both names are then given.
constexpr UnreadableType kUnreadable[] = {
    {4, "Q4_2 (removed from llama.cpp in 2023)"},
    {5, "Q4_3 (removed from llama.cpp in 2023)"},
    {9, "Q8_1"},
    {15, "Q8_K"},
    {16, "IQ2_XXS"},
    {17, "IQ2_XS"},
    {18, "IQ3_XXS"},
    {19, "IQ1_S"},
    {21, "IQ3_S"},
    {22, "IQ2_S"},
    {24, "I8"},
    {25, "I16"},
    {26, "I32"},
    {27, "I64"},
    {28, "F64"},
    {29, "IQ1_M"},
    {31, "Q4_0_4_4 (removed from llama.cpp)"},
    {32, "Q4_0_4_8 (removed from llama.cpp)"},
    {33, "Q4_0_8_8 (removed from llama.cpp)"},
    {37, "I8_S of bitnet.cpp, or IQ4_NL_4_8 (removed from llama.cpp)"},
    {38, "TL1 of bitnet.cpp, whose order of bytes is not in the file, or IQ4_NL_8_8 (removed from llama.cpp)"},
    {40, "NVFP4"},
    {133, "Q6_0 of ik_llama.cpp"},
    {134, "IQ1_BN of ik_llama.cpp"},
    {135, "IQ2_BN of ik_llama.cpp"},
    {137, "IQ2_K of ik_llama.cpp"},
    {138, "IQ3_K of ik_llama.cpp"},
    {139, "IQ4_K of ik_llama.cpp"},
    {140, "IQ5_K of ik_llama.cpp"},
    {141, "IQ6_K of ik_llama.cpp"},
    {144, "IQ4_KS of ik_llama.cpp"},
};

struct KindInfo {
  std::string_view name;
  uint32_t bytes;
};

constexpr std::array<KindInfo, 13> kKinds = {{{"u8", 1},
                                              {"i8", 1},
                                              {"u16", 2},
                                              {"i16", 2},
                                              {"u32", 4},
                                              {"i32", 4},
                                              {"f32", 4},
                                              {"bool", 1},
                                              {"string", 0},
                                              {"array", 0},
                                              {"u64", 8},
                                              {"i64", 8},
                                              {"f64", 8}}};

}  // namespace

std::span<const GgmlTypeInfo> ggml_types() { return all_types(); }

const GgmlTypeInfo* ggml_type_info(GgmlType type) {
  for (const GgmlTypeInfo& info : all_types()) {
    if (info.type == type) return &info;
  }
  return nullptr;
}

std::string_view unreadable_type_name(uint32_t number) {
  for (const UnreadableType& type : kUnreadable) {
    if (type.number == number) return type.name;
  }
  return {};
}

std::optional<uint64_t> ggml_tensor_bytes(GgmlType type, std::span<const int64_t> shape) {
  const GgmlTypeInfo* info = ggml_type_info(type);
  if (info == nullptr || shape.empty()) return std::nullopt;
  // Counts in blocks, because the number of values may overflow when the bytes do not. Each dimension, the last one
  // first, is divided by its common factor with the rest of the block.
  int64_t bytes = info->block_bytes, block = info->block;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] < 1) return std::nullopt;
    const int64_t divisor = std::gcd(block, shape[i]);
    block /= divisor;
    if (!info->is_flat && block != 1) return std::nullopt;
    if (__builtin_mul_overflow(bytes, shape[i] / divisor, &bytes)) return std::nullopt;
  }
  if (block != 1) return std::nullopt;
  if (__builtin_add_overflow(bytes, static_cast<int64_t>(info->tail_bytes), &bytes)) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

std::string_view gguf_kind_name(GgufKind kind) {
  const auto number = static_cast<uint32_t>(kind);
  return number < kKinds.size() ? kKinds[number].name : "unknown";
}

uint32_t gguf_kind_bytes(GgufKind kind) {
  const auto number = static_cast<uint32_t>(kind);
  return number < kKinds.size() ? kKinds[number].bytes : 0;
}

}  // namespace tern
