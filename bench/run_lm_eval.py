#!/usr/bin/env python3
"""Runs lm-evaluation-harness on small tasks of stories: through `tern serve`, and in transformers on the same weights.

usage: run_lm_eval.py LM_EVAL URL [--documents N]

LM_EVAL: a copy of the harness's repository, which stays as it is. URL: a server of models/tern-stories.gguf, such as
http://127.0.0.1:8080. Prints the harness's scores of both, and how far the log-likelihoods of the same request are apart.
Python and transformers are those of `./setup --oracle`. Debian lacks some libraries that the harness imports (`datasets`,
`sacrebleu` and others). Their places are taken by empty modules, because these tasks do not use them.
"""

import argparse
import importlib.metadata
import logging
import random
import sys
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "training"), str(ROOT / "tests/golden/bitnet"), str(ROOT / "tests/golden")]
N_CHOICES = 4


class Unused:
    """A member of a library that is not there: it may be named, and called as a decorator, but does nothing."""

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    def __call__(self, function: Any) -> Any:
        return function


def unused_member(name: str) -> type[Unused]:
    if name.startswith("__"):
        raise AttributeError(name)
    return Unused


def fill_places(names: tuple[str, ...]) -> None:
    for name in names:
        try:
            __import__(name)
        except ModuleNotFoundError:
            module = types.ModuleType(name)
            module.__path__, module.__spec__, module.__version__ = [], types.SimpleNamespace(name=name), "0"
            module.__getattr__ = unused_member  # PEP 562
            sys.modules[name] = module


class Documents(list):
    """What the harness asks of a data set."""

    @property
    def features(self) -> dict[str, Any]:
        return self[0]


def documents(n: int) -> Documents:
    """Stories up to a sentence, with that sentence and others that come from other stories."""
    import skeletons

    rng = random.Random(7)
    stories = [skeletons.expand(rng.choice(skeletons.load(ROOT / "training/stories")), rng).text for _ in range(n + 40)]
    sentences = [story.replace("\n\n", " ").split(". ") for story in stories]
    made = Documents()
    for i in range(n):
        at = len(sentences[i]) // 2
        others = [rng.choice(rng.choice(sentences[:i] + sentences[i + 1 :])) for _ in range(N_CHOICES - 1)]
        choices = [" " + text.rstrip(".") + "." for text in [sentences[i][at], *others]]
        order = rng.sample(range(N_CHOICES), N_CHOICES)
        made.append({"context": ". ".join(sentences[i][:at]) + ".", "choices": [choices[j] for j in order],
                     "label": order.index(0), "text": stories[i]})
    return made


def tasks(n: int) -> list[dict[str, Any]]:
    def task(name: str, metrics: tuple[str, ...], **config: Any) -> dict[str, Any]:
        return {"task": name, "custom_dataset": lambda **_: {"test": documents(n)}, "test_split": "test",
                "metric_list": [{"metric": metric} for metric in metrics], **config}

    return [
        task("next_sentence", ("acc", "acc_norm"), output_type="multiple_choice", doc_to_text="{{context}}",
             doc_to_target="{{label}}", doc_to_choice="{{choices}}", target_delimiter=""),
        task("stories", ("word_perplexity", "byte_perplexity"), output_type="loglikelihood_rolling", doc_to_text="",
             doc_to_target="{{text}}"),
        task("write_on", ("exact_match",), output_type="generate_until", doc_to_text="{{context}}",
             doc_to_target="{{choices[label]}}", target_delimiter="",
             generation_kwargs={"until": ["."], "max_gen_toks": 24, "do_sample": False}),
    ]


def as_harness_model(oracle: Any) -> Any:
    """The default model in transformers, as the harness wants models."""
    import torch
    from lm_eval.api.model import TemplateLM

    class Network(TemplateLM):
        def __init__(self) -> None:
            super().__init__()
            self.oracle = oracle

        @property
        def eot_token_id(self) -> int:
            return 0

        def tok_encode(self, string: str, add_special_tokens: bool | None = None, **options: Any) -> list[int]:
            return self.oracle.encode(string)

        def scores(self, tokens: list[int], n: int) -> tuple[float, bool]:
            """Of the last n tokens: the sum of their logarithms, and whether each is the likeliest."""
            rows = torch.tensor(self.oracle.forward.logits(self.oracle.network, tokens)).double().log_softmax(-1)[-n - 1 : -1]
            last = torch.tensor(tokens[-n:])
            return float(rows.gather(1, last[:, None]).sum()), bool((rows.argmax(-1) == last).all())

        def _loglikelihood_tokens(self, requests: list[Any], **options: Any) -> list[tuple[float, bool]]:
            return [self.scores(context + rest, len(rest)) for _, context, rest in requests]

        def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
            texts = [self.tok_encode(request.args[0]) for request in requests]
            return [self.scores([self.eot_token_id, *tokens], len(tokens))[0] for tokens in texts]

        def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
            written = []
            for request in requests:
                text, options = request.args
                ids, _ = self.oracle.forward.greedy(self.oracle.network, self.tok_encode(text), options["max_gen_toks"], (0,))
                written.append(self.oracle.tokenizer.decode(ids, skip_special_tokens=True).split(options["until"][0])[0])
            return written

    return Network()


def evaluate(model: Any, n: int, **options: Any) -> dict[str, Any]:
    import lm_eval.evaluator

    return lm_eval.evaluator.simple_evaluate(model=model, tasks=tasks(n), log_samples=True, bootstrap_iters=0, **options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lm_eval", metavar="LM_EVAL")
    parser.add_argument("url", metavar="URL")
    parser.add_argument("--documents", type=int, default=50, metavar="N")
    args = parser.parse_args()
    from make_default_model_goldens import Oracle

    transformers_model = Oracle()  # before fill_places: transformers looks for some of these libraries, too
    sys.path.insert(0, args.lm_eval)
    installed = importlib.metadata.version
    importlib.metadata.version = lambda name: "0" if name == "lm_eval" else installed(name)  # a copy has no version
    fill_places(("datasets", "datasets.utils", "datasets.utils.metadata", "sacrebleu", "evaluate", "dill", "aiohttp", "tenacity",
                 "pytablewriter", "word2number", "sqlitedict", "sklearn", "rouge_score", "jsonlines", "zstandard", "pandas"))
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    served = evaluate("local-completions", args.documents,
                      model_args={"model": "tern-stories", "base_url": args.url + "/v1/completions", "max_length": 1024})
    oracle = evaluate(as_harness_model(transformers_model), args.documents)
    for name, scores in served["results"].items():
        for metric, value in scores.items():
            if isinstance(value, float):
                print(f"{name:14} {metric:22} tern {value:.4f}   transformers {oracle['results'][name][metric]:.4f}")
    for name, samples in served["samples"].items():
        pairs = list(zip(samples, oracle["samples"][name], strict=True))
        if name == "write_on":
            same = sum(ours["resps"] == theirs["resps"] for ours, theirs in pairs)
            print(f"{name:14} {same} of {len(pairs)} replies are the same")
            continue
        numbers = [(a[0] if isinstance(a, (list, tuple)) else a, b[0] if isinstance(b, (list, tuple)) else b)
                   for ours, theirs in pairs
                   for a, b in zip((r[0] for r in ours["resps"]), (r[0] for r in theirs["resps"]), strict=True)]
        print(f"{name:14} log-likelihoods differ by at most {max(abs(float(a) - float(b)) for a, b in numbers):.4f}, the mean is"
              f" {sum(float(b) for _, b in numbers) / len(numbers):.2f}")


if __name__ == "__main__":
    main()
