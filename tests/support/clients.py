"""Clients of servers on the loopback interface, without TLS."""

import ssl
from typing import Any

import httpx

# Loading the system's CA certificates takes 30 ms, and a test may have three clients.
NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def local_client(url: str, *, timeout: float = 30, **more: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, timeout=timeout, trust_env=False, verify=NO_AUTHORITIES, **more)
