// A chat template comes with a model file: any bytes are refused with one line, or render, or object with one line.
#include <cstdlib>

#include "text/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parsed = tern::ChatTemplate::parse(std::string(reinterpret_cast<const char*>(data), size), "<s>", "</s>");
  if (!parsed) {
    if (parsed.error().message.contains('\n')) std::abort();
    return 0;
  }
  const std::vector<tern::ChatMessage> messages = {
      {"system", "be"}, {"user", "hi <think> x"}, {"assistant", "a"}, {"user", "b"}};
  const auto text = parsed->render(messages);
  if (!text && text.error().message.contains('\n')) std::abort();
  return 0;
}
