// Reads one tool call, or one list or section of calls, while it arrives byte by byte. Each kind of call has a reader.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tern/chat_reply.h"
#include "text/chat/forms/literal_match.h"

namespace tern {

// What has become certain: the beginning of a call, or more of its arguments.
struct CallPart {
  bool begins = false;
  std::string id = {}, name = {};
  std::string arguments = {};
};

class CallReader {
 public:
  enum class Step : uint8_t {
    kBad,   // the byte cannot be part of a call, or the call is too long; the byte was not added
    kMore,  // the byte was added
    kDone,  // the byte was added and ends the call
  };
  static constexpr size_t kMostBytes = size_t{1} << 20;

  CallReader() = default;
  CallReader(const CallReader&) = delete;
  CallReader& operator=(const CallReader&) = delete;
  virtual ~CallReader() = default;

  // The text with which a call begins; empty: none.
  virtual const std::string& mark() const = 0;
  // Tells if a call that needs no mark begins where only white space has come before; `end` is behind the mark it has.
  virtual Matched starts(std::string_view text) const = 0;

  // Starts a call with the text up to the end of its mark.
  virtual void begin(std::string_view text) = 0;
  virtual Step feed(char c) = 0;

  // The bytes that were added and belong to no part that has been taken.
  virtual const std::string& text() const = 0;
  // True if at most the end mark is missing.
  virtual bool may_end() const = 0;
  // The call has ended. True: all of it is in parts(). False: it is no call of a known function that the grammar
  // allows.
  virtual bool accept() = 0;
  // True if parts of the call were taken before its end: it is a call, even if it breaks off.
  virtual bool is_told() const = 0;
  // Text behind the call that had to be read to find its end.
  virtual std::string rest() { return {}; }
  // The parts that are certain and not yet taken.
  std::vector<CallPart> take() { return std::exchange(parts_, {}); }
  bool has_parts() const { return !parts_.empty(); }
  // See ChatReplyParser::partial_call().
  virtual std::optional<std::string> partial() const = 0;

 protected:
  std::vector<CallPart> parts_;
};

// The reader for calls of this format.
std::unique_ptr<CallReader> make_call_reader(const ToolCallFormat& format, const ChatReplyOptions& options);

}  // namespace tern
