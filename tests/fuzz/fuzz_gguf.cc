// Any bytes as a GGUF file: refused with a message, or every value and every tensor can be read. Also any bytes as an
// override of a metadata value.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "file/gguf/gguf.h"
#include "file/gguf/gguf_override.h"

namespace tern {
namespace {

// Keeps the optimizer from removing the reads.
volatile uint64_t sink;

void require(bool condition) {
  if (!condition) std::abort();
}

void look_up(const GgufFile& file, std::string_view key) {
  uint64_t sum = 0;
  if (const auto text = file.get_string(key); text && *text) {
    for (const char c : **text) sum += static_cast<unsigned char>(c);
  }
  if (const auto texts = file.get_strings(key); texts && *texts) {
    for (const std::string_view text : **texts) {
      for (const char c : text) sum += static_cast<unsigned char>(c);
    }
  }
  if (const auto number = file.get_int(key); number && *number) sum += static_cast<uint64_t>(**number);
  if (const auto number = file.get_float(key); number && *number) sum += **number > 0.0;
  if (const auto flag = file.get_bool(key); flag && *flag) sum += **flag;
  if (const auto ints = file.get_ints(key); ints && *ints) {
    for (const int64_t number : **ints) sum += static_cast<uint64_t>(number);
  }
  if (const auto floats = file.get_floats(key); floats && *floats) {
    for (const float number : **floats) sum += number > 0.0f;
  }
  sink = sum;
}

void check_tensor(const GgufFile& file, const GgufTensor& tensor) {
  require(file.find_tensor(tensor.name) == &tensor);
  require(ggml_type_info(tensor.type) != nullptr);
  require(!tensor.data.empty() && tensor.data.size() <= tensor.span);
  require(tensor.offset + tensor.span <= file.file_bytes());
  require(tensor.data.size() == ggml_tensor_bytes(tensor.type, tensor.shape));
  sink = static_cast<uint64_t>(*tensor.data.begin()) + static_cast<uint64_t>(*tensor.data.last(1).begin()) +
         static_cast<uint64_t>(tensor.n_elements());
}

void override_with(std::string_view text) {
  auto made = parse_gguf_override(text);
  if (!made) {
    require(made.error().message.find_first_of("\n\r\x1b") == std::string::npos);
    return;
  }
  const std::string key = made->key;
  require(!key.empty() && text.starts_with(key + "="));
  constexpr char kEmpty[24] = {'G', 'G', 'U', 'F', 3};  // no tensors, no metadata
  auto file = GgufFile::parse(as_bytes({kEmpty, sizeof(kEmpty)}), "fuzz.gguf").value();
  file.override_value(*std::move(made));
  require(file.find(key) != nullptr);
  look_up(file, key);
}

void one_input(Bytes bytes) {
  override_with(as_text(bytes));
  const auto file = GgufFile::parse(bytes, "fuzz.gguf");
  if (!file) {
    require(file.error().message.starts_with("fuzz.gguf: "));
    require(file.error().message.find_first_of("\n\r\x1b") == std::string::npos);
    return;
  }
  for (const auto& [key, value] : file->metadata()) {
    require(file->find(key) == &value);
    look_up(*file, key);
  }
  for (const GgufTensor& tensor : file->tensors()) check_tensor(*file, tensor);
}

}  // namespace
}  // namespace tern

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tern::one_input({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
