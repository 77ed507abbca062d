"""The head that turns a transformer's output into a latent: Linear, BatchNorm, GELU, Linear.

BatchNorm is there because a final LayerNorm works against the Gaussian regulariser.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from .batchnorm import BatchNorm, Statistics


class Projector(nn.Module):
    def __init__(self, dim: int, hidden: int, out: int) -> None:
        super().__init__()
        self.expand = nn.Linear(dim, hidden)
        self.norm = BatchNorm(hidden)
        self.contract = nn.Linear(hidden, out)

    def forward(self, x: Tensor) -> Tensor:
        """(..., dim) -> (..., out), normalised over all leading axes."""
        return self.contract(F.gelu(self.norm(self.expand(x))))

    def statistics(self, x: Tensor) -> Statistics:
        """What `apply_with` needs to treat later inputs as it would treat x."""
        return self.norm.statistics(self.expand(x))

    def apply_with(self, statistics: Statistics, x: Tensor) -> Tensor:
        return self.contract(F.gelu(self.norm(self.expand(x), statistics)))
