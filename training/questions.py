"""Questions about a story that was just told, with the answers that its text and its cast give.

Most cannot be answered from the plot alone: names, colors, places and words spoken are drawn anew for every story.
"""

import random
import re
from collections.abc import Callable

import words
from skeletons import Drawn, Story, capitalized, choose, with_article

Pair = tuple[str, str]  # a question and its answer

LESSON = ("What do we learn from it?", "What is the lesson?", "What is the moral of the story?", "What does the story teach us?")
LESSON += ("What is the moral?", "What can we learn from this story?", "What is the lesson of the story?", "And the moral?")
TITLE = ("What is the title?", "Give it a title.", "What is the story called?", "Can you give the story a title?", "Title?")
TITLE += ("What would be a good title?", "What is a good title for it?", "Find a title for the story.", "Suggest a title.")
NOT_SAID = "The story does not say."
UNSAID = {
    "old": "How old [was|is] {}?",
    "last name": "What [was|is] {}'s last name?",
    "mother": "Who [was|is] {}'s mother?",
    "birthday": "When [was|is] {}'s birthday?",
    "breakfast": "What did {} have for breakfast?",
    "eyes": "What color [were|are] {}'s eyes?",
    "brother": "[What was the name of {}'s brother?|Did {} have a brother?]",
    "hair": "What color was {}'s hair?",
    "school": "Where did {} go to school?",
    "weigh": "How much did {} weigh?",
    "number": "What was {}'s favorite number?",
}
STRANGERS = "dragon king queen robot witch giant pirate wizard princess unicorn lion elephant whale wolf bear cat dog horse".split()
SAID = r"(?:said|asked|cried|called|whispered|answered|shouted|murmured|explained|thought)"


def mentions(text: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}s?\b", text, re.IGNORECASE) is not None


def has_own_kind(who: Drawn, story: Story) -> bool:
    """Whether "the fox" can only be this one."""
    return who.role != "grownup" and sum(other["kind"] == who["kind"] for other in story.people) == 1


def has_own_pronoun(who: Drawn, story: Story) -> bool:
    return sum(other["he"] == who["he"] for other in story.people) == 1


def described(who: Drawn) -> str:
    return f"{who['name']}, {who['a_kind']}"


def called_otherwise(question: str, name: str, who: Drawn, story: Story, rng: random.Random) -> str:
    """A skeleton's question that says "he" or "the fox" in place of one character's name, where that is clear."""
    slot = "{" + name + "}"
    if question.count(slot) != 1:
        return question
    if has_own_pronoun(who, story) and rng.random() < 0.6:
        subject = re.sub(rf"\b(did|was|does|is|had|could|would) {slot}(?!')", rf"\1 {who['he']}", question)
        if subject != question:
            return subject
        return question.replace(slot + "'s", who["his"]).replace(slot + "?", who["him"] + "?")
    return question.replace(slot, who["the_kind"]) if has_own_kind(who, story) else question


def of_the_skeleton(story: Story, rng: random.Random) -> Pair:
    question, answer = rng.choice(story.skeleton.asks)
    if rng.random() < 0.5:
        for name, _ in story.skeleton.cast:
            question = called_otherwise(question, name, story.cast[name], story, rng)
    if rng.random() < 0.35:
        for name, category in story.skeleton.picks:
            if category in words.THINGS:
                question = question.replace("{" + name + ".the}", "it")
    return story.fill(question, rng), story.fill(answer, rng)


def hero(story: Story, rng: random.Random) -> Pair:
    question = choose("Who [is|was] the [hero|main character] [of the story|]?", rng).replace(" ?", "?")
    return question, f"{described(story.people[0])}."


def characters(story: Story, rng: random.Random) -> Pair:
    question = rng.choice(
        ("Who was in the story?", "Who is the story about?", "Who was the story about?", "Who are the characters?", "Who is in it?",
         "Who was it about?", "Who was in it?", "What are the names of the characters?", "Who were they?")
    )  # fmt: skip
    return question, f"It is about {', and '.join(described(who) for who in story.people[:2])}."


