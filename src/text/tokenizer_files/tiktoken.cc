#include "text/tokenizer_files/tiktoken.h"

#include <algorithm>
#include <charconv>
#include <deque>

#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer/token_table.h"
#include "text/tokenizer_files/stop_tokens.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

constexpr size_t kMaxToken = 512;  // bytes, because every split of a token is tried; Llama 3's longest has 128
constexpr size_t kMaxLine = 4 * kMaxToken / 3 + 16;
constexpr size_t kMaxTokens = size_t{1} << 22;

// -1: not a base64 digit.
int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  text.remove_suffix(padding);
  std::string out;
  uint32_t bits = 0;
  int n_bits = 0;
  for (const char c : text) {
    const int digit = base64_digit(c);
    if (digit < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    n_bits += 6;
    if (n_bits >= 8) {
      n_bits -= 8;
      out += static_cast<char>(bits >> n_bits & 0xFF);
    }
  }
  return out;
}

struct Line {
  std::string bytes;
  uint32_t rank = 0;
};

std::optional<Line> read_line(std::string_view line) {
  const size_t space = line.find(' ');
  if (space == line.npos || line.size() > kMaxLine) return std::nullopt;
  auto bytes = from_base64(line.substr(0, space));
  const std::string_view number = line.substr(space + 1);
  uint32_t rank = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rank);
  if (!bytes || error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return Line{*std::move(bytes), rank};
}

// Removes the first line from `text` and returns it without its end.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// The bytes of all tokens by rank.
Result<std::vector<std::string>> read_tokens(std::string_view text, std::string_view path) {
  std::vector<std::string> tokens;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    auto read = read_line(line);
    if (!read) {
      return fail(ErrorCode::kCorruption, "{}: line {} '{}' is not a token in base64 and its rank", path, number,
                  printable(line));
    }
    if (read->rank != tokens.size()) {
      return fail(ErrorCode::kCorruption, "{}: line {} has the rank {}, where {} comes next", path, number, read->rank,
                  tokens.size());
    }
    if (tokens.size() == kMaxTokens) return fail(ErrorCode::kCorruption, "{}: more than {} tokens", path, kMaxTokens);
    tokens.push_back(std::move(read->bytes));
  }
  return tokens;
}

std::string spell(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) out += spell_byte(static_cast<uint8_t>(byte));
  return out;
}

// Llama 3's special tokens in the order of ids.
std::vector<std::string> llama3_special_tokens() {
  constexpr int kTokens = 256;
  std::vector<std::string> names = {"<|begin_of_text|>", "<|end_of_text|>"};
  int n_reserved = 0;
  const auto reserve = [&] { names.push_back("<|reserved_special_token_" + std::to_string(n_reserved++) + "|>"); };
  for (int i = 0; i < 4; ++i) reserve();
  names.insert(names.end(), {"<|start_header_id|>", "<|end_header_id|>"});
  reserve();
  names.push_back("<|eot_id|>");
  while (names.size() < kTokens) reserve();
  return names;
}

// All ways to join two tokens into another, ordered by the resulting token, then by the parts.
void derive_merges(const TokenTable& table, std::deque<std::string>& strings, Vocab& vocab) {
  std::vector<std::pair<TokenId, TokenId>> cuts;
  for (TokenId id = 0; id < static_cast<TokenId>(table.size()); ++id) {
    const std::string_view bytes = table.bytes(id);
    cuts.clear();
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
      const TokenId left = table.find(bytes.substr(0, cut));
      const TokenId right = left == kNoToken ? kNoToken : table.find(bytes.substr(cut));
      if (right != kNoToken) cuts.emplace_back(left, right);
    }
    std::ranges::sort(cuts);
    for (const auto& [left, right] : cuts) {
      std::string& merge = strings.emplace_back(vocab.tokens[static_cast<size_t>(left)]);
      merge += ' ';
      merge += vocab.tokens[static_cast<size_t>(right)];
      vocab.merges.push_back(merge);
    }
  }
}

}  // namespace

bool looks_like_tiktoken(std::string_view text) {
  text = text.substr(0, kMaxLine + 2);
  return read_line(take_line(text)).has_value();
}

Result<Vocab> read_tiktoken(std::string_view text, std::string_view path) {
  TRY(const auto tokens, read_tokens(text, path));
  TokenTable table(tokens.size());
  const auto strings = std::make_shared<std::deque<std::string>>();
  Vocab vocab;
  for (const std::string& bytes : tokens) {
    const TokenId id = table.add(bytes);
    if (const TokenId first = table.make_findable(id); first != kNoToken) {
      return fail(ErrorCode::kCorruption, "{}: ranks {} and {} are both '{}'", path, first, id, printable(bytes));
    }
    vocab.tokens.push_back(strings->emplace_back(spell(bytes)));
  }
  derive_merges(table, *strings, vocab);
  vocab.types.resize(vocab.tokens.size(), TokenType::kNormal);
  vocab.bos = static_cast<TokenId>(vocab.tokens.size());
  vocab.eos = *vocab.bos + 1;
  for (std::string& name : llama3_special_tokens()) {
    vocab.tokens.push_back(strings->emplace_back(std::move(name)));
    vocab.types.push_back(TokenType::kControl);
  }
  vocab.pre = PreTokenizer::kLlamaBpe;
  vocab.ignore_merges = true;
  vocab.add_bos = true;
  vocab.storage = strings;
  add_known_stop_tokens(vocab);
  return vocab;
}

}  // namespace tern
