// encode() takes any bytes, and decode() gives them back, with control tokens parsed or not.
#include <cstdio>
#include <cstdlib>

#include "base/bytes.h"
#include "base/files/mapped_file.h"
#include "support/checkout.h"
#include "text/tokenizer_files/tokenizer_json.h"

namespace {

std::unique_ptr<tern::Tokenizer> load_default_tokenizer() {
  const std::string path = tern::source_path("tests/golden/tokenizer/tern-stories-tokenizer.json");
  const auto file = tern::MappedFile::open(path);
  auto tokenizer = file ? tern::parse_tokenizer_json(file->bytes(), path) : std::unexpected(file.error());
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
    std::exit(1);
  }
  return *std::move(tokenizer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto tokenizer = load_default_tokenizer();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool parse_special : {false, true}) {
    const auto ids = tokenizer->encode(text, {.parse_special = parse_special});
    if (tokenizer->decode(ids, parse_special) != text) std::abort();
  }
  return 0;
}
