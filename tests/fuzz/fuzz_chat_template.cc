// Any bytes as a model file's chat template: they are refused, or render, or fail while rendering. Each error is one
// line.
#include <cstdlib>

#include "text/chat/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const tern::ChatTemplate chat(std::string(reinterpret_cast<const char*>(data), size), "<s>", "</s>");
  const auto good = chat.check();
  const std::vector<tern::ChatMessage> messages = {
      {"system", "be"}, {"user", "hi <think> x"}, {"assistant", "a"}, {"user", "b"}};
  const auto text = chat.render(messages);
  if (!text && text.error().message.contains('\n')) std::abort();
  if (text && !good) std::abort();  // a template that check() refuses must not render
  return 0;
}
