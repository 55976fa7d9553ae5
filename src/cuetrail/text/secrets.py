"""Secrets in texts: passwords, keys and tokens in the forms that are known for them."""

from __future__ import annotations

import re

MASK = "[secret]"

# Keys by the beginnings that their issuers give them, so that leaked ones are recognised.
_TOKENS = (
    r"(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"AIza[0-9A-Za-z_-]{35}",
    r"gh[opsru]_[0-9A-Za-z]{20,}",
    r"github_pat_[0-9A-Za-z_]{20,}",
    r"glpat-[0-9A-Za-z_-]{16,}",
    r"hf_[0-9A-Za-z]{20,}",
    r"npm_[0-9A-Za-z]{30,}",
    r"pypi-[0-9A-Za-z_-]{30,}",
    r"xox[abeprs]-[0-9A-Za-z-]{10,}",
    r"(?:sk|rk|pk)[_-](?:live|test|proj|ant)[_-][0-9A-Za-z_-]{10,}",
    r"sk-[0-9A-Za-z_-]{20,}",
    r"ct_[0-9a-f]{8,}_[0-9A-Za-z_-]{16,}",
    # A JSON web token.
    r"eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{6,}\.[0-9A-Za-z_-]{6,}",
)
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END \1-----|\Z)", re.DOTALL)
_TOKEN = re.compile(rf"(?<![0-9A-Za-z_-])(?:{'|'.join(_TOKENS)})")
# After these words: what stands behind = or :, if it is one word of 6 characters or more with a digit in it.
_NAMED = re.compile(
    r"""(?ix) (\b[\w-]*(?:password|passwd|passphrase|pwd|secret|token|(?:api|access)[_-]?key)\w*["']?\s*[=:]\s*["']?)
    (?=[^\s"',;]*\d) [^\s"',;]{6,}"""
)
_BEARER = re.compile(r"(?i)\b(bearer\s+)[0-9a-z._~+/-]{16,}=*")
_IN_ADDRESS = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://[^\s/:@]+:)[^\s/@]+(?=@)")


def mask_secrets(text: str) -> str:
    """Returns the text with [secret] in place of passwords, keys and tokens. One in no known form is not recognised.

    >>> mask_secrets("The key is sk-proj-abcdefghij0123456789, the login db://ann:hunter2@host.")
    'The key is [secret], the login db://ann:[secret]@host.'
    >>> mask_secrets("password: hunter2, and my token of love")
    'password: [secret], and my token of love'
    """
    text = _BLOCK.sub(MASK, text)
    text = _TOKEN.sub(MASK, text)
    for pattern in (_IN_ADDRESS, _BEARER, _NAMED):
        text = pattern.sub(rf"\1{MASK}", text)
    return text
