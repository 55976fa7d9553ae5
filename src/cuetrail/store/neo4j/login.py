"""The user name and the password for a Neo4j server: from its address, the environment or the system's keyring."""

from __future__ import annotations

SERVICE = "cuetrail"
"""The service under which the keyring keeps passwords; the name is `user@address`."""


def server_login(
    uri: str, of_address: tuple[str | None, str | None], of_environment: tuple[str | None, str | None]
) -> tuple[str, str | None]:
    """Returns user name and password: those in the address, else those in the environment, else the user `neo4j` and
    the password that the keyring has for this user, else None.
    """
    user = of_address[0] or of_environment[0] or "neo4j"
    for password in (of_address[1], of_environment[1]):
        if password is not None:
            return user, password
    return user, _from_keyring(f"{user}@{uri}")


def _from_keyring(name: str) -> str | None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        found: str | None = keyring.get_password(SERVICE, name)
    except KeyringError:
        # Without a keyring the server itself reports that a password is missing.
        return None
    return found
