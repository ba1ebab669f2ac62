// Any bytes as tokenizer.model, tiktoken's or SentencePiece's: they give a tokenizer that works, or an error of one
// line.
#include <cstdlib>

#include "base/bytes.h"
#include "text/tokenizer_files/tokenizer_model.h"

namespace {

void check_message(const std::string& message) {
  if (message.empty() || message.contains('\n') || message.size() > 1000) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto vocab = tern::read_tokenizer_model(tern::as_bytes(text), "fuzz");
  if (!vocab) {
    check_message(vocab.error().message);
    return 0;
  }
  const auto tokenizer = tern::make_tokenizer(*vocab);
  if (!tokenizer) {
    check_message(tokenizer.error().message);
    return 0;
  }
  for (const tern::TokenId id : (*tokenizer)->encode("It's 12  <s>\n\xC3\xA9\xFF", {.parse_special = true})) {
    if (id < 0 || id >= (*tokenizer)->vocab_size()) std::abort();
  }
  return 0;
}
