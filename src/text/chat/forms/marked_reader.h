// Reads calls whose name and arguments stand between marks (MarkedCalls). Arguments are reported as a JSON object.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/chat/forms/argument_types.h"
#include "text/chat/forms/call_reader.h"
#include "text/chat/forms/json_scanner.h"
#include "text/chat/forms/literal_reader.h"

namespace tern {

class MarkedReader final : public CallReader {
 public:
  MarkedReader(const ToolCallFormat& format, const ChatReplyOptions& options);

  const std::string& mark() const override { return mark_; }
  Matched starts(std::string_view text) const override;
  void begin(std::string_view text) override;
  Step feed(char c) override;
  const std::string& text() const override { return text_; }
  bool may_end() const override;
  bool accept() override;
  bool is_told() const override { return was_told_; }
  std::string rest() override { return std::exchange(rest_, {}); }
  std::optional<std::string> partial() const override;

 private:
  enum class Place : uint8_t {
    kHead,   // before the first call
    kPiece,  // of a call
    kJson,   // inside the arguments, one JSON object
    kPair,   // before a key, or at the end of the arguments
    kKey,
    kTextBegin,  // before a value that may have marks of its own
    kElement,    // before a value that may be a list or an object
    kText,       // inside a value in plain text
    kLiteral,    // inside a value in another notation
    kValueEnd,
    kBetween,  // after a call
  };
  enum class Progress : uint8_t { kBad, kWaits, kMoved, kDone };

  Progress step();
  Progress match(std::string_view literal, Place next);
  Progress piece();
  Progress next_piece();
  Progress name();
  Progress slot();
  Progress json();
  Progress pair();
  bool ends_pairs() const;
  Progress key();
  Matched value_end() const;
  Progress end_of_value();
  Progress typed_value(size_t begin);
  Progress begin_value(std::optional<uint8_t> types);
  void begin_key();
  Progress element();
  std::string json_of(std::string_view text) const;
  void begin_text();
  Progress text_begin();
  Progress plain_text();
  Progress literal();
  Progress between();
  Progress end_call();
  Progress begin_arguments();
  Progress end_arguments();
  void add(std::string_view arguments);
  void tell();
  std::string whole() const;
  std::string_view left() const { return std::string_view(text_).substr(at_); }
  std::string_view text_of_piece(size_t i) const;

  const MarkedCalls form_;
  const ChatReplyOptions& options_;
  const ArgumentTypes types_;
  std::string mark_, head_, end_, again_;  // again_: between two calls, with the second one's first text
  std::string stop_, stop_space_;          // behind a value in plain text: its mark, and white space before it
  std::string word_;                       // before the name, where that is no mark
  bool begins_with_name_ = false;          // a call begins with its function's name; the mark is between two
  size_t first_piece_ = 0;                 // of the section's first call: 1 if the mark is part of piece 0

  std::string text_;
  size_t at_ = 0;               // the first byte that is not read
  size_t mark_end_ = 0;         // in text_
  std::vector<CallPart> kept_;  // parts that are not reported before the end
  bool was_told_ = false;       // some parts were reported, and their text dropped
  Place place_ = Place::kHead;
  size_t piece_ = 0;
  bool has_arguments_ = false;  // of this call, complete
  bool has_pairs_ = false;      // of the innermost object or list
  bool is_unfinished_ = false;  // the section's end is missing
  size_t n_calls_ = 0;
  std::string name_, id_, key_, rest_;
  JsonScanner scanner_;
  LiteralReader literal_;
  size_t scanned_ = 0;  // where the search for stop_ goes on
  // Lists and objects whose elements are being read.
  struct Open {
    uint8_t types;
    bool is_list;
  };
  std::vector<Open> open_;
  std::vector<std::string> path_;  // of the value, as ArgumentTypes takes it
  uint8_t value_types_ = 0;
  bool is_quoted_ = false;  // the value stands between text_begin and text_end
};

}  // namespace tern
