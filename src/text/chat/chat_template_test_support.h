// Renders chat templates for tests, and compares them with Jinja's output.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "support/checkout.h"
#include "text/chat/chat_template.h"

namespace tern::chat_template_test {

// Has published templates; not part of the checkout.
inline const std::string kShared = source_path("../shared/data/");

inline std::string render(const std::string& source, const std::vector<ChatMessage>& messages,
                          const ChatOptions& options = {}) {
  const auto text = ChatTemplate(source, "<s>", "</s>").render(messages, options);
  return text ? text->text : "error: " + text.error().message;
}

inline std::string published_template(const std::string& name) {
  const std::string folder = std::filesystem::exists(kShared + "templates/" + name) ? "templates/" : "headers/";
  return read_text_file(kShared + folder + name).value();
}

using RenderGolden = std::function<Result<ChatPrompt>(const ChatTemplate& chat, const nlohmann::ordered_json& golden,
                                                      const nlohmann::ordered_json& conversation)>;

// Compares `render` with Jinja's output in a file of tests/golden/tokenizer; where Jinja raises an error, any error
// will do.
inline void check_goldens(const nlohmann::ordered_json& file, bool is_published, size_t at_least,
                          const RenderGolden& render_golden) {
  size_t n = 0;
  for (const auto& golden : file.at("goldens")) {
    if (golden.at("published") != is_published) continue;
    ++n;
    const auto name = golden.at("template").get<std::string>();
    const ChatTemplate chat(is_published ? published_template(name) : file.at("templates").at(name).get<std::string>(),
                            "<BOS>", "<EOS>");
    const auto& conversation = file.at("conversations").at(golden.at("conversation").get<size_t>());
    const auto text = render_golden(chat, golden, conversation);
    if (golden.contains("error")) {
      EXPECT_FALSE(text) << golden;
    } else {
      ASSERT_TRUE(text) << golden << text.error().message;
      EXPECT_EQ(text->text, golden.at("text").get<std::string>()) << golden;
    }
  }
  EXPECT_GE(n, at_least);
}

inline nlohmann::ordered_json read_goldens(const std::string& name) {
  return nlohmann::ordered_json::parse(read_text_file(source_path("tests/golden/tokenizer/" + name)).value());
}

}  // namespace tern::chat_template_test
