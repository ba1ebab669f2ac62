#!/usr/bin/env python3
"""Turns a `tern synth --type tq2_0` file into one that llama.cpp loads, for measuring both on the same shape.

llama.cpp knows the architecture as "bitnet" and needs a vocabulary entry; the tensors are copied as they are. (Its graph has
SiLU where the model has ReLU², which does not matter for speed.) Needs Debian's python3-gguf.

usage: make_peer_model.py IN.gguf OUT.gguf
"""
import sys

import gguf


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    reader = gguf.GGUFReader(sys.argv[1])
    source = reader.fields["general.architecture"].contents()

    def value(key: str):
        return reader.fields[f"{source}.{key}"].contents()

    writer = gguf.GGUFWriter(sys.argv[2], "bitnet")
    writer.add_vocab_size(value("vocab_size"))
    writer.add_context_length(value("context_length"))
    writer.add_embedding_length(value("embedding_length"))
    writer.add_block_count(value("block_count"))
    writer.add_feed_forward_length(value("feed_forward_length"))
    writer.add_head_count(value("attention.head_count"))
    writer.add_head_count_kv(value("attention.head_count_kv"))
    writer.add_layer_norm_rms_eps(value("attention.layer_norm_rms_epsilon"))
    writer.add_rope_freq_base(value("rope.freq_base"))
    writer.add_rope_dimension_count(value("rope.dimension_count"))
    writer.add_tokenizer_model("no_vocab")
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
