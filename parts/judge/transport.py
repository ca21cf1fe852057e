"""An HTTP transport inside this process: SDK clients receive prepared responses, and no socket is opened."""

import httpx2


def answering(body, content_type, sent=None):
    """Creates an HTTP client that answers every request with these bytes, and appends the requests to `sent`."""

    def handle(request):
        if sent is not None:
            sent.append(request)
        return httpx2.Response(200, headers={"content-type": content_type}, content=body)

    return httpx2.Client(transport=httpx2.MockTransport(handle))
