// The marks around a model's thoughts, and the channels of gpt-oss.
#pragma once

#include <string_view>

#include "text/chat/forms/call_probe.h"

namespace tern {

// Sets the marks that the template writes around a thought, or that its source mentions. `prompt`: see CallProbe.
void find_thought_marks(std::string_view source, const RenderProbe& render, std::string_view prompt,
                        ChatFormat& format);

}  // namespace tern
