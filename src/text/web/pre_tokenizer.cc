// WordSplitter with the regular expressions of JavaScript (text.js).
#include "text/tokenizer/pre_tokenizer.h"

#include <array>
#include <cstdint>

#include "text/tokenizer/word_patterns.h"
#include "text/unicode/utf8.h"

extern "C" {
// Begins a pass over a copy of the text. 0: the browser refuses the expression. The same thread must end the pass.
int tern_words_begin(const char* pattern, const char* text, size_t length);
// Writes the lengths of the next words in bytes, at most `most`. Returns their number; 0: the end of the text.
int tern_words_next(int words, uint32_t* lengths, int most);
void tern_words_end(int words);
}

namespace tern {

struct WordSplitter::Impl {
  const char* pattern;
};

struct WordSplitter::Cursor::State {
  int words = 0;
  std::array<uint32_t, 256> lengths;  // a buffer, so that JavaScript is called rarely
  int n = 0, at = 0;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (words != 0) tern_words_end(words);
  }
};

WordSplitter::WordSplitter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WordSplitter::WordSplitter(WordSplitter&&) noexcept = default;
WordSplitter& WordSplitter::operator=(WordSplitter&&) noexcept = default;
WordSplitter::~WordSplitter() = default;

Result<WordSplitter> WordSplitter::make(PreTokenizer kind) {
  auto impl = std::make_unique<Impl>(word_pattern(kind));
  const int words = tern_words_begin(impl->pattern, "", 0);
  if (words == 0) {
    return fail(ErrorCode::kNotSupported,
                "pre-tokenizer: this browser's regular expressions have no Unicode properties (\\p{{L}}); use a newer "
                "browser");
  }
  tern_words_end(words);
  return WordSplitter(std::move(impl));
}

WordSplitter::Cursor::Cursor(const WordSplitter& splitter, std::string_view text)
    : splitter_(splitter), rest_(text), state_(std::make_unique<State>()) {}

WordSplitter::Cursor::~Cursor() = default;

std::string_view WordSplitter::Cursor::next() {
  if (rest_.empty()) return {};
  State& s = *state_;
  if (s.words == 0) s.words = tern_words_begin(splitter_.impl_->pattern, rest_.data(), rest_.size());
  if (s.at == s.n) {
    s.n = tern_words_next(s.words, s.lengths.data(), static_cast<int>(s.lengths.size()));
    s.at = 0;
  }
  // If the browser gives up (out of memory), the rest is one word, so no byte is lost.
  size_t length = s.n > 0 ? s.lengths[static_cast<size_t>(s.at++)] : rest_.size();
  if (length == 0 || length > rest_.size()) length = rest_.size();
  const std::string_view word = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return word;
}

}  // namespace tern
