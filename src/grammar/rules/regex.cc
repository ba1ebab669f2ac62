#include "grammar/rules/regex.h"

#include <string>

#include "grammar/rules/regex_parser.h"
#include "grammar/rules/utf8_chars.h"

namespace tern::grammar {
namespace {

constexpr size_t kMaxPattern = 20'000;  // characters
constexpr size_t kMaxWork = 300'000;    // parts written; repeated parts count each time
constexpr size_t kMaxRanges = 100'000;  // of different classes: more than a hundred of Python's \w

class RegexWriter {
 public:
  explicit RegexWriter(CharAutomaton& out) : out_(out) {}

  // Writes `part` at `from`. Returns the state after it.
  uint32_t write(const RegexPart& part, uint32_t from) {
    if (++work_ > kMaxWork) is_full_ = true;
    if (is_full()) return from;
    switch (part.kind) {
      case RegexPart::kSequence:
        for (const RegexPart& one : part.parts) from = write(one, from);
        return from;
      case RegexPart::kRepeat:
        return write_repeat(part, from);
      case RegexPart::kChoice: {
        const uint32_t to = out_.add_state();
        for (const RegexPart& one : part.parts) {
          const uint32_t begin = out_.add_state();
          out_.add_nothing(from, begin);
          out_.add_nothing(write(one, begin), to);
        }
        return to;
      }
      case RegexPart::kChars:
      case RegexPart::kAtStart:
      case RegexPart::kAtEnd:
        break;
    }
    const uint32_t to = out_.add_state();
    if (part.kind == RegexPart::kChars) {
      out_.add_char(from, part.set, to);
    } else {
      out_.add_nothing(from, to,
                       part.kind == RegexPart::kAtStart ? CharAutomaton::Edge::kAtStart : CharAutomaton::Edge::kAtEnd);
    }
    return to;
  }
  bool is_full() const { return is_full_ || out_.is_full() || out_.n_ranges() > kMaxRanges; }

 private:
  uint32_t write_repeat(const RegexPart& part, uint32_t from) {
    const RegexPart& one = part.parts[0];
    for (int i = 0; i < part.low && !is_full(); ++i) {
      const uint32_t next = write(one, from);
      if (next == from) break;  // it takes nothing, however often
      from = next;
    }
    if (part.high < 0) {
      const uint32_t loop = out_.add_state();
      out_.add_nothing(from, loop);
      out_.add_nothing(write(one, loop), loop);
      return loop;
    }
    const uint32_t to = out_.add_state();
    for (int i = part.low; i < part.high && !is_full(); ++i) {
      out_.add_nothing(from, to);
      const uint32_t begin = out_.add_state();
      out_.add_nothing(from, begin);
      from = write(one, begin);
    }
    out_.add_nothing(from, to);
    return to;
  }

  CharAutomaton& out_;
  size_t work_ = 0;
  bool is_full_ = false;
};

}  // namespace

Result<CharAutomaton> parse_regex(std::string_view pattern, RegexMatch match, const RegexSyntax& syntax) {
  std::u32string text;
  for (std::string_view rest = pattern; !rest.empty();) {
    const auto c = take_char(rest);
    if (!c) return fail(ErrorCode::kInvalidArgument, "invalid UTF-8 at byte {}", pattern.size() - rest.size());
    text += *c;
  }
  if (text.size() > kMaxPattern) {
    return fail(ErrorCode::kNotSupported, "more than {} characters cannot be held to", kMaxPattern);
  }
  TRY(const RegexPart part, read_regex(text, syntax));
  CharAutomaton out;
  RegexWriter writer(out);
  uint32_t at = out.start();
  if (match == RegexMatch::kAnywhere) {
    const uint32_t begin = out.add_state();
    out.add_char(at, CharSet::all(), at);
    out.add_nothing(at, begin);
    at = begin;
  }
  at = writer.write(part, at);
  if (match == RegexMatch::kAnywhere) {
    const uint32_t rest = out.add_state();
    out.add_nothing(at, rest);
    out.add_char(rest, CharSet::all(), rest);
    at = rest;
  }
  out.end(at);
  CharAutomaton resolved = out.resolved();
  if (writer.is_full() || resolved.is_full()) {
    return fail(ErrorCode::kNotSupported,
                "it takes more than {} states or {} ranges of characters; ask for fewer repetitions",
                CharAutomaton::kMaxStates, kMaxRanges);
  }
  return resolved;
}

}  // namespace tern::grammar
