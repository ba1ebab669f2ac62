// All block formats that are given as types, in the order of the enum.
#pragma once

#include "quant/formats/iq4_nl.h"
#include "quant/formats/mxfp4.h"
#include "quant/formats/q1_0.h"
#include "quant/formats/q2_0.h"
#include "quant/formats/q4_0.h"
#include "quant/formats/q4_1.h"
#include "quant/formats/q5_0.h"
#include "quant/formats/q8_0.h"
#include "quant/formats/stq1_0.h"
#include "quant/formats/tq1_0.h"
#include "quant/formats/tq2_0.h"
#include "quant/k_quants/q2_k.h"
#include "quant/k_quants/q3_k.h"
#include "quant/k_quants/q4_k.h"
#include "quant/k_quants/q5_k.h"
#include "quant/k_quants/q6_k.h"

namespace tern {

template <class... F>
struct FormatList {};

using BlockFormats = FormatList<Q8_0, Q6_K, Q5_K, Q5_1, Q5_0, Q4_K, Q4_1, Q4_0, IQ4_NL, IQ4_XS, MXFP4, Q3_K, Q2_K, Q2_0,
                                PQ2_0, PTQ1_0, Q1_0, TQ1_0, TQ2_0, STQ1_0>;

}  // namespace tern
