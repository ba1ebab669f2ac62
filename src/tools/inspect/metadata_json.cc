#include "tools/inspect/metadata_json.h"

#include <charconv>
#include <cmath>

namespace tern {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Writes 1e-05f as 1e-05, not as its double value 9.999999747378752e-06.
OrderedJson float_json(float value) {
  if (!std::isfinite(value)) return nullptr;
  char text[64];
  const auto written = std::to_chars(text, text + sizeof text, value);
  double nearest = value;
  std::from_chars(text, written.ptr, nearest);
  return nearest;
}

OrderedJson double_json(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr); }

OrderedJson number_json(GgufKind kind, const std::byte* at) {
  switch (kind) {
    case GgufKind::kU8:
      return load<uint8_t>(at);
    case GgufKind::kI8:
      return load<int8_t>(at);
    case GgufKind::kU16:
      return load<uint16_t>(at);
    case GgufKind::kI16:
      return load<int16_t>(at);
    case GgufKind::kU32:
      return load<uint32_t>(at);
    case GgufKind::kI32:
      return load<int32_t>(at);
    case GgufKind::kU64:
      return load<uint64_t>(at);
    case GgufKind::kI64:
      return load<int64_t>(at);
    case GgufKind::kF32:
      return float_json(load<float>(at));
    case GgufKind::kF64:
      return double_json(load<double>(at));
    case GgufKind::kBool:
      return load<uint8_t>(at) != 0;
    case GgufKind::kString:
    case GgufKind::kArray:
      break;
  }
  return nullptr;
}

// Takes the next element off the front of `rest`. GgufFile has checked that it exists.
OrderedJson take_json(GgufKind kind, Bytes& rest) {
  if (kind == GgufKind::kString) {
    const auto size = static_cast<size_t>(load<uint64_t>(rest.data()));
    OrderedJson text = std::string(as_text(rest.subspan(sizeof(uint64_t), size)));
    rest = rest.subspan(sizeof(uint64_t) + size);
    return text;
  }
  OrderedJson number = number_json(kind, rest.data());
  rest = rest.subspan(gguf_kind_bytes(kind));
  return number;
}

OrderedJson array_json(const GgufValue& value, bool whole) {
  if (value.kind == GgufKind::kArray) return {{"count", value.count}};  // nested arrays: no known model has them
  OrderedJson items = OrderedJson::array();
  const uint64_t n = whole || value.count <= kArrayItemsShown ? value.count : kArrayItemsShown;
  Bytes rest = value.data;
  for (uint64_t i = 0; i < n; ++i) items.push_back(take_json(value.kind, rest));
  if (n == value.count) return items;
  return {{"count", value.count}, {"first", std::move(items)}};
}

}  // namespace

OrderedJson metadata_json(const GgufValue& value, bool whole_arrays) {
  if (value.is_array) return array_json(value, whole_arrays);
  if (value.kind == GgufKind::kString) return std::string(as_text(value.data));
  return number_json(value.kind, value.data.data());
}

OrderedJson shortened_array(OrderedJson array, bool whole) {
  if (whole || array.size() <= kArrayItemsShown) return array;
  const size_t count = array.size();
  array.erase(array.begin() + static_cast<ptrdiff_t>(kArrayItemsShown), array.end());
  return {{"count", count}, {"first", std::move(array)}};
}

}  // namespace tern
