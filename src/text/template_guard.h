// Refuses chat templates that would bring the process down. They come with model files, and the interpreter (minja)
// trusts them: it recurses as deep as a template nests, divides by zero, and indexes strings unchecked in slices with a
// step.
//
// This does not stop a template from asking for a lot of memory, e.g. by range(); neither does the model file itself.
#pragma once

#include <string>

#include "base/result.h"

namespace tern {

// kNotSupported, with the reason, for a template that
//  - is larger than 64 KiB, has a run of more than 1024 blanks, or 4000 characters of code in one block,
//  - nests brackets or blocks more than 64 deep, or uses recursive loops,
//  - has a macro or a call block inside a loop or a macro (each would stay in memory for good),
//  - divides by anything but a positive literal, or slices with a step other than [::-1].
// No published template that we know of does.
//
// The result is the template with its comments emptied: they are matched by a recursive regular expression.
Result<std::string> guard_template(std::string source);

}  // namespace tern
