// Makes text from files safe to show on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace tern {

// Returns `text` with everything escaped that could act on a terminal invisibly, as \u001b, \u009b, \u202e and \xff:
// control characters (including C1, which start escape sequences as ESC does), marks that change the writing direction
// and can disguise a name, and bytes that are not UTF-8. Line feeds and tabs stay. The meaning of JSON does not change.
// Errors and names returned by Tern may contain text from a model file or a hub.
std::string visible(std::string_view text);

}  // namespace tern
