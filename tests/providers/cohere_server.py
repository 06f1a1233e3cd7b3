"""A loopback server that speaks Cohere's embed and rerank, and fails as it is told to."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class CohereServer(ThreadingHTTPServer):
    """Answers every call; `failures` are (status, headers) that come first."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.failures: list[tuple[int, dict[str, str]]] = []
        self.calls: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self.broken = False

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: CohereServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.calls.append(body)
        self.server.keys.add(self.headers["authorization"])
        if self.server.failures:
            status, headers = self.server.failures.pop(0)
            self._reply(status, {"message": f"failing with {status}"}, headers)
        elif self.path.endswith("/embed"):
            vectors = [[float(len(text)), float(text.count("e")), 1.0] for text in body["texts"]]
            self._reply(200, _embedded(vectors[:-1] if self.server.broken else vectors))
        else:
            results = [
                {"index": at, "relevance_score": text.count("rpm") / 10}
                for at, text in enumerate(body["documents"][: 1 if self.server.broken else None])
            ]
            self._reply(200, {"id": "1", "results": results, "meta": {"billed_units": {"search_units": 1}}})

    def _reply(self, status: int, document: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        data = json.dumps(document).encode()
        head = {"Content-Type": "application/json", "Content-Length": str(len(data)), **(headers or {})}
        lines = [f"HTTP/1.1 {status} -", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        self.wfile.write("\r\n".join(lines).encode() + data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _embedded(vectors: list[list[float]]) -> dict[str, Any]:
    return {"id": "1", "response_type": "embeddings_by_type", "texts": [], "embeddings": {"float": vectors}}


@contextmanager
def cohere_server() -> Iterator[CohereServer]:
    """A running server."""
    with CohereServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
