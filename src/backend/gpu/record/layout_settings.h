// Layouts as text, for what tries others: "square=16x1x512" sets Layouts::square.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/gpu/record/layouts.h"

namespace tern::gpu {

// False where there is no such setting or its values are not of its kind; it may still not suit the device.
bool apply_setting(Layouts& layouts, std::string_view setting);

// A layout that matters to a model, and the values that `tern tune` tries.
struct Knob {
  std::string name;
  bool is_of_prompts = false;  // else of decoding
  std::vector<std::string> values;
};
std::vector<Knob> knobs(bool is_ternary);

// Whether a knob has this value: nothing else is taken from a file.
bool is_of_a_knob(std::string_view setting);

}  // namespace tern::gpu
