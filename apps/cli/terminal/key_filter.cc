#include "cli/terminal/key_filter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tern::cli {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::string_view kPasteEnd = "\x1b[201~";

// Control characters that the editor has an action for: Ctrl-A B C D E F, backspace, Tab, Ctrl-K L, Enter, Ctrl-N P R S
// T U W Y and _.
constexpr std::string_view kControls = "\x01\x02\x03\x04\x05\x06\b\t\x0b\f\r\x0e\x10\x12\x13\x14\x15\x17\x19\x1f";

struct KeyName {
  std::string_view sequence;  // after ESC
  std::string_view key;
};

// Maps the keys for word-wise actions in the tables below to actions.
struct WordKey {
  std::string_view key;
  EditAction::Kind kind;
};

constexpr auto kWordKeys = std::to_array<WordKey>({
    {"\033b", EditAction::Kind::kWordLeft},
    {"\033f", EditAction::Kind::kWordRight},
    {"\033d", EditAction::Kind::kDeleteWordRight},
    {"\x1b\x7f", EditAction::Kind::kDeleteWordLeft},
});

// Keys with modifiers are looked up here first, then by their last character (plain_key).
constexpr auto kKeys = std::to_array<KeyName>({
    {"[1~", "\x1b[H"},
    {"[7~", "\x1b[H"},
    {"[4~", "\x1b[F"},
    {"[8~", "\x1b[F"},
    {"[3~", "\x1b[3~"},
    {"[3;5~", "\033d"},  // Ctrl-Delete and Alt-Delete: the word after the cursor
    {"[3;3~", "\033d"},
    {"[5~", "\x1b[5~"},
    {"[6~", "\x1b[6~"},
    {"[5C", "\033f"},
    {"[5D", "\033b"},
    {"OM", "\r"},  // Enter of the number pad
    {"[13;2u", KeyFilter::kNewLine},
    {"[13;3u", KeyFilter::kNewLine},
    {"[13;5u", KeyFilter::kNewLine},
    {"[27;2;13~", KeyFilter::kNewLine},
    {"[27;3;13~", KeyFilter::kNewLine},
    {"[27;5;13~", KeyFilter::kNewLine},
});

// Maps arrows, Home and End with any modifier. With Alt or Ctrl the arrows move by words, with Shift alone they do not.
std::string_view plain_key(std::string_view sequence) {
  const char last = sequence.back();
  const size_t semicolon = sequence.rfind(';');
  const std::string_view modifier =
      semicolon == sequence.npos ? "" : sequence.substr(semicolon + 1, sequence.size() - semicolon - 2);
  const bool by_word = !modifier.empty() && modifier != "1" && modifier != "2";
  switch (last) {
    case 'A':
      return "\x1b[A";
    case 'B':
      return "\x1b[B";
    case 'C':
      return by_word ? "\033f" : "\x1b[C";
    case 'D':
      return by_word ? "\033b" : "\x1b[D";
    case 'F':
      return "\x1b[F";
    case 'H':
      return "\x1b[H";
    default:
      return "";
  }
}

std::string_view key_of(std::string_view sequence) {
  const auto* const found = std::ranges::find(kKeys, sequence, &KeyName::sequence);
  if (found != kKeys.end()) return found->key;
  return sequence.find_first_of("<=>?") == sequence.npos ? plain_key(sequence) : "";
}

// Maps Alt with a letter, which terminals send as ESC and that letter.
std::string_view alt_key(char letter) {
  switch (letter) {
    case 'b':
    case 'B':
      return "\033b";
    case 'f':
    case 'F':
      return "\033f";
    case 'd':
    case 'D':
      return "\033d";
    case '<':
      return "\x1b[5~";
    case '>':
      return "\x1b[6~";
    case '\x7f':
    case '\b':
      return "\x1b\x7f";
    case '\r':
    case '\n':
      return KeyFilter::kNewLine;
    default:
      return "";
  }
}

void add_key(std::string_view key, FilteredKeys& out) {
  const auto* const word = std::ranges::find(kWordKeys, key, &WordKey::key);
  if (word == kWordKeys.end()) {
    out.keys += key;
  } else {
    out.actions.push_back({.kind = word->kind});
    out.keys += KeyFilter::kActionKey;
  }
}

bool is_word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte);
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

int bytes_after(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
}

// Returns the text with '
// ' for line breaks, kTabSign for tabs, and no other control characters.
std::string pasted_text(std::string_view raw) {
  std::string text;
  for (size_t i = 0; i < raw.size(); ++i) {
    const auto byte = static_cast<unsigned char>(raw[i]);
    if (raw[i] == '\r') {
      text += '\n';
      if (i + 1 < raw.size() && raw[i + 1] == '\n') ++i;
    } else if (raw[i] == '\t') {
      text += KeyFilter::kTabSign;
    } else if (byte == 0xC2 && i + 1 < raw.size() && static_cast<unsigned char>(raw[i + 1]) < 0xA0) {
      ++i;  // a two-byte control character
    } else if (raw[i] == '\n' || (byte >= 0x20 && byte != 0x7F)) {
      text += raw[i];
    }
  }
  return text;
}

}  // namespace

