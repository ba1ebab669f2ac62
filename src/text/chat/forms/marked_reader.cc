#include "text/chat/forms/marked_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tern {
namespace {

using Piece = CallPiece::Kind;

constexpr std::string_view kWhite = " \t\r\n";
constexpr size_t kMostSlotBytes = 200;
constexpr size_t kMostSectionCalls = 1000;

}  // namespace

MarkedReader::MarkedReader(const ToolCallFormat& format, const ChatReplyOptions& options)
    : form_(*format.marked), options_(options), types_(options.tools) {
  const std::string first(text_of_piece(0));
  const bool has_section = !without_json_space(format.begin).empty();
  const std::string_view head = has_section ? format.begin : std::string_view(first);
  if (!has_section && !first.empty() && !form_.in_channels && form_.between.starts_with('<') &&
      first.find_first_of("<[") == std::string::npos) {
    word_ = without_json_space(first);
  }
  begins_with_name_ = !has_section && (first.empty() || !word_.empty());
  mark_ = begins_with_name_ ? first_tag(form_.between) : first_tag(head);
  // What follows the mark in the text before the first call, or in the first call itself.
  if (!begins_with_name_) head_ = head.substr(head.find(mark_) + mark_.size());
  if (!word_.empty()) head_ = form_.between.substr(mark_.size()) + first;
  if (has_section) {
    end_ = without_end_space(format.end);
    again_ = form_.between + first;
  } else {
    first_piece_ = first.empty() ? 0 : 1;
  }
  const size_t stop = std::min(form_.value_end.find_first_not_of(kWhite), form_.value_end.size());
  stop_space_ = form_.value_end.substr(0, stop);
  stop_ = first_tag(form_.value_end);
}

Matched MarkedReader::starts(std::string_view text) const {
  if (!begins_with_name_) return {Match::kNo, 0};
  if (!text.starts_with(word_)) return {word_.starts_with(text) ? Match::kMaybe : Match::kNo, 0};
  text.remove_prefix(word_.size());
  const size_t next = word_.empty() ? 1 : 2;
  const std::string_view behind = without_end_space(text_of_piece(next));
  bool may = false;
  for (const std::string& name : options_.tool_names) {
    may = may || name.starts_with(text);
    if (!text.starts_with(name)) continue;
    const std::string_view rest = text.substr(name.size());
    // The white space behind the name is the only sign of a call, so it must be there.
    const bool is_line = text_of_piece(next).starts_with('\n') && behind.empty();
    const Matched matched = is_line ? Matched{rest.empty()      ? Match::kMaybe
                                              : rest[0] == '\n' ? Match::kYes
                                                                : Match::kNo,
                                              0}
                                    : match_literal(rest, 0, behind);
    if (matched.match == Match::kYes) return {Match::kYes, word_.size()};
    may = may || matched.match == Match::kMaybe;
  }
  return {may ? Match::kMaybe : Match::kNo, 0};
}

std::string_view MarkedReader::text_of_piece(size_t i) const {
  return i < form_.pieces.size() && form_.pieces[i].kind == Piece::kText ? std::string_view(form_.pieces[i].text)
                                                                         : std::string_view();
}

void MarkedReader::begin(std::string_view text) {
  text_ = text;
  at_ = mark_end_ = text.size();
  kept_.clear();
  was_told_ = has_arguments_ = false;
  place_ = !word_.empty() && text.ends_with(word_) ? Place::kPiece : Place::kHead;
  piece_ = first_piece_;
  n_calls_ = 0;
  name_.clear();
  id_.clear();
}

CallReader::Step MarkedReader::feed(char c) {
  if (text_.size() >= kMostBytes) return Step::kBad;
  text_ += c;
  Progress progress = Progress::kMoved;
  while (progress == Progress::kMoved) progress = step();
  if (was_told_) tell();
  if (progress == Progress::kDone) return Step::kDone;
  if (progress != Progress::kBad) return Step::kMore;
  text_.pop_back();
  return Step::kBad;
}

