// All block formats that are given as types, in the order of the enum.
#pragma once

#include "quant/iq4_nl.h"
#include "quant/q1_0.h"
#include "quant/q2_0.h"
#include "quant/q2_k.h"
#include "quant/q3_k.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"
#include "quant/tq1_0.h"
#include "quant/tq2_0.h"

namespace tern {

template <class... F>
struct FormatList {};

using BlockFormats = FormatList<Q8_0, Q6_K, Q5_K, Q5_1, Q5_0, Q4_K, Q4_1, Q4_0, IQ4_NL, IQ4_XS, Q3_K, Q2_K, Q2_0, PQ2_0,
                                PTQ1_0, Q1_0, TQ1_0, TQ2_0>;

}  // namespace tern
