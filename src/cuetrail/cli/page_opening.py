"""Opens the page of `cuetrail serve` in the browser as soon as the server answers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

# The listening socket keeps a request until the server is up, which takes a second or two.
MOST_SECONDS = 60.0


def open_when_up(url: str, failed: Callable[[str], None]) -> threading.Thread:
    """Starts a thread that waits for the server at `url` and then opens its page. Calls `failed` with a remark if there
    is no browser, and does nothing if the server does not come up. The thread never keeps the program running.
    """

    def work() -> None:
        import urllib.request
        import webbrowser

        # Never through a proxy: the server is on this machine.
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(f"{url}/health", timeout=MOST_SECONDS):
                pass
        except OSError:
            # The server was stopped, or says itself why it does not come up.
            return
        with contextlib.suppress(webbrowser.Error):
            if webbrowser.open(url):
                return
        failed(f"no browser could be opened: go to {url}")

    thread = threading.Thread(target=work, name="open the page", daemon=True)
    thread.start()
    return thread


def page_address(host: str, url: str) -> str:
    """Returns the address at which this machine reaches a server that listens on `host`.

    >>> page_address("0.0.0.0", "http://0.0.0.0:8765"), page_address("::1", "http://[::1]:8765")
    ('http://localhost:8765', 'http://[::1]:8765')
    """
    return f"http://localhost:{url.rpartition(':')[2]}" if host in ("0.0.0.0", "::", "") else url
