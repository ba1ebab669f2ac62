"""What the GPU kernels are broken by: lists of mutants, each for one test program."""
