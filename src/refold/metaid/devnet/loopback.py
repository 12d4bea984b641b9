"""Who may give orders: only a program on this machine, and no page in a browser on it."""

from ipaddress import ip_address

from litestar import Response

from refold.metaid.devnet.problems import problem
from refold.metaid.devnet.requests import AnyRequest


def is_loopback(host: str) -> bool:
    """Tell whether a host, as an address or `localhost`, is this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def guard(request: AnyRequest) -> Response[bytes] | None:
    """Refuse what does not come from this machine to a server that only this machine reaches.

    A browser can be made to send requests here by any page: those name the page as their origin,
    or the page's own name as the host.
    """
    peer = request.client.host if request.client is not None else ""
    bound: str = request.app.state.bound_host
    if not is_loopback(bound) or not is_loopback(peer):
        return problem(403, "admin-loopback", "orders are taken on loopback only", "serve there")
    if "origin" in request.headers or not is_loopback(request.url.hostname or ""):
        return problem(403, "admin-browser", "orders are not taken from pages", "use the command")
    return None
