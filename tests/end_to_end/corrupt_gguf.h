// A small GGUF editor that shares no code with Tern's reader. It parses a model, and writes it again with the defects
// that a test has put into it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tern::test {

struct GgufImage {
  struct Key {
    std::string name;
    uint32_t type;
    std::string value;  // as in the file
  };
  struct Tensor {
    std::string name;
    std::vector<uint64_t> dims;  // as in the file: the fastest first
    uint32_t type;
    uint64_t offset;  // relative to the start of the data
  };

  uint32_t version = 3;
  std::vector<Key> keys;
  std::vector<Tensor> tensors;
  std::string data;

  // Parses a well-formed file with alignment 32.
  static GgufImage parse(const std::string& bytes);
  std::string bytes() const;

  Tensor& tensor(const std::string& name);
  Key& key(const std::string& name);
  void remove_tensor(const std::string& name);
  void remove_keys(const std::string& prefix);
  void add_string(const std::string& key_name, const std::string& value);
  void set_string(const std::string& key_name, const std::string& value);
  void set_u32(const std::string& key_name, uint32_t value);
};

// Little-endian bytes of an integer.
template <class T>
std::string le(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// `bytes` with `patch` written over it at offset `at`.
std::string patched(std::string bytes, size_t at, const std::string& patch);

}  // namespace tern::test
