"""The Model Context Protocol over standard input and output: tools of a service for one assistant.

A sub-face for the terminal. The process is a client of the service and holds no row; the assistant asks as the person
whose token it has. What it is told is a reply of the service, or a constant.
Reference: modelcontextprotocol.io, tools and the stdio transport.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import discreet
from discreet.core import InvalidInput, Number
from discreet.core.operator_log import tell_operator
from discreet.service.assistants.tools import INSTRUCTIONS, TOOLS, Service, ToolReply, call_tool
from discreet.service.words import AccountReply, AnswerReply, Asked, PreviewReply, SchemaReply, draw_request
from discreet.session import open_client

try:
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
except ImportError:
    raise InvalidInput("Assistants need the package mcp.", fix="pip install 'discreet[mcp]'") from None

Reply = TypeVar("Reply")

#: What is told of a fault of this process.
BROKEN = ToolReply(
    fields={
        "refused": "The tool failed.",
        "fix": "call it again: the same question is never paid for twice",
        "kind": "Failure",
    },
    refused=True,
)


class RemoteService:
    """A service elsewhere, asked in threads: a question waits for its slot, and other tools go on meanwhile."""

    def __init__(self, client: Any, *, pay: bool) -> None:
        self._client, self._pay = client, pay

    async def schema(self) -> SchemaReply:
        """Return the public facts of all tables."""
        return await _in_thread(self._client.schema)

    async def preview(self, asked: Asked) -> PreviewReply:
        """Return the price of a question."""
        return await _in_thread(lambda: self._client.preview(asked))

    async def ask(self, asked: Asked) -> AnswerReply:
        """Return the answer to a question, under an id of its own if it has none."""
        ready = replace(asked, request=asked.request or draw_request(), pay=self._pay)
        return await _in_thread(lambda: self._client.ask(ready))

    async def account(self) -> AccountReply:
        """Return what binds this person."""
        return await _in_thread(self._client.account)


async def _in_thread(act: Callable[[], Reply]) -> Reply:
    return await asyncio.to_thread(act)


def build_server(service: Service) -> Server[Any]:
    """Return the server of one assistant's tools."""

    async def list_tools(context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        del context, params
        return types.ListToolsResult(tools=[_describe(tool) for tool in TOOLS])

    async def call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        del context
        try:
            reply = await call_tool(service, params.name, params.arguments)
        except Exception as error:  # noqa: BLE001 - the edge: whatever it is, its words are for the operator
            tell_operator("A tool of an assistant failed.", error)
            reply = BROKEN
        text = json.dumps(reply.fields, ensure_ascii=False, allow_nan=False)
        return types.CallToolResult(
            content=[types.TextContent(text=text)], structured_content=dict(reply.fields), is_error=reply.refused
        )

    return Server(
        "discreet",
        version=discreet.__version__,
        title="Private tables",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call,
    )


def _describe(tool: Any) -> types.Tool:
    """Return a tool as the protocol has it: clients ask their user before a tool that may destroy something."""
    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=not tool.spends,
        destructive_hint=tool.spends,
        idempotent_hint=True,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name, title=tool.title, description=tool.words, input_schema=tool.schema, annotations=hints
    )


def serve_assistant(
    url: str,
    *,
    token: str | Path | None = None,
    dataset: str | None = None,
    patience: Number = 50,
    pay: bool = True,
    authorities: str | Path | None = None,
) -> None:
    """Serve an assistant on standard input and output until its end.

    Args:
        url: The address of the service.
        token: The assistant's own token, as for `discreet.connect`.
        dataset: The name of the dataset, where there are several.
        patience: The seconds that one tool may take. Programs that run assistants wait for about a minute; what is not
            ready by then is told as such, and asked for again under its request id.
        pay: Whether the assistant may spend.
        authorities: A file in PEM with the authorities to trust.

    Raises:
        DiscreetError: The service cannot be reached or refuses the token.

    """
    client, _ = open_client(url, token=token, dataset=dataset, patience=patience, authorities=authorities)
    try:
        client.account()  # a token that is not valid is told at once, and not to a model
        asyncio.run(_serve(build_server(RemoteService(client, pay=pay))))
    finally:
        client.close()


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
