"""Uses the Python client that openapi-python-client made: `python use.py URL`."""

import io
import sys
from http import HTTPStatus

from cuetrail_client import Client
from cuetrail_client.api.files import export, import_
from cuetrail_client.api.mem0 import mem0_get_v1_memories
from cuetrail_client.api.verbs import activate, add, chat, fact, facts, forget, get, recall
from cuetrail_client.models import (
    ActivateBody,
    AddBody,
    ChatBody,
    ChatBodyMessagesItem,
    FactBody,
    FactsBody,
    ForgetBody,
    GetBody,
    Hit,
    Node,
    Problem,
    RecallBody,
    Recollection,
)
from cuetrail_client.types import File

client = Client(base_url=sys.argv[1])

node = add.sync(client=client, body=AddBody(text="The antenna stands on the lee side.", id="mast", tags=["radio"]))
assert isinstance(node, Node), node
assert (node.id, node.tags) == ("mast", ["radio"]), node

found = recall.sync(client=client, body=RecallBody(cue="antenna", budget=500, since="yesterday"))
assert isinstance(found, Recollection), found
assert isinstance(found.hits[0], Hit)
assert found.hits[0].node.id == "mast"
assert "lee side" in found.text

stated = fact.sync(client=client, body=FactBody(subject="Ines", predicate="lives_in", object_="Turin"))
assert not isinstance(stated, Problem), stated
known = facts.sync(client=client, body=FactsBody(subject="Ines"))
assert known is not None
assert not isinstance(known, Problem), known
assert [one.value for one in known.result] == ["Turin"], known

message = ChatBodyMessagesItem.from_dict({"role": "user", "content": "I like rye."})
report = chat.sync(client=client, body=ChatBody(messages=[message], source="talk"))
assert report is not None
assert not isinstance(report, Problem), report
assert report.added == 1

assert activate.sync_detailed(client=client, body=ActivateBody(seeds="antenna")).status_code == HTTPStatus.OK
assert get.sync_detailed(client=client, body=GetBody(id="nobody")).status_code == HTTPStatus.OK

data = export.sync_detailed(client=client).content
assert data.startswith(b'{"cuetrail"'), data[:80]
sent = import_.sync(client=client, body=File(payload=io.BytesIO(data)))
assert sent is not None
assert not isinstance(sent, Problem), sent
assert sent.added == 0

memories = mem0_get_v1_memories.sync_detailed(client=client, user_id="me")
assert memories.status_code == HTTPStatus.OK, memories

problem = forget.sync(client=client, body=ForgetBody())
assert isinstance(problem, Problem), problem
assert problem.status == 400
print("python: works")
