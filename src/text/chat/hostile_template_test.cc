// Any chat template ends within 3 seconds and 1 GB.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <ctime>

#include "text/chat/chat_template.h"
#include "text/chat/hostile_templates_test_support.h"

namespace tern {
namespace {

constexpr double kMostSeconds = 3;
constexpr int64_t kMostBytes = int64_t{1} << 30;

// CPU time of this process, so that other programs on the machine do not count.
double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// 0: the system does not report it.
int64_t most_bytes_so_far() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? int64_t{usage.ru_maxrss} * 1024 : 0;
}

void expect_bounded(const HostileTemplate& hostile, std::span<const ChatMessage> messages) {
  const double start = seconds();
  const auto text = ChatTemplate(hostile.source, "<s>", "</s>").render(messages);
  EXPECT_LT(seconds() - start, kMostSeconds) << hostile.name;
  EXPECT_LT(most_bytes_so_far(), kMostBytes) << hostile.name;
  if (text) return;
  EXPECT_TRUE(text.error().message.starts_with("chat template: ")) << hostile.name;
  EXPECT_FALSE(text.error().message.contains('\n')) << hostile.name;
  EXPECT_LT(text.error().message.size(), 300u) << hostile.name;
}

TEST(HostileTemplate, ThereAreAHundred) { EXPECT_GE(hostile_templates().size(), 100u); }

TEST(HostileTemplate, EndsInTime) {
  const ChatMessage messages[] = {{"user", "x"}};
  for (const HostileTemplate& hostile : hostile_templates()) expect_bounded(hostile, messages);
}

TEST(HostileTemplate, EndsInTimeAfterALongConversation) {
  const std::vector<ChatMessage> messages(20, {"user", std::string(100'000, 'x')});
  for (const char* source :
       {"{% for m in messages %}{% for n in messages %}{% for o in messages %}{{ n.content + m.content }}{% endfor "
        "%}{% "
        "endfor %}{% endfor %}",
        "{% set ns = namespace(s='') %}{% for i in range(99) %}{% for m in messages %}{% set ns.s = ns.s + m.content %}"
        "{% endfor %}{% endfor %}",
        "{% for i in range(99999) %}{{ messages | tojson }}{% endfor %}",
        "{% for i in range(99999) %}{% set x = messages[0].content | list %}{% endfor %}"}) {
    expect_bounded({source, source}, messages);
  }
}

// The error says what stopped them, and does not depend on the machine's speed.
TEST(HostileTemplate, IsRefusedForWhatItDoes) {
  const ChatMessage messages[] = {{"user", "x"}};
  const auto refusal = [&](const char* source) {
    const auto text = ChatTemplate(source, "", "").render(messages);
    return text ? "none" : text.error().message;
  };
  EXPECT_EQ(refusal("{% set r = range(9999) %}{% for a in r %}{% for b in r %}{% endfor %}{% endfor %}"),
            "chat template: it runs for too long");
  EXPECT_EQ(refusal("{{ 'x' * 1000000000 }}"), "chat template: it makes too much out of the conversation");
  EXPECT_EQ(refusal("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), "chat template: it calls itself too often");
  EXPECT_EQ(refusal("{% set l = [] %}{{ l.append(1) }}"),
            "chat template: a call of append(), which changes what it is given");
  EXPECT_EQ(refusal("{% for x in messages recursive %}{{ loop(messages) }}{% endfor %}"),
            "chat template: line 1: a recursive loop");
}

}  // namespace
}  // namespace tern
