// What a terminal sends, made into what the line editor understands: keys that it has an action for, and pasted text as
// one piece. Everything else is swallowed: no key may leave characters in the line that nobody typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tern::cli {

// What the editor has no key for, or the wrong one: isocline's words begin where the one before ends.
struct EditAction {
  enum class Kind { kPaste, kWordLeft, kWordRight, kDeleteWordLeft, kDeleteWordRight };
  Kind kind;
  std::string text = {};  // pasted
};

// The keys that do `action` (none for a paste) in a line of this text with the cursor at this byte, as bash has it: a
// word is letters and digits.
std::string keys_for(const EditAction& action, std::string_view line, size_t cursor);

struct FilteredKeys {
  std::string keys;                 // bytes for the editor
  std::vector<EditAction> actions;  // in the order of their kActionKey in `keys`
  int n_tabs = 0;                   // Tab keys in `keys`
  bool suspend = false;             // Ctrl-Z was pressed
};

class KeyFilter {
 public:
  static constexpr std::string_view kActionKey = "\x1b[63;3u";  // Alt-?: another name for Tab, which nobody types
  static constexpr std::string_view kNewLine = "\n";            // inserts a line break; Enter is '\r'
  // A tab in pasted text, which the editor would draw one column wide: a character of its own until the line is done.
  static constexpr std::string_view kTabSign = "␉";

  FilteredKeys feed(std::string_view bytes);

  // Whether bytes of a sequence are missing. Those come at once; where they do not, a person pressed Esc.
  bool in_sequence() const { return state_ != State::kGround && state_ != State::kPaste; }
  void end_sequence();

 private:
  enum class State { kGround, kEscape, kSequence, kFunctionKey, kString, kMouse, kCharacter, kPaste };

  void take(char byte, FilteredKeys& out);
  void take_ground(char byte, FilteredKeys& out);
  void take_escape(char byte, FilteredKeys& out);
  void take_sequence(char byte, FilteredKeys& out);
  void take_paste(char byte, FilteredKeys& out);

  State state_ = State::kGround;
  std::string sequence_;  // after ESC
  std::string paste_;
  int n_to_skip_ = 0;  // bytes of a mouse report or of a character
};

}  // namespace tern::cli
