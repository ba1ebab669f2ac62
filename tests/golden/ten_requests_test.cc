// Ten requests to the default model, and the required properties of its answers, on the CPU and on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "support/checkout.h"
#include "tern/engine.h"

namespace tern {
namespace {

using Json = nlohmann::json;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool has(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex(pattern, std::regex::icase));
}

// Names, and words of three letters or more, in lower case, except words that any sentence may have.
std::set<std::string> things_in(const std::string& text) {
  static const std::set<std::string> kAny = {"that", "this", "they",  "with", "from", "found",
                                             "have", "were", "there", "what", "when", "story"};
  std::set<std::string> things;
  const std::regex word("[A-Za-z]+");
  for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it) {
    std::string one = it->str();
    const bool is_name = std::isupper(static_cast<unsigned char>(one[0])) && it->position() > 0;
    for (char& c : one) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if ((is_name || one.size() >= 3) && one != "the" && one != "and" && !kAny.contains(one)) things.insert(one);
  }
  return things;
}

bool share_a_thing(const std::string& a, const std::string& b) {
  const std::set<std::string> others = things_in(b);
  return std::ranges::any_of(things_in(a), [&](const std::string& one) { return others.contains(one); });
}

void check(const Json& request, const std::string& reply, const std::string& before) {
  const std::string asked = request["ask"];
  const size_t n = words_of(reply).size();
  EXPECT_TRUE(n >= request["words"][0] && n <= request["words"][1]) << asked << ": " << n << " words: " << reply;
  for (const std::string pattern : request.value("says", Json::array()))
    EXPECT_TRUE(has(reply, pattern)) << asked << ": no " << pattern << " in: " << reply;
  for (const std::string pattern : request.value("never", Json::array()))
    EXPECT_FALSE(has(reply, pattern)) << asked << ": " << pattern << " in: " << reply;
  EXPECT_TRUE(!request.value("of_the_story", false) || share_a_thing(reply, before)) << asked << ": " << reply;
}

class TenRequests : public testing::TestWithParam<BackendKind> {};

TEST_P(TenRequests, AreAnsweredAsTheModelsCardSays) {
  const auto engine = Engine::load({.model_path = source_path("models/tern-stories.gguf"), .backend = GetParam()});
  if (!engine && GetParam() == BackendKind::kWebGpu) GTEST_SKIP() << engine.error().message;
  ASSERT_TRUE(engine) << engine.error().message;
  int n_requests = 0;
  for (const Json& conversation :
       Json::parse(std::ifstream(source_path("tests/golden/ten_requests.json")))["conversations"]) {
    Session session = engine->new_session().value();
    std::vector<ChatMessage> messages;
    std::string before;
    for (const Json& request : conversation) {
      messages.push_back({.role = "user", .content = request["ask"]});
      const ChatPrompt prompt = engine->render_chat(messages).value();
      const auto reply = session.generate(engine->tokenizer().encode_chat(prompt), {.sample = {.temperature = 0}});
      ASSERT_TRUE(reply) << reply.error().message;
      EXPECT_EQ(reply->reason, FinishReason::kStopToken) << reply->text;
      check(request, reply->text, before);
      messages.push_back({.role = "assistant", .content = reply->text});
      before = reply->text;
      ++n_requests;
    }
  }
  EXPECT_EQ(n_requests, 10);
}

INSTANTIATE_TEST_SUITE_P(Backends, TenRequests, testing::Values(BackendKind::kCpu, BackendKind::kWebGpu),
                         [](const auto& parameter) { return parameter.param == BackendKind::kCpu ? "cpu" : "webgpu"; });

}  // namespace
}  // namespace tern
