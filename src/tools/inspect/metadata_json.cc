#include "tools/inspect/metadata_json.h"

#include <charconv>
#include <cmath>
#include <concepts>

#include "file/gguf/gguf_elements.h"

namespace tern {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Writes 1e-05f as 1e-05, not as its double value 9.999999747378752e-06.
OrderedJson number_json(float value) {
  if (!std::isfinite(value)) return nullptr;
  char text[64];
  const auto written = std::to_chars(text, text + sizeof text, value);
  double nearest = value;
  std::from_chars(text, written.ptr, nearest);
  return nearest;
}

OrderedJson number_json(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr); }

template <std::integral Integer>
OrderedJson number_json(Integer value) {
  return value;
}

// The number or bool of `kind` at `at`.
OrderedJson scalar_json(GgufKind kind, const std::byte* at) {
  if (kind == GgufKind::kBool) return load<uint8_t>(at) != 0;
  return with_type_of(kind, [at]<class T>(T) { return number_json(load<T>(at)); });
}

// Takes the next element off the front of `rest`. GgufFile has checked that it exists.
OrderedJson take_json(GgufKind kind, Bytes& rest) {
  if (kind == GgufKind::kString) return std::string(take_gguf_string(rest));
  OrderedJson number = scalar_json(kind, rest.data());
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
  return scalar_json(value.kind, value.data.data());
}

OrderedJson shortened_array(OrderedJson array, bool whole) {
  if (whole || array.size() <= kArrayItemsShown) return array;
  const size_t count = array.size();
  array.erase(array.begin() + static_cast<ptrdiff_t>(kArrayItemsShown), array.end());
  return {{"count", count}, {"first", std::move(array)}};
}

}  // namespace tern
