#include "text/tokenizer/pre_tokenizer.h"

#include <algorithm>

#include "base/check.h"
#include "text/tokenizer/word_patterns.h"
#include "text/unicode/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace tern {
namespace {

template <auto free_function>
struct Free {
  void operator()(auto* object) const { free_function(object); }
};
using Code = std::unique_ptr<pcre2_code, Free<pcre2_code_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>>;

}  // namespace

struct WordSplitter::Impl {
  Code code;
  MatchContext context;
  bool jit = false;
};

struct WordSplitter::Cursor::State {
  MatchData match;
};

WordSplitter::WordSplitter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WordSplitter::WordSplitter(WordSplitter&&) noexcept = default;
WordSplitter& WordSplitter::operator=(WordSplitter&&) noexcept = default;
WordSplitter::~WordSplitter() = default;

Result<WordSplitter> WordSplitter::make(PreTokenizer kind) {
  auto impl = std::make_unique<Impl>();
  int error = 0;
  size_t error_at = 0;
  const char* pattern = word_pattern(kind);
  // Anchored, because each word begins where the last one ended.
  impl->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern), PCRE2_ZERO_TERMINATED,
                                 PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED | PCRE2_NO_UTF_CHECK, &error, &error_at,
                                 nullptr));
  impl->context.reset(pcre2_match_context_create(nullptr));
  if (!impl->code || !impl->context) {
    return fail(ErrorCode::kNotSupported,
                "pre-tokenizer: this PCRE2 library refuses the expression (error {} at character {}); it must be built "
                "with Unicode support",
                error, error_at);
  }
  // A run of a million spaces backtracks a million times, but only once. The default limit is for expressions with
  // exponential backtracking, which these are not: what one alternative gives back, the next one takes.
  pcre2_set_match_limit(impl->context.get(), UINT32_MAX);
  impl->jit = pcre2_jit_compile(impl->code.get(), PCRE2_JIT_COMPLETE) == 0;
  return WordSplitter(std::move(impl));
}

WordSplitter::Cursor::Cursor(const WordSplitter& splitter, std::string_view text)
    : splitter_(splitter), rest_(text), state_(std::make_unique<State>()) {
  state_->match.reset(pcre2_match_data_create(1, nullptr));
}

WordSplitter::Cursor::~Cursor() = default;

std::string_view WordSplitter::Cursor::next() {
  if (rest_.empty()) return {};
  const Impl& impl = *splitter_.impl_;
  size_t length = rest_.size();  // if the library gives up (out of memory), the rest is one word, so no byte is lost
  if (state_->match) {
    // The text before the word does not matter, because the expressions have no look-behind.
    const auto subject = reinterpret_cast<PCRE2_SPTR>(rest_.data());
    const auto run = impl.jit ? pcre2_jit_match : pcre2_match;
    const int found =
        run(impl.code.get(), subject, rest_.size(), 0, PCRE2_NO_UTF_CHECK, state_->match.get(), impl.context.get());
    if (found > 0) {
      length = pcre2_get_ovector_pointer(state_->match.get())[1];
    } else if (found == PCRE2_ERROR_NOMATCH) {
      length = 0;
    }
  }
  if (length == 0) length = decode_utf8(rest_).length;  // every character matches some alternative; ensure progress
  const std::string_view word = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return word;
}

}  // namespace tern
