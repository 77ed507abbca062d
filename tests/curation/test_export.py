"""Stages 2 to 4 on one recording: which frames a verdict covers, and what ends up in the file."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from random import Random
from time import sleep

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actswm.controls import KEYS14
from actswm.curation import export as export_module
from actswm.curation.candidates import plan_candidates
from actswm.curation.domains import domain_of
from actswm.curation.export import Outcome, export
from actswm.curation.frames import CutRules, Drop, Source, segmented
from actswm.curation.judging import Candidate, Judge, TrustingJudge, Verdict, decided
from actswm.curation.settings import CleanSettings
from actswm.curation.sources import Item, open_source
from actswm.curation.work import part_spec
from actswm.data import DatasetFile, DatasetWriter, validate

from ..made.recordings import MS, MadeRecording, moving_frames

SETTINGS = CleanSettings(domain_of("games"), height=64, width=64, judge="none")


class ScriptedJudge:
    """Rejects candidates of given times; answers from threads, out of order, where asked to."""

    def __init__(self, menu_ms: set[int], shuffled: bool = False) -> None:
        self.menu_ms, self.asked_ms = menu_ms, []
        self._threads = ThreadPoolExecutor(4) if shuffled else None
        self._random = Random(0)

    def submit(self, candidate: Candidate) -> Future[Verdict]:
        ms = candidate.pts_ns // MS
        self.asked_ms.append(ms)
        verdict = Verdict(False, "menu") if ms in self.menu_ms else Verdict(True)
        if self._threads is None:
            return decided(verdict)
        return self._threads.submit(lambda wait: (sleep(wait), verdict)[1], self._random.random() / 20)

    def close(self) -> None: ...


def cleaned(path: Path, judge: Judge, out: Path) -> tuple[Source, Outcome]:
    source = open_source(Item("owamcap", path), SETTINGS)
    with DatasetWriter(out, part_spec(source, SETTINGS)) as writer:
        outcome = export(source, judge, writer, (64, 64), SETTINGS.cuts)
    return source, outcome


def test_kept_frames_and_actions_are_written_as_they_are(tmp_path) -> None:
    made = MadeRecording(tmp_path, frames=120).key(400, 0x57, True).key(900, 0x57, False)
    made.pixels = moving_frames(120)
    _, outcome = cleaned(made.write(), TrustingJudge(), tmp_path / "out.h5")
    assert outcome.episodes == ((0, 119, 120),) and not outcome.drop.any()
    validate(tmp_path / "out.h5")
    with DatasetFile(tmp_path / "out.h5") as file:
        assert np.flatnonzero(file.action[:, KEYS14.index("W")]).tolist() == list(range(20, 45))
        assert np.flatnonzero(~file.frame_valid).tolist() == [0, 1, 2, 117, 118, 119]
        assert file.column("pts_ns").tolist() == [ms * MS for ms in made.pts_ms]
        error = np.abs(file.pixels[:].astype(int) - made.pixels)
        assert error.mean() < 2


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_verdict_covers_the_frames_nearest_to_its_candidate(tmp_path, shuffled, monkeypatch) -> None:
    """Candidates at 0, 1, 2, 3 s and the end; the one at 2 s is a menu: 1.52 to 2.5 s go (a tie stays early)."""
    monkeypatch.setattr(
        export_module, "WAITING_BYTES", 60 * 64 * 64 * 3
    )  # frames must wait for slow verdicts
    made = MadeRecording(tmp_path, frames=190)
    judge = ScriptedJudge({2000}, shuffled)
    _, outcome = cleaned(made.write(), judge, tmp_path / "out.h5")
    assert judge.asked_ms == [0, 1000, 2000, 3000, 3780]
    gone = np.flatnonzero(outcome.drop)
    assert [made.pts_ms[row] for row in gone] == list(range(1520, 2501, 20))
    assert set(outcome.drop[gone]) == {Drop.NOT_GAMEPLAY}
    assert outcome.verdicts == {"gameplay": 4, "menu": 1}
    with DatasetFile(tmp_path / "out.h5") as file:
        assert file.ep_len.tolist() == [76, 64]
        times = np.delete(np.array(made.pts_ms) * MS, gone)
        assert file.column("pts_ns").tolist() == times.tolist()
        assert not file.frame_valid[73:79].any() and file.frame_valid[[72, 79]].all()


def test_intervals_too_short_after_judging_go(tmp_path) -> None:
    """Only the candidate at the end (1520 ms) is play; it covers 1280 to 1520 ms, less than 300."""
    judge = ScriptedJudge({0, 1000})
    path = MadeRecording(tmp_path, frames=77).write()
    source = open_source(Item("owamcap", path), SETTINGS)
    outcome = export(source, judge, None, (64, 64), CutRules(shortest_ns=300 * MS))
    assert judge.asked_ms == [0, 1000, 1520] and outcome.episodes == ()
    assert (outcome.drop == Drop.SHORT_INTERVAL).sum() == 13


def test_a_dropped_frame_does_not_end_an_episode(tmp_path) -> None:
    """Valid frames merge over gaps under 150 ms."""
    made = MadeRecording(tmp_path)
    made.pts_ms[40] = made.pts_ms[39]
    _, outcome = cleaned(made.write(), TrustingJudge(), tmp_path / "out.h5")
    assert outcome.episodes == ((0, 99, 99),)


def test_frames_that_do_not_decode_are_counted(tmp_path) -> None:
    made = MadeRecording(tmp_path, frames=150)
    source = open_source(Item("owamcap", made.write()), SETTINGS)
    lossy = Source(
        source.name,
        source.table,
        source.fps,
        lambda: (f for f in source.decode() if f.pts_ns // MS not in (500, 1000)),
    )
    outcome = export(lossy, ScriptedJudge(set()), None, (64, 64), CutRules())
    gone = np.flatnonzero(outcome.drop == Drop.VIDEO_UNDECODABLE)
    # 500 ms alone, and with the candidate at 1000 ms all that its verdict was to cover.
    assert [made.pts_ms[row] for row in gone] == [500, *range(520, 1501, 20)]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 700), min_size=2, max_size=80))
def test_every_kept_frame_has_a_candidate_close_by_in_its_segment(intervals_ms) -> None:
    pts_ns = np.cumsum(intervals_ms).astype(np.int64) * MS
    cuts = CutRules()
    table = segmented(pts_ns, np.zeros((len(pts_ns), 1), np.float32), np.zeros(len(pts_ns), np.uint8), cuts)
    plan = plan_candidates(table, cuts.candidate_ns)
    assert ((plan.of_row >= 0) == table.kept).all()
    for row in np.flatnonzero(table.kept):
        candidate = plan.rows[plan.of_row[row]]
        assert table.segment[candidate] == table.segment[row]
        distances = np.abs(pts_ns[plan.rows] - pts_ns[row])[table.segment[plan.rows] == table.segment[row]]
        assert abs(pts_ns[candidate] - pts_ns[row]) == distances.min()
        assert distances.min() <= cuts.candidate_ns // 2 + cuts.gap_ns
