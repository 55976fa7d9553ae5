"""Extracts facts with a language model behind an OpenAI-compatible /chat/completions endpoint.

It is used instead of the rules. The answer must fit a JSON schema; items that do not are ignored. Nothing is sent
unless the user names an endpoint.
"""

from __future__ import annotations

import json
import logging
import math
import time
import urllib.error
from collections.abc import Callable, Sequence
from http.client import HTTPException
from typing import Any

from cuetrail.errors import InputError, ReadError
from cuetrail.extract.facts_by_rules import MOST, Passage, Triple
from cuetrail.http_post import is_temporary, post_json, with_retries
from cuetrail.text.normalise import clean, norm_tag

log = logging.getLogger("cuetrail")

FIRST_WAIT, SECONDS = 0.5, 60.0
PAUSE = 300.0
"""Seconds during which an endpoint that did not answer gets no requests, so that writes do not wait for it."""

_MOST_BYTES = 1 << 20
_NO_ANSWER = (ValueError, KeyError, IndexError, TypeError, RecursionError)


def _object_schema(**properties: object) -> dict[str, object]:
    """Returns the JSON schema of an object that has all of these properties and no others."""
    return {"type": "object", "additionalProperties": False, "required": list(properties), "properties": properties}


_STRING = {"type": "string"}
_FACT = _object_schema(subject=_STRING, predicate=_STRING, object=_STRING, confidence={"type": "number"})
_SCHEMA = _object_schema(facts={"type": "array", "items": _FACT})
_TASK = (
    "Read the text and list the facts it states, and nothing else. Leave out questions, conditions, negations and what "
    "is no longer so. Predicates are short snake_case verbs such as uses, is_a, lives_in, works_on, prefers, decided. "
    "The subject of what the speaker says of himself is the speaker; of a note's own fields it is the note's title."
)


class OpenAIReader:
    """Reads the facts of each passage with one request, tried up to ATTEMPTS times.

    An unusable answer loses the facts of that passage only. An endpoint that does not respond is not asked for PAUSE
    seconds. Raises ReadError if no passage could be read.
    """

    def __init__(
        self, url: str, model: str, key: str | None = None, *, seconds: float = SECONDS,
        wait: Callable[[float], None] = time.sleep, clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        if not url.startswith(("http://", "https://")) or not model:
            raise InputError("an extractor is openai:URL#MODEL, such as openai:http://localhost:11434/v1#qwen3")
        self.url, self.model = url.rstrip("/") + "/chat/completions", model
        self._key, self._seconds, self._wait, self._clock = key, seconds, wait, clock
        self._away_until = -math.inf

    def __call__(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        found: list[list[Triple] | None] = []
        failure: ReadError | None = None
        for passage in passages:
            try:
                found.append(self._read(passage))
            except ReadError as error:
                found.append(None)
                failure = error
        missing = sum(one is None for one in found)
        if failure is not None and missing == len(found):
            raise failure
        if failure is not None:
            log.warning("no facts were read out of %d of %d texts: %s", missing, len(found), failure)
        return [one or [] for one in found]

    def _read(self, passage: Passage) -> list[Triple]:
        said = f"Title: {passage.title}\nSpeaker: {passage.speaker}\nText:\n{passage.text}"
        body = {
            "model": self.model,
            "temperature": 0,
            "messages": [{"role": "system", "content": _TASK}, {"role": "user", "content": said}],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "facts", "strict": True, "schema": _SCHEMA},
            },
        }
        if self._clock() < self._away_until:
            raise ReadError(f"no facts could be read by {self.model} at {self.url}: it did not answer a moment ago")
        data = json.dumps(body).encode()
        try:
            return with_retries(lambda: _triples(json.loads(self._post(data))), _may_recover, FIRST_WAIT, self._wait)
        except (OSError, HTTPException, *_NO_ANSWER) as error:
            if is_temporary(error):
                self._away_until = self._clock() + PAUSE
            raise ReadError(f"no facts could be read by {self.model} at {self.url}: {error}") from error

    def _post(self, body: bytes) -> bytes:
        end = self._clock() + self._seconds
        answer = b""
        try:
            response = post_json(self.url, body, self._key, self._seconds)
        except urllib.error.HTTPError as error:
            # The error object keeps the connection open.
            error.close()
            raise
        with response:
            # A server that sends a byte now and then never hits the timeout of a single read.
            while part := response.read1(1 << 16):
                answer += part
                if self._clock() > end or len(answer) > _MOST_BYTES:
                    raise TimeoutError("the answer does not come to an end")
        return answer


def _may_recover(error: Exception) -> bool:
    """True if a retry can help: the server may be ready, or the model's next answer may fit the schema."""
    return is_temporary(error) or isinstance(error, _NO_ANSWER)


def _triples(answer: Any) -> list[Triple]:
    """Returns the complete facts of an answer. Raises ValueError, KeyError, IndexError or TypeError if malformed."""
    found = []
    for one in json.loads(answer["choices"][0]["message"]["content"])["facts"]:
        if not isinstance(one, dict):
            continue
        words = (clean(str(one.get(name, ""))).strip() for name in ("subject", "predicate", "object"))
        subject, predicate, value = words
        sure = one.get("confidence")
        if subject and norm_tag(predicate) and value and isinstance(sure, int | float) and 0 <= sure <= 1:
            found.append(Triple(subject, norm_tag(predicate), value, float(sure)))
    return found[:MOST]
