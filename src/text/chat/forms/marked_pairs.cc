// The arguments of a call between marks that are pairs of a key and a value.
#include <algorithm>

#include "text/chat/forms/marked_reader.h"

namespace tern {
namespace {

constexpr size_t kMostKeyBytes = 200;
constexpr size_t kMostElements = 64;  // inside each other, as JsonScanner

// Where `mark`, or a prefix of it that ends the text, begins, searching from `from`; the text's end: not found.
size_t find_mark(std::string_view text, std::string_view mark, size_t from) {
  for (size_t at = text.find(mark[0], from); at != text.npos; at = text.find(mark[0], at + 1)) {
    if (mark.starts_with(text.substr(at, mark.size()))) return at;
  }
  return text.size();
}

}  // namespace

// Another key, or the text behind the arguments.
MarkedReader::Progress MarkedReader::pair() {
  if (!open_.empty() && value_end().match == Match::kYes) {
    add(open_.back().is_list ? "]" : "}");
    open_.pop_back();
    has_pairs_ = true;
    return end_of_value();
  }
  const std::string begin = (has_pairs_ ? form_.pair_between : "") + form_.key_begin;
  const Matched end =
      open_.empty() ? match_literal(text_, at_, without_end_space(text_of_piece(piece_ + 1))) : value_end();
  if (end.match == Match::kYes) {
    add("}");
    return end_arguments();
  }
  const Matched more = match_literal(text_, at_, begin);
  if (more.match == Match::kMaybe || end.match == Match::kMaybe) return Progress::kWaits;
  if (more.match == Match::kNo) return Progress::kBad;
  at_ = more.end;
  place_ = Place::kKey;
  return Progress::kMoved;
}

// True if the text that waits begins the last text of a call, and no other pair: only a part of that is missing.
bool MarkedReader::ends_pairs() const {
  if (place_ != Place::kPair || !open_.empty() || piece_ + 2 != form_.pieces.size() ||
      without_json_space(left()).empty())
    return false;
  const std::string begin = (has_pairs_ ? form_.pair_between : "") + form_.key_begin;
  return match_literal(text_, at_, without_end_space(text_of_piece(piece_ + 1))).match == Match::kMaybe &&
         match_literal(text_, at_, begin).match == Match::kNo;
}

MarkedReader::Progress MarkedReader::key() {
  const std::string_view stop = without_json_space(form_.key_end);
  const std::string_view text = left();
  const size_t end = text.find(stop[0]);
  const size_t space = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  if (std::min(end, text.size()) - space > kMostKeyBytes) return Progress::kBad;
  if (end == text.npos) return Progress::kWaits;
  const bool has_other = !form_.key_end_other.empty() && form_.key_end_other != form_.key_end;
  const Matched one = match_literal(text_, at_ + end, form_.key_end);
  const Matched other = has_other ? match_literal(text_, at_ + end, form_.key_end_other) : Matched{Match::kNo, 0};
  if (one.match == Match::kNo && other.match == Match::kNo) return Progress::kBad;
  if (one.match != Match::kYes && other.match != Match::kYes) return Progress::kWaits;
  key_ = without_json_space(text.substr(0, end));
  if (key_.empty()) return Progress::kBad;
  if (!form_.type_end.empty()) return typed_value(one.end);
  at_ = one.match == Match::kYes ? one.end : other.end;
  if (!has_other) return begin_value(std::nullopt);
  return begin_value(one.match == Match::kYes ? kStringArgument : kAnyArgument & ~kStringArgument);
}

// The name of the value's type and the mark behind it, from `begin` on.
MarkedReader::Progress MarkedReader::typed_value(size_t begin) {
  const std::string_view text = std::string_view(text_).substr(begin);
  const size_t end = text.find(form_.type_end[0]);
  if (std::min(end, text.size()) > kMostKeyBytes) return Progress::kBad;
  if (end == text.npos) return Progress::kWaits;
  const Matched mark = match_literal(text_, begin + end, form_.type_end);
  const uint8_t types = argument_type_named(text.substr(0, end));
  if (mark.match == Match::kMaybe) return Progress::kWaits;
  if (mark.match == Match::kNo || types == 0) return Progress::kBad;
  at_ = mark.end;
  return begin_value(types);
}

// What ends a value. If that has the key again, the elements around it tell which one it must be.
Matched MarkedReader::value_end() const {
  const Matched begin = match_literal(text_, at_, without_end_space(form_.value_end));
  if (begin.match != Match::kYes || form_.value_end_name.empty()) return begin;
  const size_t end = text_.find(form_.value_end_name[0], begin.end);
  if (std::min(end, text_.size()) - begin.end > kMostKeyBytes) return {Match::kNo, at_};
  if (end == text_.npos) return {Match::kMaybe, at_};
  return match_literal(text_, end, without_end_space(form_.value_end_name));
}

MarkedReader::Progress MarkedReader::end_of_value() {
  const Matched end = value_end();
  if (end.match == Match::kNo) return Progress::kBad;
  if (end.match == Match::kMaybe) return Progress::kWaits;
  at_ = end.end;
  path_.pop_back();
  place_ = Place::kPair;
  return Progress::kMoved;
}

// What JSON has before the value of key_. The first element of a value tells whether that is a list.
void MarkedReader::begin_key() {
  if (!open_.empty() && !has_pairs_) {
    Open& open = open_.back();
    open.is_list = (open.types & kListArgument) != 0 && ((open.types & kObjectArgument) == 0 || key_ == form_.item);
    add(open.is_list ? "[" : "{");
  }
  if (has_pairs_) add(", ");
  const bool is_item = !open_.empty() && open_.back().is_list;
  path_.push_back(is_item ? std::string() : key_);
  has_pairs_ = true;
  if (is_item) return;
  std::string quoted;
  append_json_text(key_, quoted);
  add('"' + quoted + "\": ");
}

// `types` are those that the marks tell.
MarkedReader::Progress MarkedReader::begin_value(std::optional<uint8_t> types) {
  begin_key();
  if (form_.values == MarkedCalls::Values::kElements) {
    value_types_ = types_.of(name_, path_);
    place_ = Place::kElement;
    return Progress::kMoved;
  }
  if (form_.values != MarkedCalls::Values::kText) {
    literal_ = LiteralReader(form_.values == MarkedCalls::Values::kGemma);
    place_ = Place::kLiteral;
    return Progress::kMoved;
  }
  value_types_ = types ? *types : types_.of(name_, path_);
  is_quoted_ = false;
  place_ = form_.text_begin.empty() ? Place::kText : Place::kTextBegin;
  if (place_ == Place::kText) begin_text();
  return Progress::kMoved;
}

MarkedReader::Progress MarkedReader::element() {
  const auto nested = static_cast<uint8_t>(value_types_ & (kListArgument | kObjectArgument));
  const bool may_be_text = (value_types_ & kStringArgument) != 0;
  size_t begin = at_;
  while (nested != 0 && !may_be_text && begin < text_.size() && is_json_space(text_[begin])) ++begin;
  const std::string_view rest = std::string_view(text_).substr(begin);
  if (nested != 0 && form_.value_end.starts_with(rest) && rest.size() < form_.value_end.size()) return Progress::kWaits;
  if (nested != 0 && rest.starts_with(form_.key_begin) && !rest.starts_with(form_.value_end)) {
    if (open_.size() == kMostElements) return Progress::kBad;
    at_ = begin + form_.key_begin.size();
    open_.push_back({value_types_, false});
    has_pairs_ = false;
    place_ = Place::kKey;
    return Progress::kMoved;
  }
  if (may_be_text) value_types_ = static_cast<uint8_t>(value_types_ & ~nested);
  begin_text();
  return Progress::kMoved;
}

// The value that a text without elements is.
std::string MarkedReader::json_of(std::string_view text) const {
  const bool is_empty = form_.values == MarkedCalls::Values::kElements && without_json_space(text).empty();
  if (is_empty && (value_types_ & kStringArgument) == 0) {
    if ((value_types_ & kListArgument) != 0) return "[]";
    if ((value_types_ & kObjectArgument) != 0) return "{}";
  }
  return json_of_text(text, value_types_);
}

void MarkedReader::begin_text() {
  if (value_types_ == kStringArgument) add("\"");
  scanned_ = at_;
  place_ = Place::kText;
}

// A string may stand between marks of its own.
MarkedReader::Progress MarkedReader::text_begin() {
  const std::string_view mark = form_.text_begin;
  is_quoted_ = left().starts_with(mark);
  if (!is_quoted_ && mark.starts_with(left())) return Progress::kWaits;
  if (is_quoted_) {
    at_ += mark.size();
    if ((value_types_ & kStringArgument) != 0) value_types_ = kStringArgument;
  }
  begin_text();
  return Progress::kMoved;
}

MarkedReader::Progress MarkedReader::plain_text() {
  const std::string_view stop = is_quoted_ ? form_.text_end : stop_;
  const std::string_view stop_space = is_quoted_ ? std::string_view() : stop_space_;
  const size_t found = find_mark(text_, stop, std::max(scanned_, at_));
  const bool is_end = found + stop.size() <= text_.size();
  size_t end = found;
  for (size_t n = std::min(stop_space.size(), end - at_); n > 0; --n) {
    const std::string_view before = std::string_view(text_).substr(0, end);
    if (!before.ends_with(stop_space.substr(0, n)) || (is_end && n < stop_space.size())) continue;
    end -= n;
    break;
  }
  scanned_ = found;
  if (value_types_ == kStringArgument) {
    std::string quoted;
    append_json_text(std::string_view(text_).substr(at_, end - at_), quoted);
    add(quoted);
    at_ = end;
  }
  if (!is_end) return Progress::kWaits;
  add(value_types_ == kStringArgument ? "\"" : json_of(left().substr(0, end - at_)));
  at_ = found + (is_quoted_ ? stop.size() : 0);
  place_ = Place::kValueEnd;
  return Progress::kMoved;
}

MarkedReader::Progress MarkedReader::literal() {
  while (at_ < text_.size()) {
    std::string json;
    const LiteralReader::Step step = literal_.feed(text_[at_], json);
    add(json);
    if (step == LiteralReader::Step::kBad) return Progress::kBad;
    if (step == LiteralReader::Step::kEnd) {
      place_ = Place::kValueEnd;
      return Progress::kMoved;
    }
    ++at_;
  }
  return Progress::kWaits;
}

}  // namespace tern