MarkedReader::Progress MarkedReader::step() {
  switch (place_) {
    case Place::kHead: {
      const Progress progress = match(head_, Place::kPiece);
      if (!word_.empty()) mark_end_ = at_;
      return progress;
    }
    case Place::kPiece:
      return piece();
    case Place::kJson:
      return json();
    case Place::kPair:
      return pair();
    case Place::kKey:
      return key();
    case Place::kTextBegin:
      return text_begin();
    case Place::kElement:
      return element();
    case Place::kText:
      return plain_text();
    case Place::kLiteral:
      return literal();
    case Place::kValueEnd:
      return end_of_value();
    case Place::kBetween:
      return between();
  }
  return Progress::kBad;
}

MarkedReader::Progress MarkedReader::match(std::string_view literal, Place next) {
  const Matched matched = match_literal(text_, at_, literal);
  if (matched.match == Match::kNo) return Progress::kBad;
  if (matched.match == Match::kMaybe) return Progress::kWaits;
  at_ = matched.end;
  place_ = next;
  return Progress::kMoved;
}

MarkedReader::Progress MarkedReader::piece() {
  if (piece_ == form_.pieces.size()) return end_call();
  switch (form_.pieces[piece_].kind) {
    case Piece::kText: {
      const Progress progress = match(without_end_space(text_of_piece(piece_)), Place::kPiece);
      return progress == Progress::kMoved ? next_piece() : progress;
    }
    case Piece::kName:
      return name();
    case Piece::kId:
    case Piece::kIndex:
      return slot();
    case Piece::kArguments:
      return begin_arguments();
  }
  return Progress::kBad;
}

MarkedReader::Progress MarkedReader::next_piece() {
  ++piece_;
  place_ = Place::kPiece;
  return Progress::kMoved;
}

// The longest name of a function; more text is awaited while it may be a longer one. A second time it is the same.
MarkedReader::Progress MarkedReader::name() {
  if (std::ranges::find(form_.pieces, Piece::kName, &CallPiece::kind) - form_.pieces.begin() <
      static_cast<ptrdiff_t>(piece_)) {
    const Progress progress = match(name_, Place::kPiece);
    return progress == Progress::kMoved ? next_piece() : progress;
  }
  while (at_ < text_.size() && is_json_space(text_[at_])) ++at_;
  const std::string_view text = left();
  if (text.empty()) return Progress::kWaits;
  const std::string* longest = nullptr;
  for (const std::string& name : options_.tool_names) {
    if (name.size() > text.size() && name.starts_with(text)) return Progress::kWaits;
    if (text.starts_with(name) && (longest == nullptr || name.size() > longest->size())) longest = &name;
  }
  if (longest == nullptr) return Progress::kBad;
  name_ = *longest;
  at_ += longest->size();
  return next_piece();
}

// An id or an index ends where the text behind it begins.
MarkedReader::Progress MarkedReader::slot() {
  const bool is_index = form_.pieces[piece_].kind == Piece::kIndex;
  const std::string_view next = without_json_space(text_of_piece(piece_ + 1));
  const std::string_view text = left();
  const size_t end = next.empty() ? 0 : text.find(next[0]);
  const std::string_view slot = text.substr(0, end);
  if (slot.size() > kMostSlotBytes) return Progress::kBad;
  if (is_index && slot.find_first_not_of("0123456789") != slot.npos) return Progress::kBad;
  if (end == text.npos) return Progress::kWaits;
  if (is_index) {
    // The model's own id is the call's name with its index: "functions.f:0".
    const std::string_view before = piece_ >= 3 ? text_of_piece(piece_ - 3) : std::string_view();
    const std::string_view between = piece_ >= 1 ? text_of_piece(piece_ - 1) : std::string_view();
    id_ = std::string(before.substr(before.find_last_of('>') + 1)) + name_ + std::string(between) + std::string(slot);
    if (id_.find_first_of(" \"<") != std::string::npos) id_.clear();
  } else {
    id_ = slot;
  }
  at_ += slot.size();
  return next_piece();
}

