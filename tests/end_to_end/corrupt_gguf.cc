#include "end_to_end/corrupt_gguf.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tern::test {
namespace {

constexpr uint32_t kString = 8;
constexpr uint32_t kArray = 9;
constexpr uint32_t kU32 = 4;
constexpr size_t kAlignment = 32;

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string take(size_t n) {
    if (n > bytes_.size() - at_) throw std::runtime_error("the test's own model is cut off");
    at_ += n;
    return bytes_.substr(at_ - n, n);
  }
  std::string string() { return take(number<uint64_t>()); }

  // Returns the bytes of one metadata value of this type.
  std::string value(uint32_t type) {
    const size_t start = at_;
    skip_value(type);
    return bytes_.substr(start, at_ - start);
  }
  size_t at() const { return at_; }

 private:
  void skip_value(uint32_t type) {
    constexpr size_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == kString) {
      string();
    } else if (type == kArray) {
      const auto element = number<uint32_t>();
      const auto count = number<uint64_t>();
      for (uint64_t i = 0; i < count; ++i) skip_value(element);
    } else {
      take(kSizes[type]);
    }
  }

  const std::string& bytes_;
  size_t at_ = 0;
};

std::string padding(size_t length) { return std::string((kAlignment - length % kAlignment) % kAlignment, '\0'); }

std::string with_length(const std::string& text) { return le<uint64_t>(text.size()) + text; }

}  // namespace

GgufImage GgufImage::parse(const std::string& bytes) {
  Reader reader(bytes);
  GgufImage image;
  if (reader.take(4) != "GGUF") throw std::runtime_error("the test's own model is no GGUF file");
  image.version = reader.number<uint32_t>();
  const auto n_tensors = reader.number<uint64_t>();
  const auto n_keys = reader.number<uint64_t>();
  for (uint64_t i = 0; i < n_keys; ++i) {
    Key key = {.name = reader.string(), .type = reader.number<uint32_t>(), .value = {}};
    key.value = reader.value(key.type);
    image.keys.push_back(std::move(key));
  }
  for (uint64_t i = 0; i < n_tensors; ++i) {
    Tensor tensor = {.name = reader.string(), .dims = {}, .type = 0, .offset = 0};
    const auto n_dims = reader.number<uint32_t>();
    for (uint32_t d = 0; d < n_dims; ++d) tensor.dims.push_back(reader.number<uint64_t>());
    tensor.type = reader.number<uint32_t>();
    tensor.offset = reader.number<uint64_t>();
    image.tensors.push_back(std::move(tensor));
  }
  image.data = bytes.substr(reader.at() + padding(reader.at()).size());
  return image;
}

std::string GgufImage::bytes() const {
  std::string out = "GGUF" + le(version) + le<uint64_t>(tensors.size()) + le<uint64_t>(keys.size());
  for (const Key& key : keys) out += with_length(key.name) + le(key.type) + key.value;
  for (const Tensor& tensor : tensors) {
    out += with_length(tensor.name) + le(static_cast<uint32_t>(tensor.dims.size()));
    for (const uint64_t dim : tensor.dims) out += le(dim);
    out += le(tensor.type) + le(tensor.offset);
  }
  return out + padding(out.size()) + data;
}

GgufImage::Tensor& GgufImage::tensor(const std::string& name) {
  const auto found = std::ranges::find(tensors, name, &Tensor::name);
  if (found == tensors.end()) throw std::runtime_error("the test's own model has no tensor " + name);
  return *found;
}

GgufImage::Key& GgufImage::key(const std::string& name) {
  const auto found = std::ranges::find(keys, name, &Key::name);
  if (found == keys.end()) throw std::runtime_error("the test's own model has no key " + name);
  return *found;
}

void GgufImage::remove_tensor(const std::string& name) {
  tensor(name);
  std::erase_if(tensors, [&](const Tensor& tensor) { return tensor.name == name; });
}

void GgufImage::remove_keys(const std::string& prefix) {
  std::erase_if(keys, [&](const Key& key) { return key.name.starts_with(prefix); });
}

void GgufImage::add_string(const std::string& key_name, const std::string& value) {
  keys.push_back({.name = key_name, .type = kString, .value = with_length(value)});
}

void GgufImage::set_string(const std::string& key_name, const std::string& value) {
  Key& changed = key(key_name);
  changed.type = kString;
  changed.value = with_length(value);
}

void GgufImage::set_u32(const std::string& key_name, uint32_t value) {
  Key& changed = key(key_name);
  changed.type = kU32;
  changed.value = le(value);
}

std::string patched(std::string bytes, size_t at, const std::string& patch) {
  return bytes.replace(at, patch.size(), patch);
}

}  // namespace tern::test
