"""Serves httpbin on a free port until standard input ends, and prints its URL."""

import json
import logging
import os
import sys
from threading import Thread

logging.disable(logging.WARNING)

from httpbin import app  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402

server = make_server("127.0.0.1", 0, app, threaded=True)
Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}), flush=True)
sys.stdin.read()
os._exit(0)
