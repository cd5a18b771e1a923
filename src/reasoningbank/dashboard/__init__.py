"""The dashboard: what the bank knows, why it believes it, and how to put it right, in a browser.

It needs the extra `web`. Every page is a function from what was asked to an answer (`pages`), on the bank's public
calls only; `app` is what speaks HTTP, `access` who may come in, `rendering` what makes a page of an answer.
"""

from reasoningbank.dashboard.access import Access
from reasoningbank.dashboard.app import build_app
from reasoningbank.dashboard.site import Site

__all__ = ["Access", "Site", "build_app"]
