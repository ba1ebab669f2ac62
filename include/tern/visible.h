// Text from files on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace tern {

// `text` with everything visible that could act on a terminal unseen: control characters (C1 too, which start escape
// sequences as ESC does), marks that turn the direction of writing, with which one name can look like another, and
// bytes that are no UTF-8, as \u001b, \u009b, \u202e and \xff. Line feeds and tabs stay. JSON stays what it means.
// Errors and names that Tern returns may hold what a model file or a hub says.
std::string visible(std::string_view text);

}  // namespace tern
