"""Stage 3: who says whether a candidate frame is gameplay. All judges answer through one interface."""

from .judge import Candidate, Judge, TrustingJudge, Verdict, decided

__all__ = ["Candidate", "Judge", "TrustingJudge", "Verdict", "decided"]
