// Renders conversations with a chat template, for compare_jinja.py. Prints a list of {"text": …} and {"error": …}.
//
// usage: chat_render TEMPLATE CONVERSATIONS.json
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files/mapped_file.h"
#include "tern/chat_reply.h"
#include "text/chat/chat_template.h"

int main(int argc, char** argv) {
  using Json = nlohmann::ordered_json;
  if (argc != 3) {
    std::fprintf(stderr, "usage: chat_render TEMPLATE CONVERSATIONS.json\n");
    return 2;
  }
  const tern::ChatTemplate chat(tern::read_text_file(argv[1]).value(), "<BOS>", "<EOS>");
  Json list = Json::array();
  for (const Json& conversation : Json::parse(tern::read_text_file(argv[2]).value())) {
    const auto messages = tern::messages_from_json(conversation.at("messages").dump()).value();
    const Json& tools = conversation.at("tools");
    const auto prompt = chat.render(messages, {.tools = tools.is_null() ? "" : tools.dump()});
    list.push_back(prompt ? Json{{"text", prompt->text}} : Json{{"error", prompt.error().message}});
  }
  std::printf("%s\n", list.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  return 0;
}
