"""`python -m actswm` is `actswm`."""

from .cli.main import run

run()
