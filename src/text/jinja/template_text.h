// Texts of a chat template, with their origin: the template itself, or what a conversation says. Only the template may
// write control tokens, so no text of a message may become one.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tern/options.h"
#include "text/jinja/budget.h"

namespace tern {

// The places in memory where the template's own text is. A part of a text has the same place and so the same origin,
// however it was cut out. Whatever is not known here is a message's.
class TextOrigins {
 public:
  // `text` must stay in place.
  void add(std::string_view text) {
    if (!text.empty()) own_.insert_or_assign(text.data(), text.data() + text.size());
  }

  // Calls `use(begin, end)` for the own parts of `text`, in order.
  template <class Use>
  void each_own(std::string_view text, const Use& use) const {
    const char* const last = text.data() + text.size();
    auto it = own_.upper_bound(text.data());
    if (it != own_.begin()) --it;
    for (; it != own_.end() && std::less<>()(it->first, last); ++it) {
      const char* const begin = std::max(it->first, text.data(), std::less<>());
      const char* const end = std::min(it->second, last, std::less<>());
      if (std::less<>()(begin, end))
        use(static_cast<size_t>(begin - text.data()), static_cast<size_t>(end - text.data()));
    }
  }

  bool is_own(std::string_view text) const {
    size_t n = 0;
    each_own(text, [&](size_t begin, size_t end) { n += end - begin; });
    return n == text.size();
  }

 private:
  std::map<const char*, const char*, std::less<>> own_;  // begin → end
};

// A text that is put together from others, whose origins it keeps.
class TemplateText {
 public:
  TemplateText(const TextOrigins& origins, TemplateBudget& budget) : origins_(origins), budget_(budget) {}

  void append(std::string_view text) {
    budget_.take(2 * text.size());
    origins_.each_own(text, [&](size_t begin, size_t end) { add_own(text_.size() + begin, text_.size() + end); });
    text_ += text;
  }
  // Text of the conversation, whatever is known of its place.
  void append_said(std::string_view text) {
    budget_.take(2 * text.size());
    text_ += text;
  }

  size_t size() const { return text_.size(); }
  TemplateBudget& budget() const { return budget_; }
  // The template's own parts, in order.
  const std::vector<TextRange>& own() const { return own_; }
  std::string&& take() && { return std::move(text_); }

 private:
  void add_own(size_t begin, size_t end) {
    if (!own_.empty() && own_.back().end == begin) {
      own_.back().end = end;
      return;
    }
    budget_.take(4 * sizeof(TextRange));
    own_.push_back({begin, end});
  }

  const TextOrigins& origins_;
  TemplateBudget& budget_;
  std::string text_;
  std::vector<TextRange> own_;
};

}  // namespace tern
