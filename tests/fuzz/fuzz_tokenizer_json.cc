// Any bytes as tokenizer.json: they give a tokenizer that works, or an error of one line.
#include <cstdlib>

#include "base/bytes.h"
#include "text/tokenizer_files/tokenizer_json.h"

namespace {

void check_message(const std::string& message) {
  if (message.empty() || message.contains('\n') || message.size() > 1000) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto vocab = tern::read_tokenizer_json(tern::as_bytes(text), "fuzz");
  if (!vocab) {
    check_message(vocab.error().message);
    return 0;
  }
  const auto tokenizer = tern::make_tokenizer(*vocab);
  if (!tokenizer) {
    check_message(tokenizer.error().message);
    return 0;
  }
  const std::string sample = "It's 12 o'clock,  <|x|>\n \xC3\xA9\xFF";
  for (const bool special : {false, true}) {
    for (const tern::TokenId id : (*tokenizer)->encode(sample, {.parse_special = special})) {
      if (id < 0 || id >= (*tokenizer)->vocab_size()) std::abort();
    }
  }
  // Plain characters survive even if a byte-level vocabulary has odd tokens and a normalizer.
  const std::string plain = "It's 12 o'clock,  <|x|>\n";
  const bool swallows = !vocab->flags.empty();
  if (vocab->kind == tern::VocabKind::kByteLevel && !swallows &&
      (*tokenizer)->decode((*tokenizer)->encode(plain, {.add_bos = false})) != plain) {
    std::abort();
  }
  return 0;
}