std::string keys_for(const EditAction& action, std::string_view line, size_t cursor) {
  using Kind = EditAction::Kind;
  if (action.kind == Kind::kPaste) return "";
  const bool left = action.kind == Kind::kWordLeft || action.kind == Kind::kDeleteWordLeft;
  size_t begin = std::min(cursor, line.size());
  size_t end = begin;
  if (left) {
    while (begin > 0 && !is_word_byte(line[begin - 1])) --begin;
    while (begin > 0 && is_word_byte(line[begin - 1])) --begin;
  } else {
    while (end < line.size() && !is_word_byte(line[end])) ++end;
    while (end < line.size() && is_word_byte(line[end])) ++end;
  }
  const std::string_view key = action.kind == Kind::kWordLeft         ? "\x1b[D"
                               : action.kind == Kind::kWordRight      ? "\x1b[C"
                               : action.kind == Kind::kDeleteWordLeft ? "\x7f"
                                                                      : "\x1b[3~";
  std::string keys;
  for (const char c : line.substr(begin, end - begin)) keys += begins_character(c) ? key : "";
  return keys;
}

FilteredKeys KeyFilter::feed(std::string_view bytes) {
  FilteredKeys out;
  for (const char byte : bytes) take(byte, out);
  return out;
}

void KeyFilter::end_sequence() {
  if (!in_sequence()) return;
  state_ = State::kGround;
  sequence_.clear();
}

void KeyFilter::take(char byte, FilteredKeys& out) {
  switch (state_) {
    case State::kGround:
      return take_ground(byte, out);
    case State::kEscape:
      return take_escape(byte, out);
    case State::kSequence:
      return take_sequence(byte, out);
    case State::kFunctionKey:  // Linux's console: ESC [ [ A
      return end_sequence();
    case State::kString:  // until BEL or ESC '\'
      if (byte == '\a' || (byte == '\\' && sequence_ == "\x1b")) return end_sequence();
      sequence_ = byte;
      return;
    case State::kMouse:
    case State::kCharacter:
      if (--n_to_skip_ == 0) end_sequence();
      return;
    case State::kPaste:
      return take_paste(byte, out);
  }
}

void KeyFilter::take_ground(char byte, FilteredKeys& out) {
  const auto value = static_cast<unsigned char>(byte);
  if (byte == kEscape) {
    state_ = State::kEscape;
  } else if (byte == '\n') {
    out.keys += '\r';  // Ctrl-J, or input typed before the terminal was in raw mode
  } else if (byte == '\x1a') {
    out.suspend = true;
  } else if (value >= 0x20 || kControls.contains(byte)) {
    out.keys += byte;
    out.n_tabs += byte == '\t';
  }
}

void KeyFilter::take_escape(char byte, FilteredKeys& out) {
  if (byte == kEscape) return;  // ESC ESC [ A: an arrow with Alt
  if (byte == '[' || byte == 'O') {
    state_ = State::kSequence;
    sequence_ = byte;
    return;
  }
  if (byte == ']' || byte == 'P' || byte == '_' || byte == '^') {
    state_ = State::kString;
    return;
  }
  n_to_skip_ = bytes_after(byte);
  state_ = n_to_skip_ > 0 ? State::kCharacter : State::kGround;
  add_key(alt_key(byte), out);
}

void KeyFilter::take_sequence(char byte, FilteredKeys& out) {
  const auto value = static_cast<unsigned char>(byte);
  if (value < 0x20 || value > 0x7E) {  // cannot be part of a sequence, so it was none
    end_sequence();
    return take_ground(byte, out);
  }
  sequence_ += byte;
  if (sequence_ == "[[") {
    state_ = State::kFunctionKey;
    return;
  }
  if (value < 0x40) return;
  const std::string whole = std::exchange(sequence_, "");
  state_ = State::kGround;
  if (whole == "[200~") {
    state_ = State::kPaste;
  } else if (whole == "[M") {
    state_ = State::kMouse;
    n_to_skip_ = 3;
  } else {
    add_key(key_of(whole), out);
  }
}

void KeyFilter::take_paste(char byte, FilteredKeys& out) {
  paste_ += byte;
  if (!paste_.ends_with(kPasteEnd)) return;
  paste_.resize(paste_.size() - kPasteEnd.size());
  std::string text = pasted_text(std::exchange(paste_, ""));
  state_ = State::kGround;
  if (text.empty()) return;
  out.actions.push_back({.kind = EditAction::Kind::kPaste, .text = std::move(text)});
  out.keys += kActionKey;
}

}  // namespace tern::cli
