#!/usr/bin/env python3
"""Stories that were not written for this model, out of bare clones of the public repositories in ../models/SOURCES.md.

    git clone --bare https://github.com/maxme1/tiny-stories CLONES/maxme1+tiny-stories/repo     and so on, for all six
    ./extract_sources.py --clones CLONES --out sources

Output, one JSON list [kind, text] a line: stories.jsonl with the kinds tinystories and storybook, and held_out.jsonl. Stories
with characters outside ASCII, short ones, and those that begin as another does are left out.
"""

import argparse
import json
import re
import subprocess
from pathlib import Path

TINY_STORIES = (
    ("maxme1+tiny-stories", "frontend/src/assets/tiny-stories.json"),
    ("ToonTalk+jlens-tinystories", "out/corpora/tinystories_1000.json"),
    ("mines-opt-ml+decoding-gpt", "data/tinystories_10k.txt"),
)
HELD_OUT = ("yuninxia+moe-routing-bench", "data/tinystories_val.txt")
HELD_OUT_KIND = "held out"
STORYBOOKS = ("global-asp+asp-source", "global-asp+pb-source")
ASCII = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "...", "\u00a0": " ", "\r": ""})
MIN_CHARACTERS, MAX_HELD_OUT_CHARACTERS = 250, 2500
PARAGRAPH_CHARACTERS = 220  # storybooks have a sentence a page; pages are joined until there are so many
Documents = list[tuple[str, str]]  # kind and text


def git(clones: Path, repository: str, *arguments: str) -> str:
    command = ["git", "--git-dir", str(clones / repository / "repo"), *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", errors="replace")


def clean(text: str) -> str:
    text = re.sub(r"[ \t]+\n", "\n", text.translate(ASCII).strip())
    return re.sub(r"\n{3,}", "\n\n", text)


def tiny_stories(clones: Path) -> list[str]:
    texts: list[str] = []
    for repository, path in TINY_STORIES:
        content = git(clones, repository, "show", f"HEAD:{path}")
        if path.endswith(".txt"):
            texts += content.split("<|endoftext|>")
        else:
            stories = json.loads(content)
            stories = stories["texts"] if isinstance(stories, dict) else stories
            texts += [story if isinstance(story, str) else story["text"] for story in stories]
    return [clean(text) for text in texts]


def held_out_stories(clones: Path) -> list[str]:
    """The file has lost its boundaries: they are guessed from opening words."""
    content = git(clones, HELD_OUT[0], "show", f"HEAD:{HELD_OUT[1]}").translate(ASCII)
    parts = re.split(r"\n\n(?=Once upon a time|One day,|There was|There once)", content)
    return [text for part in parts[1:] if len(text := clean(part)) < MAX_HELD_OUT_CHARACTERS]


def storybook_text(page: str) -> str | None:
    """The story of a storybook's Markdown file, or none if its license is not free."""
    license = re.search(r"License:\s*\[?([^\]\n]+)", page)
    if not license or "NC" in license[1].upper():
        return None
    body = re.sub(r"^#.*$", "", page.split("\n* License")[0], flags=re.MULTILINE)
    paragraphs = [""]
    for piece in (re.sub(r"\s+", " ", piece).strip() for piece in body.split("\n\n")):
        if len(paragraphs[-1]) > PARAGRAPH_CHARACTERS:
            paragraphs.append("")
        paragraphs[-1] = f"{paragraphs[-1]} {piece}".strip()
    return clean("\n\n".join(paragraph for paragraph in paragraphs if paragraph))


def storybooks(clones: Path) -> list[str]:
    texts = []
    for repository in STORYBOOKS:
        names = git(clones, repository, "ls-tree", "-r", "--name-only", "HEAD", "en/").splitlines()
        pages = (git(clones, repository, "show", f"HEAD:{name}") for name in names if name.endswith(".md"))
        texts += [text for page in pages if (text := storybook_text(page))]
    return texts


def kept(documents: Documents) -> Documents:
    """Without short, foreign and repeated ones."""
    result, seen = [], set()
    for kind, text in documents:
        beginning = re.sub(r"\W+", "", text.lower())[:200]
        if len(text) >= MIN_CHARACTERS and beginning not in seen and not re.search(r"[^\x00-\x7e]", text):
            seen.add(beginning)
            result.append((kind, text))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True, metavar="DIR", help="bare clones, as OWNER+NAME/repo")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the results go")
    args = parser.parse_args()

    documents: Documents = [("tinystories", text) for text in tiny_stories(args.clones)]
    documents += [("storybook", text) for text in storybooks(args.clones)]
    documents = kept(documents + [(HELD_OUT_KIND, text) for text in held_out_stories(args.clones)])
    parts = {
        "stories.jsonl": [document for document in documents if document[0] != HELD_OUT_KIND],
        "held_out.jsonl": [document for document in documents if document[0] == HELD_OUT_KIND],
    }
    args.out.mkdir(parents=True, exist_ok=True)
    for name, entries in parts.items():
        (args.out / name).write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        print(f"{name}: {len(entries)} documents, {sum(len(text) for _, text in entries):,} characters")


if __name__ == "__main__":
    main()
