"""Wilson's interval for a share of successes."""

from __future__ import annotations

from math import sqrt

Z95 = 1.959964


def wilson_interval(successes: int, trials: int, z: float = Z95) -> tuple[float, float]:
    """The interval in which the success rate lies with 95 % confidence."""
    if not 0 <= successes <= trials or trials == 0:
        raise ValueError(f"{successes} successes in {trials} trials")
    share = successes / trials
    middle = share + z * z / (2 * trials)
    reach = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)