def name(story: Story, rng: random.Random) -> Pair | None:
    who = rng.choice(story.people)
    if not has_own_kind(who, story):
        return None
    kind = who["kind"]
    question = f"[What was the {kind}'s name?|What was the name of the {kind}?|What is the {kind} called?|Who was the {kind}?]"
    question = f"[{question[1:-1]}|What is the name of the {kind}?|What was the {kind} called?|And the {kind}?]"
    return choose(question, rng), rng.choice((f"{who['name']}.", f"The {kind}'s name was {who['name']}."))


def kind(story: Story, rng: random.Random) -> Pair:
    who = rng.choice(story.people)
    animal = "|What animal was {}?|What kind of animal was {}?" if who.role == "animal" else ""
    question = choose("[Who was {}?|Who is {}?|What was {}?|Tell me about {}.|And {}?" + animal + "]", rng)
    return question.replace("{}", who["name"]), f"{who['name']} was {who['a_kind']}."


def is_of_kind(story: Story, rng: random.Random) -> Pair:
    who = rng.choice(story.people)
    other = rng.choice(words.COMMON_ANIMALS + STRANGERS)
    right, wrong = who["a_kind"], with_article(other if other != who["kind"] else "camel")
    if rng.random() < 0.35:
        options = [right, wrong]
        rng.shuffle(options)
        return f"Was {who['name']} {options[0]} or {options[1]}?", f"{who['name']} was {right}."
    if rng.random() < 0.5:
        return f"Was {who['name']} {right}?", f"Yes, {who['name']} was {right}."
    return f"Was {who['name']} {wrong}?", f"No, {who['name']} was {right}."


def is_there(story: Story, rng: random.Random) -> Pair | None:
    question = rng.choice(("Was there {} in the story?", "Is there {} in it?", "Was there {} in it?", "Was {} in the story?"))
    if rng.random() < 0.4:
        who = rng.choice(story.people)
        return question.format(who["a_kind"]), f"Yes, {who['name']} was {who['a_kind']}."
    word = rng.choice(STRANGERS + words.COMMON_ANIMALS + [noun for _, noun in words.THINGS["treasure"]])
    if mentions(story.text, word):
        return None
    return question.format(with_article(word)), f"No, there was no {word} in it."


def stranger(story: Story, rng: random.Random) -> Pair | None:
    """About somebody who is not in the story."""
    if rng.random() < 0.5:
        word = rng.choice(STRANGERS + words.COMMON_ANIMALS)
        question = choose(f"[What did the {word} do?|What was the {word}'s name?|What did the {word} say?|Where was the {word}?]", rng)
        return None if mentions(story.text, word) else (question, f"There was no {word} in the story.")
    word = rng.choice(words.GIRLS + words.BOYS)
    question = choose(f"[Who is {word}?|What did {word} do?|What did {word} find?|Where did {word} go?]", rng)
    return None if mentions(story.text, word) else (question, f"There is no {word} in the story.")


def color(story: Story, rng: random.Random) -> Pair | None:
    if not story.things:
        return None
    thing = rng.choice(story.things)
    if not mentions(story.text, thing[""]):
        return None
    question = choose(f"What color [was|is] the {thing['']}?", rng)
    if thing["adj"] in words.COLORS and mentions(story.text, thing["noun"]):
        answer = rng.choice((f"It was {thing['adj']}.", f"The {thing['']} was {thing['adj']}."))
        return (question if rng.random() < 0.7 else "What color was it?"), answer
    return None if any(mentions(story.text, word) for word in words.COLORS) else (question, NOT_SAID)


def look(story: Story, rng: random.Random) -> Pair | None:
    things = [thing for thing in story.things if mentions(story.text, thing["noun"])]
    if not things:
        return None
    thing = rng.choice(things)
    question = choose(f"What [was the {thing['']} like?|kind of {thing['']} was it?|did the {thing['']} look like?]", rng)
    return question, f"It was {thing['a']}."


