"""Words that the rules for facts go by: where a value ends, and what is none."""

from __future__ import annotations

import re

from cuetrail.text import names

# What somebody does, as the rules know it.
I_DO = "prefer|like|love|enjoy|hate|dislike|work on|work at|work for|work as|live in|was born in|use|own|speak|study"
THEY_DO = (
    "lives in|works (?:on|at|for|with)|prefers|likes|loves|supports|depends on|runs on|is based in|is located in"
    "|was born in"
)
# Where what is said of something ends and another thought begins.
TURNS = (
    "because|since|but|so|when|while|which|who|although|though|as well|instead|until|where|after|before|even|now"
    "|these days|at the moment|right now|for now|currently|at work|every|whenever|if|that|once|unless|except"
)
END = re.compile(
    rf"\s*(?:[.;:!](?=\s)|,? (?:{TURNS})\b|,? and (?:I|we|it|he|she|they|that)\b"
    rf"|,? and (?:(?:{I_DO}|{THEY_DO}|uses)|(?:am|is|are|was|were|has|have) )| - | – | — |\s\().*$",
    re.IGNORECASE | re.DOTALL,
)
# What is said by the way, behind a comma or at the end.
ASIDES = re.compile(
    r"(?:,? (?:too|today|again|here|btw|by the way|lately|anyway|actually|honestly|sadly|of course|indeed|already|lol"
    r"|haha|I must say|this week|this month|this year))+$",
    re.IGNORECASE,
)
NO_VALUE = frozenset(
    """it this that these those them him her me us you one to be so much more most well very same how what where when
    why who for up out off too with without about from by over under into in on at as like being having getting moment
    least all both everything something nothing anything every each any hard tonight today tomorrow yesterday now again
    alone together here there home remotely part-time full-time mainly btw""".split()  # noqa: SIM905  # a list of these takes 60 lines
)
"""A value that begins so is none."""

SPOKEN_TO = frozenset({"you", "your", "yours", "it", "it's", "here", "there", "them", "him", "us", "let's"})
"""Words of values that are about who is spoken to, or about what was said before."""

COMPARED = frozenset({"better", "best", "more", "less", "most", "least", "either", "enough"})
"""Who says so of something compares it with something else, and not always."""

OPINIONS = frozenset(
    """one mess problem thing joke bit pain disaster reason point best worst issue case question answer wrong right hard
    easy only first last next good bad great nice lot must shame pity mistake favourite favorite blocker bottleneck
    winner loser success failure given start end way option candidate choice alternative fit solution nightmare dream
    bargain no-brainer blessing headache deal step pleasure surprise risk challenge key week weeks day days hour hours
    minute minutes month months year years couple few little tad half while part goal plan idea different same
    other perfect bad-idea priority focus exception""".split()  # noqa: SIM905  # as above
)
"""Words for what one thinks of a thing, how far or when, not for what it is."""

PROPOSALS = frozenset(
    {"idea", "ideas", "suggestion", "suggestions", "thought", "way", "sound", "look", "fact", "approach"}
)
"""To like these is to say yes to something, not to say what one likes."""

BARE = re.compile(
    r"(?:private|public|small|large|new|old|free|open|former|retired|\w+(?:al|ic|ive|ous|ary|less|able|ful|ed))$"
)
"""One word that says how something is, cut off from what it is."""

JOINTS = re.compile(r" (?:of|for|to|in|at|on|with|behind|by|from|that|which|who|between|under|over|without)\b.*$")

# A place is a name, or something one can point at.
PLACED = ("lives_in", "works_at", "based_in", "located_in", "born_in")
# Of these only a name says where: who lives in a small flat may live in any town.
NAMED_PLACES = ("lives_in", "born_in", "based_in")
POINTED_AT = re.compile(r"(?:a|an|the|my|our|his|her|their) |[A-Z0-9]")
_PROPER = r"[A-Z0-9][\w.&'/-]*"
_WITHIN = "of|de|da|di|del|la|am|an|der|upon|and|the|&"
_PLACE = rf"{_PROPER}(?: (?:{_WITHIN}) {_PROPER}| {_PROPER})*"
PLACE_NAME = re.compile(rf"{_PLACE}(?:, {_PLACE})*")
TIMES = re.compile(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|weekdays?|holidays|time|schedule|demand|average|purpose"
    r"|(?:the )?(?:week|day|night|morning|evening)s?|jan|feb|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|christmas|\d.*)\b",
    re.IGNORECASE,
)
"""What one works or runs on that is no thing but a time."""

NO_SUBJECT = names.STOP_WORDS | frozenset(
    {
        "everything", "something", "someone", "anyone", "everyone", "everybody", "anything", "one", "another", "half",
        "life", "time", "work", "part", "people", "things", "meeting", "idea", "plan", "problem", "reason", "goal",
        "point", "thing", "way", "day", "week", "once", "unlike", "assuming", "suppose", "given", "imagine", "today",
        "yesterday", "tomorrow", "apparently", "hopefully", "maybe",
    }
)  # fmt: skip
