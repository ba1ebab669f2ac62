// Compiles CLI11's function bodies once (CLI11_COMPILE). As a header-only library it costs 9 s in every file that
// includes it; this way it costs 1 s (GCC 16, -O3).
#include <CLI/CLI.hpp>
// CLI11's function bodies, in any order.
#include <CLI/impl/App_inl.hpp>
#include <CLI/impl/Argv_inl.hpp>
#include <CLI/impl/Config_inl.hpp>
#include <CLI/impl/Encoding_inl.hpp>
#include <CLI/impl/ExtraValidators_inl.hpp>
#include <CLI/impl/Formatter_inl.hpp>
#include <CLI/impl/Option_inl.hpp>
#include <CLI/impl/Split_inl.hpp>
#include <CLI/impl/StringTools_inl.hpp>
#include <CLI/impl/Validators_inl.hpp>
