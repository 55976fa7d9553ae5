"""The sample narrative of the narrative system: its entities, its facts with the most certain first, and the expected
text.
"""

from __future__ import annotations

KINDS = {"user": "person", "JACQ Project": "project", "DuckDB": "concept"}
FACTS = [
    ("user", "prefers", "dark mode"),
    ("user", "prefers", "TypeScript over JavaScript"),
    ("user", "works_on", "JACQ Project"),
    ("JACQ Project", "uses", "DuckDB"),
    ("JACQ Project", "uses", "Next.js 16"),
    ("JACQ Project", "status", "active development"),
    ("DuckDB", "type", "embedded OLAP database"),
    ("DuckDB", "supports", "vector search via VSS extension"),
]
TEXT = """\
### 👤 USER CONTEXT
- prefers: dark mode
- prefers: TypeScript over JavaScript
- works_on: JACQ Project

### 💡 CONTEXT: JACQ Project
- uses: DuckDB
- uses: Next.js 16
- status: active development

### 💡 CONTEXT: DuckDB
- type: embedded OLAP database
- supports: vector search via VSS extension"""
