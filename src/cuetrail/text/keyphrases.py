"""Key phrases of a text by rules, from the text alone.

>>> find("The crimped connector shrinks. Replace a crimped connector, and test every connector again.")
('crimped connector', 'connector', 'connector shrinks')

A text is cut at function words, numbers and punctuation into runs of words, as RAKE does (Rose and others 2010). A
phrase is two neighbours in a run, or what is said twice: a word, or three in a row. What is only said inside a longer
phrase is none. The best is said most often, times its words; of equals, the one that comes first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from cuetrail.text.markup import prose_only
from cuetrail.text.names import STOP_WORDS
from cuetrail.text.normalise import is_unspaced

MOST = 8
# A word of fewer letters says little.
SHORTEST_WORD = 3
Phrase = tuple[str, ...]

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")

# Common words that are no names of anything: English, German, French and Spanish.
_COMMON_WORDS = """
    aber able actually además ahora ainsi al algo alguno almost alone alors als also am an ante antes anything après
    aquí ask asked assez así au auch aucun auf aunque aus aussi autre aux avait avant avec avoir away back bad became
    become bei best better bien big bin bis bit bring brought cada call called came car case casi cause ce cela certain
    ces cet cette ceux chaque clear come comes comme comment como con contra cosa could cual cuando da damit dann dans
    das dass day days de del dem den denn depuis der des desde die dies diese diesem diesen dieser different doch does
    doing donc donde done dont dort dos du durante durch easy ein eine einem einen einer eines el ella ellas elle elles
    ellos else en encore end enough entire entonces entre er era eran es esa ese eso especially est esta este esto estos
    está están et etwas eu euch ever every everything exactly fact faire fait far feel felt find fine found fue full für
    gave general given gives goes gone good great ha haben hace hacia half han hand happen happened hard hasta hat hatte
    hay help hier high hour hours ich idea ihr il ils immer important in inside ist ja je jetzt jusqu kann keep kein
    keine kept kind knew know known la large las late le left les less let leur leurs like likely little lo long longer
    look looked looking los lot low lui machen main mais make makes making man matter me mean means mehr mein mi mich
    mientras mind minute minutes mir mit moi moins mon month months morning muss muy más même nach nada ne need needed
    needs never new ni nicht nichts night no noch non nos nosotros nothing notre nous number nun nunca nur o ob oder
    often ohne old on ont open order others otra otro ou où par para parce part pas pendant people perhaps pero peu peut
    place plus poco point por porque possible pour pourquoi probably pues put quand que quel quelle qui quien quite qué
    rather read real really reason right room sa said same sans saw say says schon se sea seem seems seen según sehr
    sein seine ser ses set several short show si sich side sie simple simply sin since sind small so sobre somebody
    someone something son sont soon sous start started still stop su sur sure sus sí ta take taken talk también tan
    tanto te tell tes thing things think though thought tiene tienen time times todo todos together toi told ton took
    tous tout toute toward tried true try très tu turn turned type um un una und under une uno unos uns unser unter use
    used uses using usted usual vers very vom von vor votre vous want wanted wants war waren was way ways week weeks
    weil well wenn went werden whole wide wie wieder will wir wird without wo word words work worked working works world
    would write written wrong wurde y ya year years yet yo zu zum zur été être über
"""
_DULL = STOP_WORDS | frozenset(_COMMON_WORDS.split())


def find(text: str) -> tuple[str, ...]:
    """The phrases, the best first, at most 8."""
    runs = _runs(prose_only(text))
    pairs = Counter[Phrase](pair for run in runs for pair in pairwise(run))
    words = Counter(word for run in runs for word in run)
    said = dict(pairs) | {(word,): times for word, times in words.items() if times > 1}
    if len(pairs) < sum(pairs.values()):
        threes = Counter(three for run in runs for three in zip(run, run[1:], run[2:], strict=False))
        said |= {three: times for three, times in threes.items() if times > 1}
    own = _without_parts(said)
    best = sorted(own, key=lambda phrase: -own[phrase] * len(phrase))
    return tuple(" ".join(phrase) for phrase in best[:MOST])


def _without_parts(said: Mapping[Phrase, int]) -> dict[Phrase, int]:
    """Phrases with how often they are said, without those that are only said inside a longer one."""
    inside: dict[Phrase, int] = {}
    for phrase, times in said.items():
        if times > 1 and len(phrase) > 1:
            for part in ((phrase[0],), (phrase[-1],), phrase[:-1], phrase[1:]):
                inside[part] = max(times, inside.get(part, 0))
    return {phrase: times for phrase, times in said.items() if times > inside.get(phrase, 0)}


def _runs(text: str) -> list[list[str]]:
    """Words in a row, with nothing but a space between them."""
    runs: list[list[str]] = []
    run: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match[0].casefold()
        if run and text[end : match.start()] not in (" ", "\n"):
            runs.append(run)
            run = []
        end = match.end()
        if len(word) >= SHORTEST_WORD and word not in _DULL and not is_unspaced(word):
            run.append(word)
        elif run:
            runs.append(run)
            run = []
    return [*runs, run] if run else runs
