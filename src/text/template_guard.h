// Refuses chat templates that would bring the process down. They come with model files, and the interpreter (minja)
// trusts them: it recurses as deep as a template nests, divides by zero, and indexes strings unchecked in slices with a
// step.
//
// What runs for long or asks for much is stopped while it does; see template_scope.h. Here is refused what would get
// past that: whatever makes much out of little within one expression.
#pragma once

#include <string>

#include "base/result.h"

namespace tern {

// kNotSupported, with the reason, for a template that
//  - is larger than 64 KiB, has a run of more than 1024 blanks, or 4000 characters of code in one block,
//  - nests brackets or blocks more than 64 deep, or uses recursive loops,
//  - has a macro or a call block inside a loop or a macro (each would stay in memory for good),
//  - multiplies, adds more than 200 texts in one block, replaces or splits by anything but texts in quotes, or changes
//    a list or an object in place (transformers forbids that too),
//  - divides by anything but a positive literal, or slices with a step other than [::-1].
// No published template that we know of does.
//
// The result is the template with its comments emptied: they are matched by a recursive regular expression.
Result<std::string> guard_template(std::string source);

}  // namespace tern
