"""The dashboard as an ASGI application. The only module that knows Starlette."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, replace
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from anyio import to_thread

from reasoningbank.dashboard import rendering
from reasoningbank.dashboard.access import HEADERS, Refusal
from reasoningbank.dashboard.addresses import is_own, shared_of, text_of
from reasoningbank.dashboard.rendering import FOLDER, load
from reasoningbank.dashboard.routes import ROUTES, Route
from reasoningbank.dashboard.site import Answer, Asked, Json, Moved, Notice, Page, Site
from reasoningbank.errors import InvalidInputError, NotFoundError, ReasoningBankError, StorageError
from reasoningbank.serving import Asgi, Receive, Scope, Send, body_of, headers_of, replayed, same_secret

# A lesson has 20,000 characters at the most, and a form escapes each byte with three.
LARGEST_FORM: Final = 500_000
# Seconds after which somebody who watches is told that nothing changed, so that a closed page is noticed.
_HEARTBEAT: Final = 15.0
_KINDS: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def build_app(site: Site) -> Asgi:
    """Return the application of a dashboard; MissingExtraError without the extra `web`."""
    inner = _Inner(site)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await inner.starlette(scope, receive, send)
            return
        headers = headers_of(scope)
        refused, form = site.access.stranger(headers) or inner.to_be_admitted(scope, headers), b""
        if refused is None and scope["method"] == "POST":
            body = await body_of(receive, LARGEST_FORM)
            form = body or b""
            said = dict(parse_qsl(form.decode("utf-8", "replace"), keep_blank_values=True))
            too_large = Refusal(413, f"A form may have {LARGEST_FORM:,} bytes.") if body is None else None
            refused = too_large or site.access.may_change(headers, said)
        answer = inner.refuse(refused) if refused is not None else inner.starlette
        await answer(scope, replayed(form, receive), _with_headers(send))

    return app


def _with_headers(send: Send) -> Send:
    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            more = HEADERS if b"cache-control" in given else HEADERS | {"cache-control": "no-store"}
            message["headers"] = [*message["headers"], *((k.encode(), v.encode()) for k, v in more.items())]
        await send(message)

    return sending


class _Inner:
    """What stands behind the doors."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.render = rendering.renderer()
        self.responses = load("starlette.responses")
        routing = load("starlette.routing")
        self.files = {file.name: file.read_bytes() for file in sorted((FOLDER / "static").iterdir())}
        self.starlette = load("starlette.applications").Starlette(
            routes=[
                routing.Route("/static/{name}", self.static),
                routing.Route("/tasks/{key}/events", self.events),
                *(routing.Route(r.path, self.endpoint(r), methods=["GET", "POST"]) for r in ROUTES),
            ],
            exception_handlers={404: self.missing, 405: self.missing},
        )

    # -- the door ----------------------------------------------------------------------------------------------

    def to_be_admitted(self, scope: Scope, headers: Mapping[str, str]) -> Refusal | None:
        """Return why a visitor must stay out, who came with no token; None when they may come in."""
        given = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        if self.site.access.knows(headers):
            return None
        if scope["method"] == "GET" and same_secret(given.get("token", ""), self.site.access.token):
            return None
        return Refusal(401, "Open the address that `reasoningbank dashboard` printed: it lets this browser in.")

    def refuse(self, refused: Refusal) -> Any:
        """Return the answer to who is refused: a sentence, and nothing of the bank."""
        return self.responses.PlainTextResponse(refused.reason, status_code=refused.status)

    # -- pages -------------------------------------------------------------------------------------------------

    def endpoint(self, route: Route) -> Any:
        """Return Starlette's endpoint of a route: the work is done in a worker thread."""

        async def answered(request: Any) -> Any:
            query = dict(request.query_params)
            if "token" in query:
                return self.let_in(request.url.path, query)
            parts = {name: text_of(given) for name, given in request.path_params.items()}
            form = dict(parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True))
            asked = Asked(self.site, parts.pop("project", ""), parts, query, form)
            return await to_thread.run_sync(self.respond, route, asked, request.method == "POST")

        return answered

    def let_in(self, path: str, query: dict[str, str]) -> Any:
        """Return the answer to who came with the token: a cookie in its place, which no script can read."""
        rest = urlencode({name: value for name, value in query.items() if name != "token"})
        answer = self.responses.RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
        access = self.site.access
        answer.set_cookie(access.cookie_name, access.cookie, httponly=True, samesite="strict", path="/")
        return answer

    def respond(self, route: Route, asked: Asked, changes: bool) -> Any:
        """Return the response of a route: what it answers, or what went wrong in words."""
        act = route.post if changes else route.get
        try:
            answer = _problem(405, "This address does not take that.") if act is None else act(asked)
        except ReasoningBankError as error:
            status = next((code for kind, code in _STATUS if isinstance(error, kind)), 409)
            answer = _refused(route, asked, _problem(status, str(error)), changes=changes)
        return self.page(asked, answer, route)

    def page(self, asked: Asked, answer: Answer, route: Route | None) -> Any:
        """Return an answer as a response."""
        if isinstance(answer, Json):
            text = json.dumps(answer.value, ensure_ascii=False, allow_nan=False)
            return self.responses.Response(text, answer.status, media_type="application/json")
        if isinstance(answer, Moved):
            target = answer.address
            if answer.notice is not None:
                target += f"{'&' if '?' in target else '?'}said={self.site.leave(answer.notice)}"
            return self.responses.RedirectResponse(target, status_code=303)
        values = {
            "site": self.site,
            "csrf": self.site.access.csrf,
            "project": asked.project,
            "in_shared": shared_of(asked.project),
            "projects": self.site.banks.projects(),
            "tenant": self.site.banks.tenant,
            "section": route.section if route else "",
            "notice": self.site.take(asked.query.get("said", "")),
            "can_change": not self.site.access.read_only,
            **answer.values,
        }
        return self.responses.HTMLResponse(self.render(answer.template, values), answer.status)

    async def missing(self, _request: Any, error: Any) -> Any:
        """Answer for an address where nothing is."""
        problem = _problem(error.status_code, "There is no such page.")
        return await to_thread.run_sync(self.page, Asked(self.site), problem, None)

    # -- files and events --------------------------------------------------------------------------------------

    async def static(self, request: Any) -> Any:
        """Answer with a file of the wheel."""
        name = request.path_params["name"]
        if name not in self.files:
            return self.responses.PlainTextResponse("There is no such file.", status_code=404)
        kind = _KINDS[name[name.rindex(".") :]]
        return self.responses.Response(self.files[name], media_type=kind, headers={"cache-control": "no-cache"})

    async def events(self, request: Any) -> Any:
        """Answer with server-sent events: how far a piece of work is, until it is done."""
        task = self.site.tasks.get(request.path_params["key"])

        async def told() -> AsyncIterator[str]:
            now = task
            while now is not None:
                shown = asdict(replace(now, result=None))
                yield f"data: {json.dumps({name: shown[name] for name in ('done', 'steps', 'of', 'problem')})}\n\n"
                if now.done:
                    return
                now = await to_thread.run_sync(self.site.tasks.wait, now.key, now, _HEARTBEAT, abandon_on_cancel=True)

        return self.responses.StreamingResponse(told(), media_type="text/event-stream")


def _refused(route: Route, asked: Asked, page: Page, *, changes: bool) -> Answer:
    """Return what is said where the bank refused: to programs as JSON; of an action on the page it was done on."""
    problem = str(page.values["problem"])
    if route.is_api:
        return Json({"error": problem}, page.status)
    back = asked.form.get("back", "")
    # A change that cannot be made is told where it was asked for, and nowhere but here.
    return Moved(back, Notice(problem, is_problem=True)) if changes and is_own(back) else page


def _problem(status: int, problem: str) -> Page:
    return Page("problem.html", {"title": _TITLES.get(status, "That did not work"), "problem": problem}, status)


_STATUS: Final = ((NotFoundError, 404), (InvalidInputError, 400), (StorageError, 503))
_TITLES: Final = {404: "Not found", 405: "Not found", 400: "That cannot be used", 503: "The bank cannot be reached"}
