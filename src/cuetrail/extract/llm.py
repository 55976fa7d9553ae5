"""Facts in texts by a language model behind any OpenAI-compatible /chat/completions endpoint.

It takes the place of the rules. The answer must fit a JSON schema; whatever does not is left out. Nothing is sent
anywhere unless a user has named the endpoint.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from cuetrail.errors import InputError, ReadError
from cuetrail.extract.facts import MOST, Triple
from cuetrail.text import clean, norm_tag

ATTEMPTS, FIRST_WAIT, SECONDS = 3, 0.5, 60.0
_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["facts"],
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["subject", "predicate", "object", "confidence"],
                "properties": {
                    "subject": {"type": "string"},
                    "predicate": {"type": "string"},
                    "object": {"type": "string"},
                    "confidence": {"type": "number"},
                },
            },
        }
    },
}
_TASK = (
    "Read the text and list the facts it states, and nothing else. Leave out questions, conditions, negations and what "
    "is no longer so. Predicates are short snake_case verbs such as uses, is_a, lives_in, works_on, prefers, decided. "
    "The subject of what the speaker says of himself is the speaker; of a note's own fields it is the note's title."
)


class Told(Protocol):
    """What of a passage is sent."""

    @property
    def text(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def speaker(self) -> str: ...


class OpenAIReader:
    """From passages to triples, one request each. Raises ReadError when the endpoint fails ATTEMPTS times."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        *,
        seconds: float = SECONDS,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        if not url.startswith(("http://", "https://")) or not model:
            raise InputError("an extractor is openai:URL#MODEL, such as openai:http://localhost:11434/v1#qwen3")
        self.url, self.model = url.rstrip("/") + "/chat/completions", model
        self._key, self._seconds, self._wait = key, seconds, wait

    def __call__(self, passages: Sequence[Told]) -> list[list[Triple]]:
        return [self._read(passage) for passage in passages]

    def _read(self, passage: Told) -> list[Triple]:
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
        for attempt in range(ATTEMPTS):
            try:
                return _triples(self._post(json.dumps(body).encode()))
            except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
                if attempt + 1 == ATTEMPTS or _is_final(error):
                    raise ReadError(f"no facts could be read by {self.model} at {self.url}: {error}") from error
            self._wait(FIRST_WAIT * 2**attempt)
        raise AssertionError("unreachable")

    def _post(self, body: bytes) -> Any:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self.url, data=body, headers=headers, method="POST")
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=self._seconds) as response:
            return json.load(response)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key is for one address alone."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _is_final(error: Exception) -> bool:
    """Whether asking again cannot help: the request itself was refused."""
    return isinstance(error, urllib.error.HTTPError) and 400 <= error.code < 500 and error.code not in (408, 429)


def _triples(answer: Any) -> list[Triple]:
    """The facts of an answer that are whole. Raises ValueError, KeyError, IndexError or TypeError for no answer."""
    found = []
    for one in json.loads(answer["choices"][0]["message"]["content"])["facts"]:
        words = (clean(str(one.get(name, ""))).strip() for name in ("subject", "predicate", "object"))
        subject, predicate, value = words
        sure = one.get("confidence")
        if subject and norm_tag(predicate) and value and isinstance(sure, int | float) and 0 <= sure <= 1:
            found.append(Triple(subject, norm_tag(predicate), value, float(sure)))
    return found[:MOST]
