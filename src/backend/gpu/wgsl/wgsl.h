// A typed WGSL embedded in C++. Tracing a C++ function once writes one WGSL module. Read in this order: types.h (tags),
// values.h (expressions), statements.h, memory.h, kernel.h. subgroup.h, subgroup_matrix.h and builtins.h are the
// library of functions.
#pragma once

#include "backend/gpu/wgsl/builtins.h"
#include "backend/gpu/wgsl/kernel.h"
#include "backend/gpu/wgsl/memory.h"
#include "backend/gpu/wgsl/statements.h"
#include "backend/gpu/wgsl/subgroup.h"
#include "backend/gpu/wgsl/subgroup_matrix.h"
#include "backend/gpu/wgsl/types.h"
#include "backend/gpu/wgsl/values.h"
