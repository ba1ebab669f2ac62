// Settings of layouts as text, for tools that try other layouts: "square=16x1x512" sets Layouts::square.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/gpu/record/layouts.h"

namespace tern::gpu {

// False if there is no such setting or its value has the wrong form. A valid setting may still not suit the device.
bool apply_setting(Layouts& layouts, std::string_view setting);

// A setting that matters to a model, and the values that `tern tune` tries.
struct Knob {
  std::string name;
  bool is_of_prompts = false;  // false: of decoding
  std::vector<std::string> values;
};
std::vector<Knob> knobs(bool is_ternary);

// True if this is one of the values of a knob: no other settings are accepted from a file.
bool is_layout_setting(std::string_view setting);

}  // namespace tern::gpu
