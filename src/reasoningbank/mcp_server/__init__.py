"""The MCP server: the memory tools and two kinds of resources, for any client of the Model Context Protocol.

`offer` says what is offered, in the protocol's own JSON; `sdk` hands that to the official SDK, of both majors, and
serves it on standard input and output; `http` is the other way in. The SDK is loaded only when a server is built.
"""

from reasoningbank.mcp_server.checking import check
from reasoningbank.mcp_server.offer import Offer, ResourceNotFoundError
from reasoningbank.mcp_server.projects import ManyProjects, OneProject, Projects
from reasoningbank.mcp_server.sdk import build_server

__all__ = ["ManyProjects", "Offer", "OneProject", "Projects", "ResourceNotFoundError", "build_server", "check"]
