// The rows of the table in study.cc. Each is defined in its kernel's file.
#pragma once

#include "backend/cpu/study/study.h"

namespace tern::cpu::study {

// The least number of rows that a worker claims at a time.
inline constexpr int kRowGrain = 16;

Kernel f32_kernel();
Kernel two_bit_scalar_kernel();
Kernel two_bit_float_kernel();
Kernel two_bit_lut_kernel();
Kernel base3_scalar_kernel();
Kernel base3_lut_kernel();
Kernel base3_int8_kernel();
Kernel tmac_int8_kernel();
Kernel engine_i2_s_kernel();
Kernel engine_base3_kernel();

}  // namespace tern::cpu::study
