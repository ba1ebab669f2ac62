// Writes every kernel of golden/ into a folder: golden_writer FOLDER. Built by compare_compilers.cmake.
#include <fstream>

#include "backend/gpu/kernels/golden_cases.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (const tern::gpu::GoldenCase& c : tern::gpu::golden_cases()) {
    std::ofstream out(std::string(argv[1]) + "/" + c.file, std::ios::binary);
    if (!(out << c.module.text)) return 1;
  }
}
