// Translates terminal input for the line editor: keys that it has an action for, and pasted text as one piece.
// Everything else is dropped, so that no key leaves stray characters in the line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tern::cli {

// An action that the editor lacks or does differently: isocline's words begin where the one before ends.
struct EditAction {
  enum class Kind { kPaste, kWordLeft, kWordRight, kDeleteWordLeft, kDeleteWordRight };
  Kind kind;
  std::string text = {};  // pasted
};

// Returns the keys that do `action` (none for a paste) in this line with the cursor at this byte. Words are as in bash:
// letters and digits.
std::string keys_for(const EditAction& action, std::string_view line, size_t cursor);

struct FilteredKeys {
  std::string keys;                 // bytes for the editor
  std::vector<EditAction> actions;  // in the order of their kActionKey in `keys`
  int n_tabs = 0;                   // Tab keys in `keys`
  bool suspend = false;             // Ctrl-Z was pressed
};

class KeyFilter {
 public:
  static constexpr std::string_view kActionKey = "\x1b[63;3u";  // Alt-?: a second Tab key that users do not press
  static constexpr std::string_view kNewLine = "\n";            // inserts a line break; Enter is '\r'
  // Stands for a tab in pasted text until the line is done; the editor would draw a tab one column wide.
  static constexpr std::string_view kTabSign = "␉";

  FilteredKeys feed(std::string_view bytes);

  // True if bytes of a sequence are missing. They arrive immediately; if they do not, the user pressed Esc.
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
  int n_to_skip_ = 0;  // bytes left of a mouse report or a character
};

}  // namespace tern::cli
