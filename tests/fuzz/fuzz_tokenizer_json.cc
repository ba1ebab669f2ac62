// The tokenizer.json parser takes any bytes: it gives a tokenizer that works, or one line that says why not.
#include <cstdlib>

#include "base/bytes.h"
#include "text/tokenizer_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = tern::parse_tokenizer_json(tern::as_bytes(text), "fuzz");
  if (!tokenizer) {
    const std::string& message = tokenizer.error().message;
    if (message.empty() || message.contains('\n') || message.size() > 1000) std::abort();
    return 0;
  }
  // Plain characters come back even where the vocabulary has odd tokens and a normalizer.
  const std::string sample = "It's 12 o'clock,  <|x|>\n";
  if ((*tokenizer)->decode((*tokenizer)->encode(sample, {.add_bos = false})) != sample) std::abort();
  return 0;
}