MarkedReader::Progress MarkedReader::begin_arguments() {
  kept_.push_back({.begins = true, .id = id_, .name = name_});
  // A grammar that has allowed the text so far holds the rest of it.
  was_told_ =
      was_told_ ||
      (options_.stream_arguments &&
       (!options_.grammar || options_.grammar->may_begin(std::string_view(text_).substr(mark_end_, at_ - mark_end_))));
  has_pairs_ = false;
  open_.clear();
  path_.clear();
  scanner_ = {};
  if (form_.values != MarkedCalls::Values::kJson) {
    add("{");
    place_ = Place::kPair;
  } else {
    place_ = Place::kJson;
  }
  return Progress::kMoved;
}

MarkedReader::Progress MarkedReader::end_arguments() {
  has_arguments_ = true;
  return next_piece();
}

void MarkedReader::add(std::string_view arguments) { kept_.back().arguments += arguments; }

// Reports what is certain, and drops the text that was read.
void MarkedReader::tell() {
  for (CallPart& part : kept_) {
    if (part.begins || !part.arguments.empty()) parts_.push_back(std::move(part));
  }
  kept_.assign(1, {});
  text_.erase(0, at_);
  scanned_ -= std::min(scanned_, at_);
  at_ = 0;
}

MarkedReader::Progress MarkedReader::json() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (scanner_.depth() == 0 && c != '{') {
      if (!is_json_space(c)) return Progress::kBad;
      ++at_;
      continue;
    }
    const JsonScanner::Step scanned = scanner_.feed(c);
    if (scanned == JsonScanner::Step::kBad) return Progress::kBad;
    add(std::string_view(&c, 1));
    ++at_;
    if (scanned == JsonScanner::Step::kDone) return end_arguments();
  }
  return Progress::kWaits;
}

MarkedReader::Progress MarkedReader::end_call() {
  ++n_calls_;
  id_.clear();
  is_unfinished_ = true;
  if (again_.empty() && end_.empty()) return Progress::kDone;
  place_ = Place::kBetween;
  return Progress::kMoved;
}

MarkedReader::Progress MarkedReader::between() {
  const Matched again = match_literal(text_, at_, without_end_space(again_));
  const Matched end = match_literal(text_, at_, end_);
  if (again.match == Match::kYes && again.end > at_ && n_calls_ < kMostSectionCalls) {
    at_ = again.end;
    has_arguments_ = false;
    place_ = Place::kPiece;
    piece_ = text_of_piece(0).empty() ? 0 : 1;
    return Progress::kMoved;
  }
  if (end.match == Match::kYes) {
    at_ = end.end;
    is_unfinished_ = false;
    return Progress::kDone;
  }
  if (again.match == Match::kMaybe || end.match == Match::kMaybe) return Progress::kWaits;
  rest_ = left();  // the calls are complete, though the mark behind them is missing
  text_.resize(at_);
  return Progress::kDone;
}

bool MarkedReader::may_end() const {
  if (place_ == Place::kBetween || ends_pairs()) return true;
  return place_ == Place::kPiece && has_arguments_ && piece_ + 1 >= form_.pieces.size();
}

bool MarkedReader::accept() {
  if (ends_pairs()) {
    add("}");
    (void)end_arguments();
    if (was_told_) tell();
  }
  if (was_told_) return true;
  const auto is_json = [](std::string_view text) { return nlohmann::json::accept(text); };
  if (!std::ranges::all_of(kept_, is_json, &CallPart::arguments)) return false;
  if (options_.grammar && !options_.grammar->matches(whole())) return false;
  parts_ = std::exchange(kept_, {});
  return true;
}

// What the grammar describes: the text behind the mark, with the end that may be missing.
std::string MarkedReader::whole() const {
  std::string text = text_.substr(mark_end_, at_ - mark_end_);
  if (place_ == Place::kBetween && is_unfinished_) return text + end_;
  if (place_ == Place::kPiece && piece_ < form_.pieces.size()) return text + std::string(text_of_piece(piece_)) + end_;
  return text;
}

std::optional<std::string> MarkedReader::partial() const {
  if (was_told_) return "";
  if (!word_.empty() && place_ == Place::kHead) return std::nullopt;
  return text_.substr(mark_end_);
}

}  // namespace tern
