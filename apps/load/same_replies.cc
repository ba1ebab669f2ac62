#include "load/same_replies.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace tern::load {
namespace {

constexpr size_t kBefore = 20, kShown = 60;  // bytes

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string excerpt(std::string_view text, size_t at) {
  size_t begin = at > kBefore ? at - kBefore : 0;
  while (begin > 0 && begin < text.size() && continues_character(text[begin])) --begin;
  size_t end = std::min(begin + kShown, text.size());
  while (end < text.size() && continues_character(text[end])) ++end;
  return std::string(text.substr(begin, end - begin));
}

}  // namespace

SameCheck check_same(std::span<const RequestRecord> records) {
  std::map<std::string_view, std::vector<const RequestRecord*>> questions;
  for (const RequestRecord& record : records) {
    if (record.is_complete()) questions[record.body].push_back(&record);
  }
  SameCheck check;
  for (const auto& [body, replies] : questions) {
    if (replies.size() < 2) continue;
    ++check.questions;
    check.compared += static_cast<int64_t>(replies.size());
    const RequestRecord& first = *replies.front();
    const auto other = std::ranges::find_if(replies, [&](const RequestRecord* r) { return r->text != first.text; });
    if (other == replies.end()) continue;
    std::set<std::string_view> distinct;
    for (const RequestRecord* reply : replies) distinct.insert(reply->text);
    const std::string_view a = first.text, b = (*other)->text;
    const size_t at = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    check.differing.push_back({.asked = static_cast<int64_t>(replies.size()),
                               .distinct = static_cast<int64_t>(distinct.size()),
                               .first_index = first.index,
                               .other_index = (*other)->index,
                               .at_byte = at,
                               .first_text = excerpt(a, at),
                               .other_text = excerpt(b, at)});
  }
  std::ranges::sort(check.differing, {}, &DifferingReplies::first_index);
  return check;
}

}  // namespace tern::load