def place(story: Story, rng: random.Random) -> Pair | None:
    places = [place for place in story.places if mentions(story.text, place["the"])]
    if len(places) != 1 or len(story.places) != 1:
        return None
    question = rng.choice(
        ("Where were they?", "Where does the story take place?", "Where does it happen?", "Where did it happen?", "Where was the story?")
    )
    return question, f"It happened {places[0]['at']}."


def quotes(story: Story) -> list[tuple[str, str]]:
    """What characters say, and who says it, as far as the text tells it in one breath."""
    found = []
    for who in story.people:
        found += [
            (match[1] + match[2], who["name"])
            for match in re.finditer(rf'"([^"]{{6,80}})([,?!])" (?:{SAID} {who["name"]}|{who["name"]} {SAID})\b', story.text)
        ]
    return found


def who_said(story: Story, rng: random.Random) -> Pair | None:
    said = quotes(story)
    if not said:
        return None
    quote, speaker = rng.choice(said)
    quote = quote[:-1] + "." if quote.endswith(",") else quote
    return f'{rng.choice(("Who said", "Who says"))} "{quote}"?', rng.choice((f"{speaker} said it.", f"{speaker}."))


def what_said(story: Story, rng: random.Random) -> Pair | None:
    said = quotes(story)
    if not said:
        return None
    speaker = rng.choice(said)[1]
    quote = next(quote for quote, who in said if who == speaker)
    quote = quote[:-1] + "." if quote.endswith(",") else quote
    return f"What did {speaker} say?", f'{speaker} said, "{quote}"'


def sentences(text: str) -> list[str]:
    return re.split(r'(?<=[.!?])\s+(?=["A-Z])|(?<=[.!?]")\s+(?=["A-Z])', text)


def end(story: Story, rng: random.Random) -> Pair:
    question = rng.choice(("How does the story end?", "How does it end?", "How did it end?", "What happened at the end?", "What happens in the end?"))
    *before, last = sentences(story.text)
    while last.count('"') % 2 and before:
        last = f"{before.pop()} {last}"
    return question, capitalized(last.strip())


def beginning(story: Story, rng: random.Random) -> Pair:
    question = rng.choice(("How does the story begin?", "How did it begin?", "How does it start?", "What is the first sentence?"))
    return question, sentences(story.text)[0]


def summary(story: Story, rng: random.Random) -> Pair:
    question = rng.choice(("What was the story about?", "What is it about?", "What was it about?", "Summarize the story.", "Sum it up."))
    return question, f"It is about {story.fill(rng.choice(story.skeleton.texts['request']), rng).rstrip('.')}."


def unsaid(story: Story, rng: random.Random) -> Pair | None:
    word, question = rng.choice(list(UNSAID.items()))
    if mentions(story.text, word):
        return None
    return choose(question, rng).replace("{}", rng.choice(story.people)["name"]), NOT_SAID


def lesson(story: Story, rng: random.Random) -> Pair:
    return rng.choice(LESSON), story.fill(rng.choice(story.skeleton.texts["lesson"]), rng)


def title(story: Story, rng: random.Random) -> Pair:
    return rng.choice(TITLE), story.title(rng)


WEIGHTS: dict[Callable[[Story, random.Random], Pair | None], int] = {
    of_the_skeleton: 40,
    hero: 4,
    characters: 10,
    name: 18,
    kind: 18,
    is_of_kind: 6,
    is_there: 7,
    stranger: 5,
    color: 7,
    look: 4,
    place: 7,
    who_said: 6,
    what_said: 4,
    end: 3,
    beginning: 2,
    summary: 3,
    unsaid: 4,
    lesson: 9,
    title: 8,
}


def ask(story: Story, n: int, rng: random.Random) -> list[Pair]:
    """Up to n different questions."""
    pairs: dict[str, str] = {}
    for kind_of_question in rng.choices(list(WEIGHTS), list(WEIGHTS.values()), k=n):
        if story.people or kind_of_question in (of_the_skeleton, color, look, place, end, beginning, summary, lesson, title):
            pair = kind_of_question(story, rng)
            if pair:
                pairs.setdefault(*pair)
    return list(pairs.items())
