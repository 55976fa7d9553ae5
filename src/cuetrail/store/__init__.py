"""Engines. `base` is the protocol; `local` is the embedded one."""
