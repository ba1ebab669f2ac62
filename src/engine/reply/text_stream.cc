#include "engine/reply/text_stream.h"

#include <algorithm>

namespace tern {
namespace {

// The length of the longest suffix of `text` that is a proper prefix of `stop`.
size_t partial_match(std::string_view text, std::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n) {
    if (text.ends_with(stop.substr(0, n))) return n;
  }
  return 0;
}

}  // namespace

std::string TextStream::release(std::string_view text, bool may_stop) {
  if (stopped_) return {};
  held_ += text;
  size_t cut = std::string::npos;
  size_t keep = 0;
  for (const std::string& stop : stop_strings_) {
    if (stop.empty()) continue;
    if (may_stop) cut = std::min(cut, held_.find(stop));
    keep = std::max(keep, partial_match(held_, stop));
  }
  if (cut != std::string::npos) {
    stopped_ = true;
    keep = held_.size() - cut;
  }
  std::string out = held_.substr(0, held_.size() - keep);
  held_.erase(0, out.size());
  return out;
}

std::string TextStream::feed(std::string_view bytes, bool may_stop) { return release(utf8_.feed(bytes), may_stop); }

std::string TextStream::finish() {
  std::string out = release(utf8_.finish(), /*may_stop=*/true);
  if (!stopped_) out += held_;
  held_.clear();
  return out;
}

}  // namespace tern
