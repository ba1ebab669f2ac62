// Typed look-ups into the metadata of a GGUF file.
#include <algorithm>
#include <limits>

#include "base/text/quoted.h"
#include "file/gguf/gguf.h"
#include "file/gguf/gguf_elements.h"

namespace tern {
namespace {

bool is_integer(GgufKind kind) {
  switch (kind) {
    case GgufKind::kU8:
    case GgufKind::kI8:
    case GgufKind::kU16:
    case GgufKind::kI16:
    case GgufKind::kU32:
    case GgufKind::kI32:
    case GgufKind::kU64:
    case GgufKind::kI64:
    case GgufKind::kBool:
      return true;
    default:
      return false;
  }
}

bool is_number(GgufKind kind) {
  return kind == GgufKind::kF32 || kind == GgufKind::kF64 || (is_integer(kind) && kind != GgufKind::kBool);
}

// Converts all elements to `To`. Precondition: as in with_type_of. The kind is resolved once, outside the loop.
template <class To>
std::vector<To> convert(const GgufValue& value) {
  std::vector<To> out(value.count);
  with_type_of(value.kind, [&]<class From>(From) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<To>(load<From>(value.data.data() + i * sizeof(From)));
  });
  return out;
}

// True for u64 values that do not fit int64_t.
bool is_too_large(const GgufValue& value) {
  if (value.kind != GgufKind::kU64) return false;
  for (size_t i = 0; i < value.count; ++i) {
    if (load<uint64_t>(value.data.data() + i * sizeof(uint64_t)) > std::numeric_limits<int64_t>::max()) return true;
  }
  return false;
}

std::string_view override_type(GgufKind kind) {
  switch (kind) {
    case GgufKind::kI64:
      return "int";
    case GgufKind::kF64:
      return "float";
    case GgufKind::kBool:
      return "bool";
    default:
      return "str";
  }
}

// Advice for an override of the wrong type.
std::string_view type_to_give(std::string_view wanted) {
  if (wanted == "a string") return "; give the type str";
  if (wanted == "an integer") return "; give the type int";
  if (wanted == "a number") return "; give the type float";
  if (wanted == "a bool") return "; give the type bool";
  return ", which no override can give";
}

// Builds messages about a look-up that failed.
struct Lookup {
  const std::string& path;
  Bytes file;
  std::string_view key;
  const GgufValue& value;

  std::unexpected<Error> wrong_kind(std::string_view wanted) const {
    if (value.is_override) {
      return fail(ErrorCode::kInvalidArgument, "{}: the override of {} is of type {}, but {} is needed{}", path,
                  quoted(key), override_type(value.kind), wanted, type_to_give(wanted));
    }
    return fail(ErrorCode::kCorruption,
                "{}: metadata {} at byte {} is {} {}, but {} is needed; convert the model again", path, quoted(key),
                at(), value.is_array ? "an array of" : "a value of kind", gguf_kind_name(value.kind), wanted);
  }
  std::unexpected<Error> too_large() const {
    return fail(ErrorCode::kCorruption, "{}: metadata {} at byte {} exceeds 2^63 - 1; convert the model again", path,
                quoted(key), at());
  }

 private:
  uint64_t at() const { return static_cast<uint64_t>(value.data.data() - file.data()); }
};

}  // namespace

Result<std::optional<std::string_view>> GgufFile::get_string(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_array || value->kind != GgufKind::kString)
    return Lookup{path_, bytes_, key, *value}.wrong_kind("a string");
  return as_text(value->data);
}

Result<std::optional<int64_t>> GgufFile::get_int(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  const Lookup lookup{path_, bytes_, key, *value};
  const bool is_flag_given = value->is_override && value->kind == GgufKind::kBool;
  if (value->is_array || !is_integer(value->kind) || is_flag_given) return lookup.wrong_kind("an integer");
  if (is_too_large(*value)) return lookup.too_large();
  if (value->kind == GgufKind::kBool) return load<uint8_t>(value->data.data()) != 0;
  return convert<int64_t>(*value).front();
}

Result<std::optional<double>> GgufFile::get_float(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_array || !is_number(value->kind)) return Lookup{path_, bytes_, key, *value}.wrong_kind("a number");
  return convert<double>(*value).front();
}

Result<std::optional<bool>> GgufFile::get_bool(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_array || value->kind != GgufKind::kBool) return Lookup{path_, bytes_, key, *value}.wrong_kind("a bool");
  return load<uint8_t>(value->data.data()) != 0;
}

Result<std::optional<std::vector<std::string_view>>> GgufFile::get_strings(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array || value->kind != GgufKind::kString) {
    return Lookup{path_, bytes_, key, *value}.wrong_kind("an array of strings");
  }
  // The lengths were checked when the file was opened.
  std::vector<std::string_view> strings(value->count);
  const std::byte* at = value->data.data();
  for (std::string_view& text : strings) {
    const auto length = load<uint64_t>(at);
    at += sizeof(uint64_t);
    text = as_text(Bytes(at, length));
    at += length;
  }
  return strings;
}

Result<std::optional<std::vector<int64_t>>> GgufFile::get_ints(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  const Lookup lookup{path_, bytes_, key, *value};
  if (!value->is_array || !is_integer(value->kind)) return lookup.wrong_kind("an array of integers");
  if (is_too_large(*value)) return lookup.too_large();
  std::vector<int64_t> ints = convert<int64_t>(*value);
  if (value->kind == GgufKind::kBool) std::ranges::transform(ints, ints.begin(), [](int64_t v) { return v != 0; });
  return ints;
}

Result<std::optional<std::vector<float>>> GgufFile::get_floats(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array || !is_number(value->kind)) {
    return Lookup{path_, bytes_, key, *value}.wrong_kind("an array of numbers");
  }
  return convert<float>(*value);
}

}  // namespace tern
